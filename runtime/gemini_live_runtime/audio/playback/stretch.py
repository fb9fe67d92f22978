"""Change the speed of speech at constant pitch, by WSOLA.

Short overlapping pieces are placed where their waveforms match best.
"""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.samples import Float32

HOP_S = 0.02
"""Seconds between two pieces of output; a piece is twice as long."""

SEARCH_S = 0.01
"""Greatest distance in seconds from a piece's nominal place."""


class Stretcher:
    """Time stretcher of floats (frames, channels) by `speed`, block by block.

    Output is delayed by about 60 ms until `last`. At speed 1 samples pass through unchanged.
    """

    def __init__(self, rate: int, speed: float, channels: int = 1) -> None:
        if not 0.25 <= speed <= 8:
            raise ValueError(f"speed is {speed:g}, not between 0.25 and 8")
        self.speed = speed
        self._hop = round(rate * HOP_S)
        self._search = round(rate * SEARCH_S)
        self._fade = np.linspace(0.0, 1.0, self._hop, endpoint=False, dtype=np.float32)[:, None]
        self._input: Float32 = np.zeros((0, channels), np.float32)
        self._dropped = 0
        """Frames of input removed from `_input`."""
        self._end: int | None = None
        """Frame at which the input ends, once known."""
        self._pieces = 0
        self._tail: Float32 | None = None

    def process(self, samples: Float32, *, last: bool = False) -> Float32:
        """Return the output that is ready after `samples`."""
        if self.speed == 1:
            return samples
        self._input = np.concatenate((self._input, samples))
        if last:
            self._end = self._dropped + len(self._input)
            silence = np.zeros((self._search + 2 * self._hop, samples.shape[1]), np.float32)
            self._input = np.concatenate((self._input, silence))
        parts: list[Float32] = []
        while (piece := self._next()) is not None:
            head, tail = piece[: self._hop], piece[self._hop :]
            parts.append(head if self._tail is None else self._tail * (1 - self._fade) + head * self._fade)
            self._tail = tail
        if not parts:
            return samples[:0]
        joined: Float32 = np.concatenate(parts)
        return joined

    def _next(self) -> Float32 | None:
        """Return the next piece, two hops long; None at the end or to get more input."""
        place = round(self._pieces * self._hop * self.speed)
        ideal = place - self._dropped
        if self._end is not None and place >= self._end:
            return None
        if ideal + self._search + 2 * self._hop > len(self._input):
            return None
        at = ideal if self._tail is None else self._fitting(ideal)
        piece: Float32 = self._input[at : at + 2 * self._hop].copy()
        self._pieces += 1
        done = round(self._pieces * self._hop * self.speed) - self._dropped - self._search
        done = min(done, len(self._input))
        if done > 16 * self._hop:
            self._input = self._input[done:]
            self._dropped += done
        return piece

    def _fitting(self, ideal: int) -> int:
        """Return the place near `ideal` where the input best continues the tail."""
        assert self._tail is not None
        low = max(0, ideal - self._search)
        wanted = self._tail.sum(axis=1)
        if not wanted.any():
            return ideal
        there = self._input[low : ideal + self._search + self._hop].sum(axis=1)
        likeness = np.correlate(there, wanted, "valid")
        sums = np.cumsum(np.concatenate(([0.0], np.square(there, dtype=np.float64))))
        energy = sums[self._hop :] - sums[: -self._hop]
        return low + int(np.argmax(likeness / np.sqrt(np.maximum(energy, 1e-9))))
