"""List recorded sessions: start, name, length, turns, phase, cost, remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from rich.cells import cell_len

from gemini_live_tui.painting.formatting import clock_text, cost_text
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.sessions.catalog import Entry

LENGTH, TURNS, COST = 7, 5, 7
"""Widths of the columns that are the same in every window, in cells."""

ROOMY = 90
"""Width in cells from which a start has its year."""

_GAPS = 2 + 1 + 1 + 2 + 1 + 2


def columns(width: int) -> tuple[int, int, int, int]:
    """Return the widths of start, name, phase and notes in a list of `width` cells."""
    start = 16 if width >= ROOMY else 11
    left = max(0, width - start - LENGTH - TURNS - COST - _GAPS)
    phase = max(6, min(16, left // 4))
    notes = max(6, min(24, left // 3))
    return start, max(4, left - phase - notes), phase, notes


def heading(width: int) -> str:
    """Return the names of the columns."""
    cells = ("Started", "Name", "Length", "Turns", "Phase", "Cost", "Notes")
    return _row(cells, columns(width))


def started(when: float, *, year: bool = True) -> str:
    """Return a local time as `2026-11-20 17:31`, or without the year; `?` without one."""
    try:
        return datetime.fromtimestamp(when).strftime("%Y-%m-%d %H:%M" if year else "%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):
        return "?"


def _row(cells: Sequence[str], widths: tuple[int, int, int, int]) -> str:
    start, name, phase, _ = widths
    when, title, length, turns, stage, cost, notes = cells
    return (
        f"{_left(when, start)}  {_left(title, name)} {length:>{LENGTH}} {turns:>{TURNS}}  "
        f"{_left(stage, phase)} {cost:>{COST}}  {notes}"
    )


def _left(text: str, width: int) -> str:
    return text + " " * max(0, width - cell_len(text))


class SessionList(RowList):
    """Sessions, one a row, by their ids."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs) -> None:
        super().__init__(id=id)
        self._signs = glyphs
        self.entries: Mapping[str, Entry] = {}

    def show(self, entries: Sequence[Entry]) -> None:
        """List sessions."""
        self.entries = {entry.id: entry for entry in entries}
        self.set_rows([entry.id for entry in entries])

    @property
    def chosen(self) -> Entry | None:
        """Session under the cursor."""
        return self.entries.get(self.row_at_cursor)

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return the columns; an unreadable session has its reason there."""
        entry = self.entries[row]
        widths = columns(width)
        start, name, phase, notes = widths
        when = started(entry.when, year=width >= ROOMY)
        more = self._signs.ellipsis
        if entry.problem:
            text = f"{_left(when, start)}  {_left(fit(entry.id, name, more), name)} "
            return ((text, "quiet"), (fit(entry.problem, width - cell_len(text), more), "warn"))
        cells = (
            when,
            fit(entry.name, name, more),
            clock_text(entry.duration_s),
            str(entry.turns),
            fit(entry.phase, phase, more),
            "" if entry.cost_usd is None else cost_text(entry.cost_usd),
            "",
        )
        look = "state-listening" if entry.running else "warn" if {"errors", "broken off"} & {*entry.flags} else "quiet"
        flags = list(entry.flags)
        # The last flag counts interruptions, which are nothing unusual: better none than a part of a word.
        if entry.interruptions and cell_len(", ".join(flags)) > notes:
            flags.pop()
        while len(flags) > 1 and cell_len(", ".join(flags)) > notes:
            flags.pop()
        return ((_row(cells, widths), "said"), (fit(", ".join(flags), notes, more), look))
