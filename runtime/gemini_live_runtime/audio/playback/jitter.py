"""Measure how late the model's audio arrives; the prebuffer follows from it."""

from __future__ import annotations

START_MS = 60.0
"""Target before anything was measured."""

MAX_TARGET_MS = 200.0
MARGIN_MS = 10.0
"""Added to the lateness that was measured."""

PAUSE_MS = 400.0
"""Lateness from which a frame ends a pause of the model: no prebuffer bridges it."""

HOLD_MS = 10_000.0
"""Audio received in time after which the target begins to fall."""

HALVING_MS = 10_000.0
"""Audio received in time in which the target falls to its half."""


class JitterEstimator:
    """Estimator of the prebuffer that a connection needs, over all turns.

    A frame is late by the time for which playback that began with the turn's first frame would have waited for it. The
    target rises to the lateness at once and falls slowly, down to 0 on a connection that is always ahead.
    """

    __slots__ = ("_due", "_gen", "_in_time_ms", "target_ms")

    def __init__(self) -> None:
        self.target_ms = START_MS
        """Prebuffer in ms."""
        self._gen = -1
        self._due = 0.0
        """Time (s) at which the next frame is needed."""
        self._in_time_ms = 0.0

    def add(self, gen: int, duration_ms: float, now: float) -> None:
        """Add a frame of `gen` that arrived at `now` (s)."""
        if gen != self._gen:
            self._gen, self._due = gen, now
        late = (now - self._due) * 1000
        if late >= PAUSE_MS:
            self._due = now + duration_ms / 1000
            return
        self._due += duration_ms / 1000
        if late > 0 and late + MARGIN_MS > self.target_ms / 2:
            self._in_time_ms = 0.0
            self.target_ms = max(self.target_ms, min(MAX_TARGET_MS, late + MARGIN_MS))
            return
        self._in_time_ms += duration_ms
        if self._in_time_ms > HOLD_MS:
            fallen = self.target_ms * 0.5 ** (duration_ms / HALVING_MS)
            self.target_ms = fallen if fallen >= MARGIN_MS else 0.0
