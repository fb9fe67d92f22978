"""Filter the events pane while the filter is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on

from gemini_live_tui.dialogs.line_dialog import LineDialog
from gemini_live_tui.panes.events import Events
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

MAX_FILTER = 200
"""Characters of a filter."""


class EventsFilterScreen(LineDialog):
    """Filter of the events pane; escape restores the former one."""

    ENTER = "enter keeps the filter"
    ESCAPE = "esc restores it"

    def __init__(self, console: ConsoleContext, events: Events) -> None:
        hint = 'Types such as tool.* state.changed, and texts such as "Ms. Ruiz"; nothing shows all'
        field = LineInput(events.written, placeholder=hint, max_length=MAX_FILTER, id="filter")
        super().__init__(console, "Events", field)
        self._events = events
        self._before = events.written

    @classmethod
    def of(cls, console: ConsoleContext) -> EventsFilterScreen:
        """Return the dialog for the console's events pane."""
        return cls(console, console.console_screen.query_one(Events))

    @on(LineInput.Changed)
    def _on_changed(self) -> None:
        self._events.filter(self.field.value)

    def submit(self, value: str) -> None:
        """Keep the filter."""
        self.dismiss()

    def action_cancel(self) -> None:
        """Restore the former filter."""
        self._events.filter(self._before)
        self.dismiss()
