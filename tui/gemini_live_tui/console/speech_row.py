"""Show the speech that comes next, its reason to wait, and the number behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.widgets.row import Row

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.view import SessionView

SHOWN_AFTER_S = 0.5
"""Seconds of waiting from which the row is there: what waits for a moment only moves no pane."""

LEAST_LABEL = 8
"""Least cells of the name of a speech."""

_UNTIL = {
    "connecting": "there is a connection",
    "offline": "there is a connection",
    "dormant": "there is a connection",
    "error": "there is a connection",
    "speaking": "the model has finished",
    "hearing": "you have finished",
    "thinking": "the answer is said",
}
"""Moment that a speech waits for, by the word of the session's state."""


class SpeechRow(Row):
    """Row of the speeches that wait.

    `NEXT greeting · waits until you have finished · 2 more`.
    """

    DEFAULT_CSS = """
    SpeechRow { display: none; }
    SpeechRow.-shown { display: block; }
    """

    def __init__(self, *, glyphs: Glyphs, id: str | None = None) -> None:
        super().__init__(id=id)
        self._separator = f" {glyphs.separator} "
        self._ellipsis = glyphs.ellipsis
        self._label = self._reason = ""
        self._more = 0

    def show(self, view: SessionView, elapsed: float) -> float | None:
        """Show the speeches at `elapsed` seconds.

        Return the seconds until the row appears, or None.
        """
        waiting = view.next_speeches
        waits_s = elapsed - min((speech.since for speech in waiting), default=elapsed)
        is_shown = waits_s >= SHOWN_AFTER_S
        self.set_class(is_shown, "-shown")
        if not is_shown:
            return SHOWN_AFTER_S - waits_s + 0.005 if waiting else None
        self._label, self._more = waiting[0].label, len(waiting) - 1
        self._reason = f"waits until {self._until(view)}"
        self.update_row()
        return None

    @staticmethod
    def _until(view: SessionView) -> str:
        if view.agent_view.held is not None:
            return "the agent goes on"
        return _UNTIL.get(view.word, "the pause between speeches is over")

    def runs(self, width: int) -> Sequence[Run]:
        """Return the row.

        Parts that do not fit are left out from its end; the label is shortened last.
        """
        more = [(f"{self._separator}{self._more} more", "said")] if self._more else []
        why = [(f"{self._separator}{self._reason}", "said")]
        left = 0
        for tail in ([*why, *more], more, []):
            left = width - len("  NEXT  ") - sum(cell_len(text) for text, _ in tail)
            if left >= min(cell_len(self._label), LEAST_LABEL):
                return [(" NEXT ", "strong"), (" ", ""), (fit(self._label, left, self._ellipsis), "said"), *tail]
        return [(" NEXT ", "strong")]
