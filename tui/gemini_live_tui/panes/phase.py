"""Show the current phase, the path to it, and the transitions out of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType

from gemini_live_runtime.journal.fold.agent_view import AgentView
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import ExplainEvent, ExplainTransition, SendOrder
from gemini_live_tui.painting.formatting import until_older
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.panes import phase_rows as rows
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.session_data.breakpoints import breaks_on, toggle_breakpoint
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import TransitionStatus


class PhasePane(RowList):
    """Rows about the current phase; the cursor rests on phase, transitions, agent."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("phase")]
    dirty = Dirty.PHASE | Dirty.HELD

    def __init__(self, *, id: str | None = "phase", glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._agent = AgentView()
        self._agent_name = ""
        self._elapsed = 0.0

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Show the phase of `view`; return the seconds until its age changes, or None."""
        agent = self._agent = view.agent_view
        self._agent_name, self._elapsed = view.agent or "", frame.elapsed
        self.set_rows(rows.rows_of(agent, is_started=bool(view.agent)))
        return until_older(frame.elapsed - agent.stay.t) if frame.live and agent.stay is not None else None

    def note(self) -> str:
        """Return the number of phases so far."""
        count = len(self._agent.path)
        return f"{count} phases so far" if count > 1 else ""

    # -- rows --------------------------------------------------------------------------------------------------------

    def selectable(self, row: str) -> bool:
        """Return True for the phase, for transitions and for an agent without phases."""
        return row in ("now", "agent") or row.startswith("way:")

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return the runs of one row."""
        agent, glyphs = self._agent, self._glyphs
        if (row == "now" and agent.stay is None) or (row == "path" and not agent.path):
            return ()
        if row == "now":
            broken = agent.path[-1].phase in breaks_on(agent, "phase")
            return rows.now_row(agent, self._elapsed, width, glyphs, broken=broken)
        if row == "path":
            return rows.path_row(agent, width, glyphs)
        if row == "agent":
            return rows.agent_row(agent, self._agent_name, width, glyphs)
        if row == "waits":
            return rows.waits_row(agent, width, glyphs)
        if row == "needs":
            return rows.needs_row(agent, width, glyphs)
        if row == "tools":
            return rows.tools_row(agent, width, glyphs)
        if row.startswith("way:"):
            way = self._way(row)
            if way is None:
                return ()
            broken = self._transition(way) in breaks_on(agent, "transition")
            room = max(len(other.to) for other in agent.ways)
            return rows.transition_row(way, width, glyphs, room=room, broken=broken)
        return rows.plain_row(row, width, glyphs)

    @property
    def transition_at_cursor(self) -> TransitionStatus | None:
        """Transition under the cursor."""
        return self._way(self.row_at_cursor)

    def _way(self, row: str) -> TransitionStatus | None:
        """Return the transition of a row; None when the view has fewer by now."""
        kind, _, number = row.partition(":")
        return self._agent.ways[int(number)] if kind == "way" and int(number) < len(self._agent.ways) else None

    def _transition(self, way: TransitionStatus) -> str:
        return f"{self._agent.path[-1].phase if self._agent.path else ''}>{way.to}"

    def explain(self) -> bool:
        """Explain the transition under the cursor, or the entry of the phase."""
        way, stay = self.transition_at_cursor, self._agent.stay
        if way is not None:
            self.post_message(ExplainTransition(way, self._agent))
        elif stay is not None and self.row_at_cursor == "now":
            self.post_message(ExplainEvent(stay.seq))
        else:
            return False
        return True

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Explain the entry, the hand-off, or the transition under the cursor."""
        message.stop()
        way = self.transition_at_cursor
        if way is not None:
            self.post_message(ExplainTransition(way, self._agent))
        elif self._agent.stay is not None:
            self.post_message(ExplainEvent(self._agent.stay.seq))
        elif (handoff := rows.handoff_of(self._agent)) is not None:
            self.post_message(ExplainEvent(handoff.seq))

    # -- actions -----------------------------------------------------------------------------------------------------

    def action_break(self) -> None:
        """Toggle a breakpoint on the transition, or on the phase."""
        agent, way = self._agent, self.transition_at_cursor
        if way is not None:
            self.post_message(SendOrder(toggle_breakpoint(agent, "transition", self._transition(way))))
        elif agent.stay is not None:
            self.post_message(SendOrder(toggle_breakpoint(agent, "phase", agent.stay.phase)))
