"""Name all panes in one row, for terminals that show one pane at a time."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual import events
from textual.message import Message

from gemini_live_tui.painting.runs import Run
from gemini_live_tui.pane_layout import FOLLOWING, PANES, SHORT_FIRST, tab_texts
from gemini_live_tui.widgets.row import Row


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

        The sign before "following" is enough to tell it, so the word makes room first.
        """
        brief = self._note.removesuffix(f" {FOLLOWING}")
        few = len(SHORT_FIRST)
        noted = [(short, note) for short in (0, few, few + 1, few + 2) for note in (self._note, brief)]
        for short, note in (*noted, (0, ""), (few, ""), (few + 2, ""), (len(PANES), "")):
            runs = self._named(short)
            used = sum(len(text) for text, _ in runs)
            if used + (cell_len(note) + 2 if note else 0) <= width:
                break
        if note:
            gap = width - used - cell_len(note) - 1
            runs.extend(((" " * gap, ""), (note, "quiet")))
        return runs

    def _named(self, short: int) -> list[Run]:
        runs: list[Run] = []
        self._places = []
        at = 0
        for pane, text in zip(PANES, tab_texts(PANES, self._shown, short), strict=True):
            self._places.append((at, at + len(text), pane.id))
            at += len(text)
            runs.append((text, "strong" if pane.id == self._shown else "quiet"))
        return runs

    def on_click(self, event: events.Click) -> None:
        """Go to the pane under the pointer."""
        for start, end, pane in self._places:
            if start <= event.x < end:
                self.post_message(self.Chosen(pane))
