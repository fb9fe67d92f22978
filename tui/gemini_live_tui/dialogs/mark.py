"""Ask for a note and mark a moment with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_tui.dialogs.line_dialog import LineDialog
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

MAX_NOTE = 2000
"""Characters of a note."""


class MarkScreen(LineDialog):
    """Dialog for a note on the moment at which it was opened."""

    ENTER = "enter saves"
    ESCAPE = "esc cancels"

    def __init__(self, console: ConsoleContext) -> None:
        self._event, self._t = console.store.moment
        field = LineInput(placeholder="A note, or nothing", max_length=MAX_NOTE, id="note")
        super().__init__(console, f"Mark {clock_text(self._t)}", field)

    @property
    def sign(self) -> str:
        """Glyph of a mark."""
        return self.signs.mark

    def submit(self, value: str) -> None:
        """Set the mark; when the command cannot be sent, stay."""
        from gemini_live_runtime.commands import SetMark

        if self.console.order(SetMark(text=value.strip(), of=self._event, t=self._t)):
            self.dismiss()
