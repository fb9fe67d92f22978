"""The part of the console screen that goes to panes, and up and down in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.screen import Screen

from gemini_live_runtime.journal.view import Dirty
from gemini_live_tui.console.pane_grid import Desk
from gemini_live_tui.console.tab_bar import TabBar
from gemini_live_tui.messages import FollowChanged, GoToEvent, GoToTime, PaneChanged
from gemini_live_tui.panes.base import Pane
from gemini_live_tui.panes.transcript import Transcript
from gemini_live_tui.session_data.store import Store
from gemini_live_tui.widgets.line_list import LineList
from gemini_live_tui.widgets.row_list import RowList
from gemini_live_tui.widgets.sheet import Sheet


class Moving(Screen[None]):
    """What keys and clicks do that only change what is looked at."""

    desk: Desk
    transcript: Transcript
    _store: Store

    if TYPE_CHECKING:

        def action_live(self) -> None:
            """Go to the present."""
            ...

        def seek_time(self, t: float) -> None:
            """Stand at a moment."""
            ...

        def seek_event(self, seq: int) -> None:
            """Stand at an event."""
            ...

    def action_pane(self, name: str) -> None:
        """Go to a pane."""
        if name in self.desk.panes:
            self.desk.go_to(name)

    def action_zoom(self) -> None:
        """Let the pane with the focus fill the desk, or put it back."""
        state = self.desk.state
        pane = self.desk.focused_pane or "transcript"
        self.desk.change(replace(state, zoom="" if state.zoom else pane))

    def action_talk_view(self) -> None:
        """Show the transcript alone, or all panes again."""
        self.desk.change(replace(self.desk.state, talk=not self.desk.state.talk, zoom=""))

    def action_scroll(self, step: str) -> None:
        """Scroll the pane that has the focus, else the transcript. The end is the present, for one who went back."""
        if step == "end":
            self.action_live()
        focused = self.focused
        if isinstance(focused, RowList) or (isinstance(focused, Sheet) and focused.moves):
            focused.move(step)
        else:
            pane = focused if isinstance(focused, LineList) else self.transcript
            pane.scroll_by(step)
            self._show_following()

    def action_open_row(self) -> None:
        """Open what the cursor is on."""
        if isinstance(self.focused, RowList):
            self.focused.open_row()

    @on(Pane.TabChosen)
    @on(TabBar.Chosen)
    def _tab_chosen(self, message: Pane.TabChosen | TabBar.Chosen) -> None:
        self.desk.go_to(message.pane)

    @on(GoToTime)
    def _sought(self, message: GoToTime) -> None:
        self.seek_time(message.t)

    @on(GoToEvent)
    def _event_wanted(self, message: GoToEvent) -> None:
        self.seek_event(message.seq)

    @on(PaneChanged)
    def _pane_changed(self, message: PaneChanged) -> None:
        self.desk.show_again(message.pane)
        self._store.wake()

    @on(FollowChanged)
    def _following_changed(self) -> None:
        self._show_following()

    def _show_following(self) -> None:
        self._store.dirty |= Dirty.TRANSCRIPT
        self._store.wake()
