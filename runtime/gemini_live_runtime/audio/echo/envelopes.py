"""Compare the levels of signals over time.

An echo's level follows that of its sound, syllable for syllable.
"""

from __future__ import annotations

import math

import numpy as np

from gemini_live_runtime.audio.samples import AnyArray

MAX_LAG = 45
"""Most frames (450 ms) by which an echo comes after its sound."""

_FLOOR_POWER = 1e-7


class Envelopes:
    """Levels in dB of `signals` signals over the last `frames` frames of 10 ms."""

    __slots__ = ("_frames", "_levels", "count", "newest")

    def __init__(self, signals: int, frames: int) -> None:
        self.newest = [10 * math.log10(_FLOOR_POWER)] * signals
        """Levels of the last frame."""
        self.count = 0
        """Frames added."""
        self._frames = frames
        self._levels: AnyArray = np.full((frames, signals), self.newest[0])

    def add(self, *powers: float) -> None:
        """Add a frame's mean squares, full scale 1."""
        self.newest = [10 * math.log10(max(power, _FLOOR_POWER)) for power in powers]
        self._levels[self.count % self._frames] = self.newest
        self.count += 1

    def last(self, frames: int) -> AnyArray:
        """Return the levels of the last `frames` frames, a row for each signal."""
        return np.roll(self._levels, -self.count, axis=0)[-frames:].T


def correlation(signal: AnyArray, far: AnyArray) -> float:
    """Return the highest correlation of `signal` with an earlier `far`.

    Earlier by up to `MAX_LAG` frames.
    """
    tail = signal[MAX_LAG:] - signal[MAX_LAG:].mean()
    count = len(tail)
    sums = np.cumsum(np.concatenate(([[0.0, 0.0]], np.stack((far, far**2), axis=1))), axis=0)
    total, squares = (sums[count:] - sums[:-count]).T
    norms = np.sqrt(np.maximum(squares - total**2 / count, 0.0) * float(tail @ tail)) + 1e-3
    return float((np.correlate(far, tail, "valid") / norms).max())
