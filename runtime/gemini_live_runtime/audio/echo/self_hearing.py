"""Tell the model's own voice in the microphone from a person's by its level.

What leaks through the echo canceller sets off the voice detector as a person does. But the level of a leak follows that
of the loudspeaker, syllable for syllable and a moment later; a person's does not.
"""

from __future__ import annotations

from gemini_live_runtime.audio.echo.envelopes import MAX_LAG, Envelopes, correlation

WINDOW = 300
"""Frames (3 s) that are kept."""
LEAST_FRAMES = 60
"""Frames of a voice below which nothing can be said about it."""
FOLLOWS = 0.8
"""Correlation of the levels (dB) from which a voice is taken for the loudspeaker's."""


class SelfHearing:
    """Judge of detected voices, fed every 10 ms with the powers of far end and result."""

    __slots__ = ("_envelopes", "_voice_from", "heard_itself")

    def __init__(self) -> None:
        self._envelopes = Envelopes(2, WINDOW)
        self._voice_from = 0
        self.heard_itself = 0
        """Voices that were the loudspeaker's."""

    def add(self, far: float, clean: float) -> None:
        """Add the next 10 ms."""
        self._envelopes.add(far, clean)

    def on_voice(self, speaking: bool) -> None:
        """Judge a voice when it has ended."""
        if speaking:
            # The detector needs a quarter of a second to be sure.
            self._voice_from = max(0, self._envelopes.count - 25)
        elif self._is_own(self._envelopes.count - self._voice_from):
            self.heard_itself += 1

    def _is_own(self, frames: int) -> bool:
        frames = min(frames, WINDOW - MAX_LAG, self._envelopes.count - MAX_LAG)
        if frames < LEAST_FRAMES:
            return False
        far, clean = self._envelopes.last(frames + MAX_LAG)
        return correlation(clean, far) > FOLLOWS
