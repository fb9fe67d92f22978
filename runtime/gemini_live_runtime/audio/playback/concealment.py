"""Conceal samples that arrive late by repeating the last period of the voice.

As in ITU-T G.711 Appendix I, the period is the lag at which the last samples resemble those before them most.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.audio.samples import BLOCK, Float32, Int16

FADE_OUT_MS = 40
"""Length of the repeated sound, which falls to silence."""

FADE_IN_MS = 5
"""Length of the change from the repeated sound to the samples that follow."""

_PER_MS = MODEL_RATE // 1000
_MIN_LAG = 60
_MAX_LAG = 360
"""Lags of 400 and 67 Hz."""

_NOTHING: Float32 = np.zeros(0, np.float32)


class Concealment:
    """Continuation of what was played, for a gap, and the change back from it."""

    __slots__ = ("_fall", "_left", "_past", "_rise")

    def __init__(self) -> None:
        self._past: deque[Int16] = deque(maxlen=3)
        self._left = _NOTHING
        fall = FADE_OUT_MS * _PER_MS
        self._fall: Float32 = (0.5 + 0.5 * np.cos(np.pi * (np.arange(fall) + 1) / fall)).astype(np.float32)
        rise = FADE_IN_MS * _PER_MS
        self._rise: Float32 = ((np.arange(rise) + 1) / rise).astype(np.float32)

    def forget(self) -> None:
        """Forget what was played: another answer begins."""
        self._past.clear()
        self._left = _NOTHING

    def add(self, block: Int16) -> None:
        """Take the next 10 ms that are played."""
        self._past.append(block)

    def begin(self) -> None:
        """Continue what was played last; at a turn's beginning there is nothing."""
        if len(self._past) < 3:
            self._left = _NOTHING
            return
        past = np.concatenate(self._past).astype(np.float32)
        period = past[-_lag(past) :]
        repeats = -(-len(self._fall) // len(period))
        self._left = np.tile(period, repeats)[: len(self._fall)] * self._fall

    def next_block(self) -> Int16 | None:
        """Return the next 10 ms of the continuation, None once it is silent."""
        if not len(self._left):
            return None
        block, self._left = self._left[:BLOCK], self._left[BLOCK:]
        return block.astype(np.int16)

    def join(self, block: Int16) -> None:
        """Change `block`, the first after the gap, to follow the continuation."""
        rise = self._rise
        block[: len(rise)] = (block[: len(rise)] * rise).astype(np.int16)
        rest = self._left[: len(rise)]
        if len(rest):
            block[: len(rest)] += (rest * (1 - rise[: len(rest)])).astype(np.int16)
        self._left = _NOTHING


def _lag(past: Float32) -> int:
    """Return the lag (samples) at which the last 10 ms resemble earlier ones most."""
    wanted = past[-BLOCK:]
    before = past[-BLOCK - _MAX_LAG :]
    likeness = np.correlate(before, wanted, "valid")[: _MAX_LAG - _MIN_LAG + 1]
    sums = np.concatenate(([0.0], np.cumsum(before.astype(np.float64) ** 2)))
    energy = (sums[BLOCK:] - sums[:-BLOCK])[: len(likeness)]
    return _MAX_LAG - int(np.argmax(likeness / np.sqrt(energy + 1.0)))
