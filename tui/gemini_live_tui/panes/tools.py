"""List the model's tool calls with their arguments and results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from rich.cells import cell_len
from textual.binding import BindingType

from gemini_live_runtime.journal.fold.agent_view import Hold, ToolRun
from gemini_live_runtime.journal.fold.packing import unpack
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import ExplainEvent, SendOrder, ShowDetails
from gemini_live_tui.painting.formatting import clock_text, duration_text
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.session_data.breakpoints import breaks_on, toggle_breakpoint
from gemini_live_tui.widgets.row_list import RowList

EMPTY = "No tool has been called yet."
STYLES = {"running": "key", "ok": "good", "cancelled": "warn", "refused": "warn"}
"""Styles of the words for a call's status; the others are errors."""

_RUNNING_S = 0.5
"""Seconds between two updates of a running call's duration."""


class Tools(RowList):
    """Tool calls, a row each, newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tools")]
    dirty = Dirty.TOOLS | Dirty.HELD

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._view = SessionView()
        self._elapsed = 0.0

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """List the calls of `view`."""
        self._view, self._elapsed = view, frame.elapsed
        runs = view.agent_view.tools
        self.set_rows(list(reversed(runs)) or [EMPTY])
        running = frame.live and any(run.status == "running" for run in runs.values())
        return _RUNNING_S if running else None

    def note(self) -> str:
        """Return the number of calls of each status."""
        counts: dict[str, int] = {}
        for run in self._view.agent_view.tools.values():
            word = word_of(run, self._view.agent_view.held)
            counts[word] = counts.get(word, 0) + 1
        return f" {self._glyphs.separator} ".join(f"{count} {word}" for word, count in counts.items())

    def selectable(self, row: str) -> bool:
        """Return True for a call, False for the sentence of an empty list."""
        return row in self._view.agent_view.tools

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return time, tool, arguments, result and duration."""
        run = self._view.agent_view.tools.get(row)
        if run is None:
            return [(f"  {fit(row, width - 2, self._glyphs.ellipsis)}", "quiet")]
        word = word_of(run, self._view.agent_view.held)
        ms = max(0.0, self._elapsed - run.t) * 1000 if run.end is None else run.ms
        state = word if ms is None else f"{word} {duration_text(ms)}"
        left = f" {clock_text(run.t)}  "
        room = width - len(left) - len(state) - 3
        name = fit(run.name, max(8, room // 2), self._glyphs.ellipsis)
        call = f"({plain_json(run.args, brackets=False)})"
        result = f" {self._glyphs.arrow} {plain_json(run.result)}" if run.result not in ("", "null", "{}") else ""
        broken = f" {self._glyphs.stop} break " if run.name in breaks_on(self._view.agent_view, "tool") else ""
        rest = fit(call + result, room - cell_len(name) - cell_len(broken), self._glyphs.ellipsis)
        used = cell_len(name) + cell_len(broken) + cell_len(rest)
        return [
            (left, "quiet"),
            (name, "strong"),
            (broken, "break"),
            (rest, "quiet"),
            (" " * max(1, width - len(left) - used - len(state) - 1), ""),
            (state, STYLES.get(run.status, "error")),
        ]

    def action_break(self) -> None:
        """Toggle a breakpoint on this tool's calls and answers."""
        run = self._view.agent_view.tools.get(self.row_at_cursor)
        if run is not None:
            self.post_message(SendOrder(toggle_breakpoint(self._view.agent_view, "tool", run.name)))

    def explain(self) -> bool:
        """Explain the call under the cursor; return False without one."""
        run = self._view.agent_view.tools.get(self.row_at_cursor)
        if run is not None:
            self.post_message(ExplainEvent(run.seq))
        return run is not None

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Show the details of a call."""
        run = self._view.agent_view.tools.get(message.row)
        if run is None:
            return
        message.stop()
        args, result = unpack(run.args), unpack(run.result)
        took = "" if run.ms is None else f" {self._glyphs.separator} {duration_text(run.ms)}"
        delivery = "given to the model" if run.delivered else "not given to the model"
        word = word_of(run, self._view.agent_view.held)
        facts = f"{word}{took} {self._glyphs.separator} called at {clock_text(run.t)} in turn {run.turn}"
        parts: list[tuple[str, Any]] = [("", facts), ("Arguments", args)]
        if run.end is not None:
            parts.append((f"Result, {delivery}", result))
        whole = {"name": run.name, "call_id": message.row, "status": run.status, "args": args, "result": result}
        self.post_message(ShowDetails(run.name, parts, whole))

    def on_mount(self) -> None:
        """List the sentence of an empty list."""
        self.set_rows([EMPTY])


def word_of(run: ToolRun, held: Hold | None) -> str:
    """Return a call's status in a word; one that came while the agent is `held` waits."""
    if run.status != "running":
        return run.status
    if run.acknowledged:
        return "background"
    return "held" if held is not None and run.t >= held.t else "running"


def plain_json(packed: str, *, brackets: bool = True) -> str:
    """Return a packed value on one line, fit to show.

    An object without `brackets` is written as `key=value` pairs.
    """
    value = unpack(packed)
    if not brackets and isinstance(value, dict):
        return ", ".join(f"{sanitise_line(str(key), 80)}={_line(item)}" for key, item in value.items())
    return _line(value)


def _line(value: object) -> str:
    return sanitise_line(json.dumps(value, ensure_ascii=False), 200)
