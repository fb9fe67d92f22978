"""Hold the user's voice over a speech until it is certain what it is."""

from __future__ import annotations

from gemini_live_runtime.records import mutable_record


@mutable_record
class BargeIn:
    """Voice over generation `gen` of turn `turn` that may interrupt it.

    `voice_s` is its length when our detector passed it on, `ended` the clock time (s) of its end.
    """

    gen: int
    turn: int
    voice_s: float
    is_paused: bool = False
    text: str = ""
    ended: float | None = None

    @property
    def words(self) -> int:
        """Number of words that came since."""
        return len(self.text.split())
