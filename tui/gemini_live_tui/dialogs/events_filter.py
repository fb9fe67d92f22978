"""What the events pane is to show: one line at the lower edge."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import ModalScreen
from textual.widgets import Static

from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.panes.events import Events
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext

MAX_FILTER = 200
"""Characters of a filter."""


class EventsFilterScreen(ModalScreen[None]):
    """The list below follows what is written; escape puts back what was there."""

    CSS_PATH = "events_filter.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False)]

    def __init__(self, events: Events, *, ascii_only: bool) -> None:
        super().__init__()
        self._events = events
        self._before = events.written
        self._ascii = ascii_only
        hint = 'Types such as tool.* state.changed, and texts such as "Ms. Ruiz"; nothing shows all'
        self.written = LineInput(events.written, placeholder=hint, max_length=MAX_FILTER, id="filter")

    @classmethod
    def of(cls, console: ConsoleContext) -> EventsFilterScreen:
        """For the console's events."""
        return cls(console.console_screen.query_one(Events), ascii_only=console.settings.ascii)

    def compose(self) -> ComposeResult:
        """One line."""
        self.set_class(self._ascii, "-ascii")
        signs = glyphs(self._ascii)
        with Horizontal(id="events-filter-box") as box:
            box.border_title = "Events"
            box.border_subtitle = f"enter keeps the filter {signs.separator} esc leaves it as it was"
            yield Static(f"{signs.prompt} ", id="events-filter-sign", markup=False)
            yield self.written

    @on(LineInput.Changed)
    def _changed(self) -> None:
        self._events.filter(self.written.value)

    @on(LineInput.Submitted)
    def _keep(self) -> None:
        self.dismiss()

    def action_leave(self) -> None:
        """Put back what was there."""
        self._events.filter(self._before)
        self.dismiss()
