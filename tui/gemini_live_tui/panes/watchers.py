"""The watchers pane: what is watched for, what fired, and how near the rest came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from gemini_live_runtime.journal.agent_view import AgentView
from gemini_live_runtime.journal.view import Dirty, SessionView
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import SendOrder, ShowHint, ShowWatcher
from gemini_live_tui.painting.formatting import until_older
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.panes import watcher_rows as rows
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.session_data.breakpoints import breaks_on, toggle_breakpoint
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.agent_view import PatternCard, WatcherCard


class WatchersPane(RowList):
    """One watcher or pattern a row."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("watchers")]
    dirty = Dirty.WATCHERS

    def __init__(self, *, id: str | None = "watchers", glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._agent = AgentView()
        self._elapsed = 0.0

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """The watchers of `view`; while the session goes on, what they did gets older."""
        agent = self._agent = view.agent_view
        self._elapsed = frame.elapsed
        self.set_rows(rows.rows_of(agent))
        times = [card.last_t for card in self._cards() if card.last_t is not None]
        return min((until_older(frame.elapsed - t) for t in times), default=None) if frame.live else None

    def note(self) -> str:
        """How many have fired."""
        cards = self._cards()
        fired = sum(bool(card.fired) for card in cards)
        return f"{fired} of {len(cards)} fired" if cards else ""

    def _cards(self) -> list[WatcherCard | PatternCard]:
        return [*self._agent.watchers.values(), *self._agent.patterns.values()]

    # -- rows --------------------------------------------------------------------------------------------------------

    def selectable(self, row: str) -> bool:
        """A watcher or a pattern, not the sentence in their place."""
        return not row.startswith("empty:")

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """One row."""
        agent, glyphs = self._agent, self._glyphs
        kind, _, name = row.partition(":")
        if kind == "empty":
            return rows.empty_row(row, width, glyphs)
        room = max(len(other) for other in (*agent.watchers, *agent.patterns))
        broken = name in breaks_on(agent, "watcher")
        if kind == "watcher":
            return rows.watcher_row(agent.watchers[name], self._elapsed, width, glyphs, room=room, broken=broken)
        return rows.pattern_row(agent.patterns[name], self._elapsed, width, glyphs, room=room, broken=broken)

    @property
    def watcher_at_cursor(self) -> WatcherCard | None:
        """The watcher that the cursor is on; None on a pattern or on nothing."""
        kind, _, name = self.row_at_cursor.partition(":")
        return self._agent.watchers.get(name) if kind == "watcher" else None

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """All about it."""
        message.stop()
        self.action_open_watcher()

    # -- actions -----------------------------------------------------------------------------------------------------

    def action_break(self) -> None:
        """Hold the agent when this fires, or no longer."""
        kind, _, name = self.row_at_cursor.partition(":")
        if kind in ("watcher", "pattern"):
            self.post_message(SendOrder(toggle_breakpoint(self._agent, "watcher", name)))

    def action_open_watcher(self) -> None:
        """All about the watcher or pattern under the cursor."""
        kind, _, name = self.row_at_cursor.partition(":")
        if kind in ("watcher", "pattern"):
            self.post_message(ShowWatcher(kind, name))

    def action_mute(self) -> None:
        """Mute the watcher, or hear it again."""
        from gemini_live_runtime.commands import SwitchWatcher

        card = self.watcher_at_cursor
        if card is None:
            self.post_message(ShowHint("Only watchers can be muted, not patterns."))
        else:
            self.post_message(SendOrder(SwitchWatcher(watcher=card.name, muted=not card.muted)))
