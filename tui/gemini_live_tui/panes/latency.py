"""Show the latency of a turn, a bar for each stage, and compare the turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import BindingType

from gemini_live_runtime.journal.fold.agent_view import TurnCard
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import PaneChanged
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.panes import latency_bars as waterfall
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.widgets.sheet import Sheet

EMPTY = (
    "No turn has been measured yet.",
    "",
    "A turn is measured from the end of your",
    "words to the first sound of the answer.",
)


class Latency(Sheet):
    """Waterfall of one turn: the newest measured one, or a chosen one."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("latency")]
    dirty = Dirty.LATENCY
    is_movable = True

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._view = SessionView()
        self._chosen: int | None = None
        """Chosen turn, None for the newest."""

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Paint the turns of `view`."""
        self._view = view
        if self._chosen is not None and self._chosen not in view.agent_view.turns:
            self._chosen = None
        self.update_rows()
        return None

    def note(self) -> str:
        """Return the pane's keys, and "newest" while that turn is shown."""
        if not waterfall.measured(self._view):
            return ""
        which = "newest" if self._chosen is None else f"turn {self._chosen}"
        signs = self._glyphs
        keys = f" {signs.separator} {signs.up} {signs.down} turn {signs.separator} w worst" if self.has_focus else ""
        return which + keys

    @property
    def card(self) -> TurnCard | None:
        """Turn on show; None before any was measured."""
        cards = waterfall.measured(self._view)
        chosen = self._view.agent_view.turns.get(self._chosen) if self._chosen is not None else None
        return chosen or (cards[-1] if cards else None)

    def rows(self, width: int, height: int) -> Sequence[Sequence[Run]]:
        """Return title, stages, summary and tokens; the last ones are dropped first."""
        card, signs = self.card, self._glyphs
        if card is None:
            return [(), *([(f"  {line}"[:width], "quiet")] for line in EMPTY)][:height]
        head = waterfall.title(card, signs, width)
        bars = waterfall.bars(card, width, signs)
        rest = [waterfall.summary(self._view, signs), waterfall.tokens(card, signs)]
        if height >= len(bars) + 4:
            return [head, (), *bars, (), *rest][:height]
        return [head, *bars, *rest][:height]

    def choose(self, turn: int | None) -> None:
        """Show a turn; None for the newest from now on."""
        self._chosen = turn
        self.update_rows()
        self.post_message(PaneChanged("latency"))

    def move(self, step: str) -> None:
        """Go `up` or `down` a turn, or to the first (`home`) or the newest (`end`)."""
        turns = [card.turn for card in waterfall.measured(self._view)]
        if not turns:
            return
        card = self.card
        at = turns.index(card.turn) if card is not None and card.turn in turns else len(turns) - 1
        by = {"up": -1, "page_up": -10, "home": -len(turns), "down": 1, "page_down": 10, "end": len(turns)}[step]
        at = max(0, min(len(turns) - 1, at + by))
        self.choose(None if at == len(turns) - 1 else turns[at])

    def action_worst_turn(self) -> None:
        """Show the turn with the longest latency."""
        card = waterfall.worst(self._view)
        if card is not None:
            self.choose(card.turn)
