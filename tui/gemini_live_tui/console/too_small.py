"""Show the state word alone when the terminal is too small for a console."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gemini_live_tui.painting.glyphs import STATE_LABELS, UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.widgets.row import Row

if TYPE_CHECKING:
    from gemini_live_runtime.events import StateWord

MIN_WIDTH = 60
MIN_HEIGHT = 16


class TooSmall(Row):
    """State word and least size."""

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._word: StateWord = "offline"

    def show(self, word: StateWord) -> None:
        """Show the state word."""
        self._word = word
        self.update_row()

    def runs(self, width: int) -> Sequence[Run]:
        """Return both on one row, the state first."""
        state = f" {self._glyphs.states[self._word]} {STATE_LABELS[self._word]}"
        advice = f"  terminal too small (need {MIN_WIDTH}x{MIN_HEIGHT})"
        room = width - len(state)
        return [(fit(state, width, ""), f"state-{self._word}"), (fit(advice, room, self._glyphs.ellipsis), "quiet")]
