"""Ask for a moment of the session and go there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_tui.dialogs.line_dialog import LineDialog
from gemini_live_tui.session_data.moment_parser import FORMS
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

MAX_MOMENT = 200
"""Characters of a moment's name."""


class GoToScreen(LineDialog):
    """Dialog for a moment; the reason why one cannot be reached is shown at the edge."""

    ENTER = "enter goes there"
    ESCAPE = "esc stays"

    @classmethod
    def of(cls, console: ConsoleContext) -> GoToScreen:
        """Return an empty dialog."""
        return cls(console, "Go to", LineInput(placeholder=FORMS, max_length=MAX_MOMENT, id="moment"))

    def submit(self, value: str) -> None:
        """Go there, or show why that is impossible."""
        problem = self.console.go_to_moment(value)
        if problem:
            self.show_problem(problem)
        else:
            self.dismiss()
