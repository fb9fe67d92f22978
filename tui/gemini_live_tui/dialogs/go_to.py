"""A moment to go to: one line at the lower edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.session_data.moment_parser import FORMS
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

MAX_MOMENT = 200
"""Characters of what names a moment."""


class GoToScreen(ModalScreen[None]):
    """Enter goes there; what names no moment stays, with the reason at the lower edge."""

    CSS_PATH = "go_to.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Stay", show=False)]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.console = console
        self.moment = LineInput(placeholder=FORMS, max_length=MAX_MOMENT, id="moment")

    @classmethod
    def of(cls, console: ConsoleContext) -> GoToScreen:
        """For the session on show."""
        return cls(console)

    def compose(self) -> ComposeResult:
        """One line."""
        settings = self.console.settings
        self.set_class(settings.ascii, "-ascii")
        signs = glyphs(settings.ascii)
        with Horizontal(id="go-to-box") as box:
            box.border_title = "Go to"
            box.border_subtitle = f"enter goes there {signs.separator} esc stays"
            yield Static(f"{signs.prompt} ", id="go-to-sign", markup=False)
            yield self.moment

    @on(LineInput.Submitted)
    def _go(self) -> None:
        refused = self.console.go_to_moment(self.moment.value)
        if refused:
            self.query_one("#go-to-box").border_subtitle = Content(refused)
        else:
            self.dismiss()
