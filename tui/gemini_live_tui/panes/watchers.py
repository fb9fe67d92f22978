"""Show watchers and patterns, with their last firing and the distance to the next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from gemini_live_runtime.journal.fold.agent_view import AgentView
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import ExplainEvent, SendOrder, ShowHint, ShowWatcher
from gemini_live_tui.painting.formatting import until_older
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.panes import watcher_rows as rows
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.session_data.breakpoints import breaks_on, toggle_breakpoint
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import PatternCard, WatcherCard


class WatchersPane(RowList):
    """Watchers and patterns, a row each."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("watchers")]
    dirty = Dirty.WATCHERS

    def __init__(self, *, id: str | None = "watchers", glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._agent = AgentView()
        self._elapsed = 0.0

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Show the watchers of `view`; return the seconds until an age changes, or None."""
        agent = self._agent = view.agent_view
        self._elapsed = frame.elapsed
        self.set_rows(rows.rows_of(agent, is_started=bool(view.agent)))
        times = [card.last_t for card in self._cards() if card.last_t is not None]
        return min((until_older(frame.elapsed - t) for t in times), default=None) if frame.live else None

    def note(self) -> str:
        """Return the number of watchers that fired."""
        cards = self._cards()
        fired = sum(bool(card.fired) for card in cards)
        return f"{fired} of {len(cards)} fired" if cards else ""

    def _cards(self) -> list[WatcherCard | PatternCard]:
        return [*self._agent.watchers.values(), *self._agent.patterns.values()]

    # -- rows --------------------------------------------------------------------------------------------------------

    def selectable(self, row: str) -> bool:
        """Return True for a watcher or pattern, False for the sentence of an empty list."""
        return not row.startswith("empty:")

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return the runs of one row."""
        agent, glyphs = self._agent, self._glyphs
        kind, _, name = row.partition(":")
        if kind == "empty":
            return rows.empty_row(row, width, glyphs)
        room = max((len(other) for other in (*agent.watchers, *agent.patterns)), default=0)
        broken = name in breaks_on(agent, "watcher")
        # The view lives on while the pane is not shown: what was listed may be gone.
        if kind == "watcher":
            card = agent.watchers.get(name)
            return rows.watcher_row(card, self._elapsed, width, glyphs, room=room, broken=broken) if card else ()
        pattern = agent.patterns.get(name)
        return rows.pattern_row(pattern, self._elapsed, width, glyphs, room=room, broken=broken) if pattern else ()

    @property
    def watcher_at_cursor(self) -> WatcherCard | None:
        """Watcher under the cursor; None for a pattern."""
        kind, _, name = self.row_at_cursor.partition(":")
        return self._agent.watchers.get(name) if kind == "watcher" else None

    def explain(self) -> bool:
        """Explain the last firing of the row under the cursor; return False without one."""
        kind, _, name = self.row_at_cursor.partition(":")
        card = self._agent.watchers.get(name) if kind == "watcher" else self._agent.patterns.get(name)
        if card is None:
            return False
        self.post_message(ExplainEvent(card.last_seq) if card.last_seq else ShowHint(f"{name} has not fired yet."))
        return True

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Show the watcher's screen."""
        message.stop()
        self.action_open_watcher()

    # -- actions -----------------------------------------------------------------------------------------------------

    def action_break(self) -> None:
        """Toggle a breakpoint on the watcher or pattern."""
        kind, _, name = self.row_at_cursor.partition(":")
        if kind in ("watcher", "pattern"):
            self.post_message(SendOrder(toggle_breakpoint(self._agent, "watcher", name)))

    def action_open_watcher(self) -> None:
        """Show the screen of the watcher or pattern under the cursor."""
        kind, _, name = self.row_at_cursor.partition(":")
        if kind in ("watcher", "pattern"):
            self.post_message(ShowWatcher(kind, name))

    def action_mute(self) -> None:
        """Mute the watcher, or unmute it."""
        from gemini_live_runtime.commands import SwitchWatcher

        card = self.watcher_at_cursor
        if card is None:
            self.post_message(ShowHint("Only watchers can be muted, not patterns."))
        else:
            self.post_message(SendOrder(SwitchWatcher(watcher=card.name, muted=not card.muted)))
