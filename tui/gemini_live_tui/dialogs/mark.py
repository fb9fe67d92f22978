"""A note to a moment: one line at the lower edge, while the call goes on above it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Static

from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

MAX_NOTE = 2000
"""Characters of a note."""


class MarkScreen(ModalScreen[None]):
    """Marks the moment that was shown when it was opened, however long the writing takes."""

    CSS_PATH = "mark.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Leave it", show=False)]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.console = console
        self._of, self._t = console.store.moment
        self.note = LineInput(placeholder="A note, or nothing", max_length=MAX_NOTE, id="note")

    @classmethod
    def of(cls, console: ConsoleContext) -> MarkScreen:
        """For this moment."""
        return cls(console)

    def compose(self) -> ComposeResult:
        """One line."""
        settings = self.console.settings
        self.set_class(settings.ascii, "-ascii")
        signs = glyphs(settings.ascii)
        with Horizontal(id="mark-box") as box:
            box.border_title = f"Mark {clock_text(self._t)}"
            box.border_subtitle = f"enter marks {signs.separator} esc leaves it"
            yield Static(f"{signs.mark} ", id="mark-sign", markup=False)
            yield self.note

    @on(LineInput.Submitted)
    def _set(self) -> None:
        from gemini_live_runtime.commands import SetMark

        # What cannot go out stays here, with its reason above.
        if self.console.order(SetMark(text=self.note.value.strip(), of=self._of, t=self._t)):
            self.dismiss()
