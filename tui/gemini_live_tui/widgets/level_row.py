"""Show a level bar on a row of its own, drawn like those of the meter strip."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_live_tui.painting.formatting import bar, decibel_text
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.widgets.row import Row

NAME_WIDTH = 12
READOUT_WIDTH = 16


class LevelRow(Row):
    """Bar of one signal in dBFS, or a word in its place."""

    def __init__(self, name: str, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._title = name
        self._glyphs = glyphs
        self._level: float | None = None
        self._peak: float | None = None
        self._mark: Run = ("", "")
        self._word = ""

    def show(
        self, level: float | None, *, peak: float | None = None, clipped: bool = False, speech: bool = False
    ) -> None:
        """Show a level with its held peak."""
        self._level, self._peak, self._word = level, peak, ""
        self._mark = (" CLIP", "alarm") if clipped else (" voice", "voice") if speech else ("", "")
        self.update_row()

    def rest(self, word: str) -> None:
        """Show a word, e.g. that nothing is measured."""
        self._level, self._peak, self._word, self._mark = None, None, word, ("", "")
        self.update_row()

    def runs(self, width: int) -> Sequence[Run]:
        """Return name, bar, number and mark."""
        name: Run = (f"{self._title:<{NAME_WIDTH}}", "quiet")
        if self._word:
            return [name, (self._word[: max(0, width - NAME_WIDTH)], "quiet")]
        cells = max(4, min(40, width - NAME_WIDTH - READOUT_WIDTH))
        filled = [(text, style) for text, style in bar(self._level, cells, self._glyphs, peak=self._peak)]
        return [name, *filled, (f" {decibel_text(self._level)} dB", "strong"), self._mark]
