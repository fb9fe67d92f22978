"""Name all panes in one row, for terminals that show one pane at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.message import Message

from gemini_live_tui.painting.glyphs import ASCII, UNICODE
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.pane_layout import FOLLOWING, PANES, tab_rows
from gemini_live_tui.widgets.row import Row

_PARTS = re.compile(f" [{UNICODE.separator}{ASCII.separator}] ")

WHOLE = 3
"""Rows of `tab_rows` in which every tab has a word, the shown one its whole word."""

APART = 3
"""Cells beside a note: it must not look like another tab."""

SHORTER = 5
"""Further rows of `tab_rows`, with shorter words and keys alone, that make room for a note."""


class TabBar(Row):
    """Keys and words of the panes, with the one that is shown in brackets."""

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._shown = "transcript"
        self._note = ""
        self._places: list[tuple[int, int, str]] = []

    def show(self, shown: str, note: str = "") -> None:
        """Mark the pane `shown`; its `note` is left out where it does not fit."""
        self._shown, self._note = shown, note
        self.update_row()

    def runs(self, width: int) -> Sequence[Run]:
        """Return words where they fit, else keys alone for some panes.

        Of a note its first part makes do, and the sign before "following" without the word, before words go.
        """
        brief = _PARTS.split(self._note, 1)[0].removesuffix(f" {FOLLOWING}")
        rows = tab_rows(PANES, self._shown)
        whole, some = rows[:WHOLE], rows[WHOLE : WHOLE + SHORTER]
        noted = [(row, note) for note in (self._note, brief) for row in whole]
        noted += [(row, note) for row in some for note in (self._note, brief)]
        for row, note in (*noted, *((row, "") for row in rows)):
            used = sum(map(cell_len, row))
            if used + (cell_len(note) + APART if note else 0) <= width:
                break
        runs = self._named(row)
        if note:
            runs.extend(((" " * (width - used - cell_len(note) - 1), ""), (note, "quiet")))
        return runs

    def _named(self, texts: Sequence[str]) -> list[Run]:
        runs: list[Run] = []
        self._places = []
        at = 0
        for pane, text in zip(PANES, texts, strict=True):
            self._places.append((at, at + len(text), pane.id))
            at += len(text)
            runs.append((text, "strong" if pane.id == self._shown else "quiet"))
        return runs

    def on_click(self, event: events.Click) -> None:
        """Go to the pane under the pointer."""
        for start, end, pane in self._places:
            if start <= event.x < end:
                self.post_message(self.Chosen(pane))
