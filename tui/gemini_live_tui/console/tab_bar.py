"""The names of all panes on one row, for terminals that show one pane at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.cells import cell_len
from textual import events
from textual.message import Message

from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.pane_layout import PANES
from gemini_live_tui.widgets.row import Row, Run


class TabBar(Row):
    """The digits and words of the panes, what is new in each, and which one is shown."""

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._shown = "transcript"
        self._news: Mapping[str, int] = {}
        self._note = ""
        self._places: list[tuple[int, int, str]] = []

    def show(self, shown: str, news: Mapping[str, int], note: str = "") -> None:
        """Mark `shown`; `news` counts what came to the others since they were last seen.

        `note` is what would stand at the lower edge of the pane's frame if it had one; left out where there is no room.
        """
        self._shown, self._news, self._note = shown, dict(news), note
        self.update_row()

    def runs(self, width: int) -> Sequence[Run]:
        """Words where there is room, else digits alone for the panes at the end."""
        note = cell_len(self._note) + 2 if self._note else 0
        for short, more in ((0, note), (3, note), (0, 0), (3, 0), (len(PANES), 0)):
            runs = self._named(short)
            used = sum(len(text) for text, _ in runs)
            if used + more <= width:
                break
        if more:
            gap = width - used - cell_len(self._note) - 1
            runs.extend(((" " * gap, ""), (self._note, "quiet")))
        return runs

    def _named(self, short: int) -> list[Run]:
        runs: list[Run] = []
        self._places = []
        at = 0
        for place, pane in enumerate(PANES):
            word = "" if place >= len(PANES) - short and pane.id != self._shown else f" {pane.tab}"
            new = self._news.get(pane.id, 0)
            count = f"{self._glyphs.separator}{new if new < 100 else '99'}" if new and pane.id != self._shown else ""
            text = f"{pane.digit}{word}{count}"
            shown = pane.id == self._shown
            text = f"[{text}]" if shown else f" {text} "
            self._places.append((at, at + len(text), pane.id))
            at += len(text)
            runs.append((text, "strong" if shown else "good" if count else "quiet"))
        return runs

    def on_click(self, event: events.Click) -> None:
        """Go to the pane under the pointer."""
        for start, end, pane in self._places:
            if start <= event.x < end:
                self.post_message(self.Chosen(pane))
