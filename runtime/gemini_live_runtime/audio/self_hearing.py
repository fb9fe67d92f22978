"""Tell the model's own voice in the microphone from a person's by its level.

What leaks through the echo canceller sets off the voice detector as a person does. But the level of a leak follows that
of the loudspeaker, syllable for syllable and a moment later; a person's does not.
"""

from __future__ import annotations

import math

import numpy as np

from gemini_live_runtime.audio.samples import AnyArray

WINDOW = 300
"""Frames (3 s) that are kept."""
MAX_LAG = 45
"""Most frames (450 ms) by which the echo comes after its sound."""
LEAST_FRAMES = 60
"""Frames of a voice below which nothing can be said about it."""
FOLLOWS = 0.8
"""Correlation of the levels (dB) from which a voice is taken for the loudspeaker's."""

_FLOOR_POWER = 1e-7


class SelfHearing:
    """Judge of detected voices, fed every 10 ms with the powers of far end and result."""

    __slots__ = ("_count", "_levels", "_voice_from", "heard_itself")

    def __init__(self) -> None:
        self._levels: AnyArray = np.full((2, WINDOW), 10 * math.log10(_FLOOR_POWER), np.float32)
        self._count = 0
        self._voice_from = 0
        self.heard_itself = 0
        """Voices that were the loudspeaker's."""

    def add(self, far: float, clean: float) -> None:
        """Add the next 10 ms."""
        at = self._count % WINDOW
        self._levels[0, at] = 10 * math.log10(max(far, _FLOOR_POWER))
        self._levels[1, at] = 10 * math.log10(max(clean, _FLOOR_POWER))
        self._count += 1

    def on_voice(self, speaking: bool) -> None:
        """Judge a voice when it has ended."""
        if speaking:
            # The detector needs a quarter of a second to be sure.
            self._voice_from = max(0, self._count - 25)
        elif self._is_own(self._count - self._voice_from):
            self.heard_itself += 1

    def _is_own(self, frames: int) -> bool:
        frames = min(frames, WINDOW - MAX_LAG, self._count - MAX_LAG)
        if frames < LEAST_FRAMES:
            return False
        far, clean = np.roll(self._levels, -self._count, axis=1)[:, -(frames + MAX_LAG) :]
        tail = clean[MAX_LAG:] - clean[MAX_LAG:].mean()
        lagged = np.lib.stride_tricks.sliding_window_view(far, frames)
        lagged = lagged - lagged.mean(axis=1, keepdims=True)
        norms = np.sqrt((lagged**2).sum(axis=1) * float(tail @ tail)) + 1e-3
        return float((lagged @ tail / norms).max()) > FOLLOWS
