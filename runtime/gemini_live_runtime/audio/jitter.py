"""Measure how late the model's audio arrives; the prebuffer follows from it."""

from __future__ import annotations

from collections import deque

START_MS = 60.0
"""Target before anything was measured."""

LIMIT_MS = 200.0
MARGIN_MS = 10.0
"""Added to the lateness that was measured."""

PAUSE_MS = 1000.0
"""Lateness from which a frame ends a pause of the model: no prebuffer bridges it."""

HOLD_MS = 10_000.0
"""Audio received in time after which the target begins to fall."""

HALVING_MS = 10_000.0
"""Audio received in time in which the target falls to its half."""


WINDOW_S = 2.0
"""Seconds in which the frame that came earliest, for its place in the sound, is the measure for the others."""


class JitterEstimator:
    """Estimator of the prebuffer that a connection needs, over all turns.

    A frame is late by the time for which playback that began with the earliest frame would have waited for it. The
    target rises to the lateness at once and falls slowly, down to 0 on a connection that is always ahead.
    """

    __slots__ = ("_earliest", "_gen", "_in_time_ms", "_received_s", "target_ms")

    def __init__(self) -> None:
        self.target_ms = START_MS
        """Prebuffer in ms."""
        self._gen = -1
        self._received_s = 0.0
        self._earliest: deque[tuple[float, float]] = deque()
        """Arrival times, and those less the sound before: rising, for a minimum over the window."""
        self._in_time_ms = 0.0

    def add(self, gen: int, duration_ms: float, now: float) -> None:
        """Add a frame of `gen` that arrived at `now` (s)."""
        if gen != self._gen:
            self._gen, self._received_s = gen, 0.0
            self._earliest.clear()
        late = self._lateness_ms(now)
        self._received_s += duration_ms / 1000
        if late >= PAUSE_MS:
            return
        if late > 0 and late + MARGIN_MS > self.target_ms / 2:
            self._in_time_ms = 0.0
            self.target_ms = max(self.target_ms, min(LIMIT_MS, late + MARGIN_MS))
            return
        self._in_time_ms += duration_ms
        if self._in_time_ms > HOLD_MS:
            fallen = self.target_ms * 0.5 ** (duration_ms / HALVING_MS)
            self.target_ms = fallen if fallen >= MARGIN_MS else 0.0

    def _lateness_ms(self, now: float) -> float:
        transit, earliest = now - self._received_s, self._earliest
        while earliest and earliest[-1][1] >= transit:
            earliest.pop()
        earliest.append((now, transit))
        while now - earliest[0][0] > WINDOW_S:
            earliest.popleft()
        return (transit - earliest[0][1]) * 1000
