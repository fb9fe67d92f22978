"""The phase pane: where the conversation stands, how it came there, and where it may go next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual.binding import BindingType

from gemini_live_runtime.journal.mind_view import MindView
from gemini_live_runtime.journal.view import Dirty, SessionView
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import Explain, Ordered
from gemini_live_tui.painting.formatting import until_older
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.panes import phase_rows as rows
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.session_data.breakpoints import breaks_on, toggle_breakpoint
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.mind_view import Way
    from gemini_live_tui.app import ConsoleApp


class PhasePane(RowList):
    """Rows about the current phase; the cursor rests on the phase itself and on the ways out of it."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("phase")]
    dirty = Dirty.PHASE | Dirty.HELD

    def __init__(self, *, id: str | None = "phase", glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._mind = MindView()
        self._elapsed = 0.0

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """The phase of `view`; the time in it goes on while the session does."""
        mind = self._mind = view.mind
        self._elapsed = frame.elapsed
        self.set_rows(rows.rows_of(mind))
        return until_older(frame.elapsed - mind.path[-1].t) if frame.live and mind.path else None

    def note(self) -> str:
        """How many phases there were."""
        count = len(self._mind.path)
        return f"{count} phases so far" if count > 1 else ""

    # -- rows --------------------------------------------------------------------------------------------------------

    def selectable(self, row: str) -> bool:
        """The phase, and each way out."""
        return row == "now" or row.startswith("way:")

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """One row."""
        mind, glyphs = self._mind, self._glyphs
        if row == "now":
            broken = mind.path[-1].phase in breaks_on(mind, "phase")
            return rows.now_row(mind, self._elapsed, width, glyphs, broken=broken)
        if row == "path":
            return rows.path_row(mind.path, width, glyphs)
        if row == "waits":
            return rows.waits_row(mind, width, glyphs)
        if row == "needs":
            return rows.needs_row(mind, width, glyphs)
        if row == "tools":
            return rows.tools_row(mind, width, glyphs)
        if row.startswith("way:"):
            way = mind.ways[int(row.removeprefix("way:"))]
            broken = self._transition(way) in breaks_on(mind, "transition")
            room = max(len(other.to) for other in mind.ways)
            return rows.way_row(way, width, glyphs, room=room, broken=broken)
        return rows.plain_row(row, width, glyphs)

    @property
    def way_at_cursor(self) -> Way | None:
        """The way out that the cursor is on."""
        row = self.row_at_cursor
        return self._mind.ways[int(row.removeprefix("way:"))] if row.startswith("way:") else None

    def _transition(self, way: Way) -> str:
        return f"{self._mind.path[-1].phase}>{way.to}"

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Why it came to this phase, or why it goes this way or does not."""
        from gemini_live_tui.dialogs.why import WhyScreen
        from gemini_live_tui.panes.why_rows import reason_of_way

        message.stop()
        way = self.way_at_cursor
        if way is not None:
            app = cast("ConsoleApp", self.app)
            app.enter(WhyScreen(app, reason_of_way(way, self._mind)))
        elif self._mind.path:
            self.post_message(Explain(self._mind.path[-1].seq))

    # -- actions -----------------------------------------------------------------------------------------------------

    def action_break(self) -> None:
        """Hold the agent on this way, or whenever it comes to this phase; or no longer."""
        mind, way = self._mind, self.way_at_cursor
        if way is not None:
            self.post_message(Ordered(toggle_breakpoint(mind, "transition", self._transition(way))))
        elif mind.path:
            self.post_message(Ordered(toggle_breakpoint(mind, "phase", mind.path[-1].phase)))
