"""Ask for one line of text at the lower edge, while the session goes on above it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from gemini_live_tui.painting.glyphs import Glyphs, glyphs
from gemini_live_tui.widgets.line_input import LineInput
from gemini_live_tui.widgets.modal import TopModalScreen

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext


class LineDialog(TopModalScreen[None]):
    """Framed line: enter submits, escape cancels.

    A subclass sets `ENTER` and `ESCAPE` and implements `submit`.
    """

    CSS_PATH = "line_dialog.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "Cancel", show=False)]
    ENTER: ClassVar[str]
    """Words at the lower edge that say what enter does, e.g. "enter saves"."""
    ESCAPE: ClassVar[str]
    """Words that say what escape does."""

    def __init__(self, console: ConsoleContext, title: str, field: LineInput) -> None:
        super().__init__()
        self.console = console
        self.field = field
        self.title_text = title
        self.signs: Glyphs = glyphs(console.settings.ascii)

    @property
    def sign(self) -> str:
        """Glyph in front of the line."""
        return self.signs.prompt

    def compose(self) -> ComposeResult:
        """Yield the frame with the sign and the line."""
        with Horizontal(id="line-box") as box:
            box.border_title = self.title_text
            box.border_subtitle = f"{self.ENTER} {self.signs.separator} {self.ESCAPE}"
            yield Static(f"{self.sign} ", id="line-sign", markup=False)
            yield self.field

    def show_problem(self, text: str) -> None:
        """Say at the lower edge why the line cannot be used."""
        self.query_one("#line-box").border_subtitle = Content(text)

    @on(LineInput.Submitted)
    def _on_submitted(self) -> None:
        self.submit(self.field.value)

    def submit(self, value: str) -> None:
        """Use the line."""
        raise NotImplementedError

    def action_cancel(self) -> None:
        """Close the dialog without using the line."""
        self.dismiss()
