"""Go to panes, and up and down in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.view import Dirty
from gemini_live_tui.messages import OpenScreen
from gemini_live_tui.widgets.line_list import LineList
from gemini_live_tui.widgets.row_list import RowList
from gemini_live_tui.widgets.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen

    from gemini_live_tui.console.pane_grid import PaneGrid
    from gemini_live_tui.console.time_travel import TimeTravel
    from gemini_live_tui.panes.transcript import Transcript
    from gemini_live_tui.session_data.store import Store


class Navigation:
    """Commands that change what is shown, not the session."""

    def __init__(
        self, screen: Screen[None], store: Store, grid: PaneGrid, transcript: Transcript, time_travel: TimeTravel
    ) -> None:
        self._screen = screen
        self._store = store
        self._grid = grid
        self._transcript = transcript
        self._time_travel = time_travel

    def action_pane(self, name: str) -> None:
        """Go to a pane."""
        if name in self._grid.panes:
            self._grid.go_to(name)

    def action_focus_pane(self, step: int) -> None:
        """Go to another pane on the screen, or to the prompt.

        An empty transcript, which is hidden, is the first.
        """
        chain = self._screen.focus_chain
        if self._transcript not in chain:
            chain.insert(0, self._transcript)
        focused = self._screen.focused
        at = chain.index(focused) if focused in chain else -1
        self._screen.set_focus(chain[(at + step) % len(chain)])

    def action_why(self) -> None:
        """Explain the row under the cursor where its pane can, else the newest decision."""
        pane = self._grid.panes.get(self._grid.focused_pane)
        explain: Callable[[], bool] | None = getattr(pane.body, "explain", None) if pane is not None else None
        if explain is None or not explain():
            self._screen.post_message(OpenScreen("why"))

    def action_zoom(self) -> None:
        """Let the focused pane fill the grid, or put it back."""
        state = self._grid.state
        pane = self._grid.focused_pane or "transcript"
        self._grid.change(replace(state, zoom="" if state.zoom else pane))

    def action_talk_view(self) -> None:
        """Show the transcript alone, or all panes again."""
        self._grid.change(replace(self._grid.state, talk=not self._grid.state.talk, zoom=""))

    def action_scroll(self, step: str) -> None:
        """Scroll the focused pane, else the transcript; its end is also the present."""
        if step == "end":
            self._time_travel.action_live()
        focused = self._screen.focused
        if isinstance(focused, RowList) or (isinstance(focused, Sheet) and focused.is_movable):
            focused.move(step)
        else:
            pane = focused if isinstance(focused, LineList) else self._transcript
            pane.scroll_by(step)
            self.show_following()

    async def action_open_row(self) -> None:
        """Open the row under the cursor; in the transcript, go to the prompt."""
        if isinstance(self._screen.focused, RowList):
            self._screen.focused.open_row()
        elif self._screen.focused is self._transcript:
            await self._screen.run_action("screen.write")

    def show_following(self) -> None:
        """Update the transcript's frame, which says whether its end is followed."""
        self._store.dirty |= Dirty.TRANSCRIPT
        self._store.wake()
