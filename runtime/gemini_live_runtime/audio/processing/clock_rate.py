"""Measure how much faster one device's clock runs than the other's."""

from __future__ import annotations

from collections import deque

WINDOW_S = 120.0
"""Seconds measured over: a callback that is 10 ms late makes 80 ppm of error."""
LEAST_S = 60.0
EVERY_S = 5.0
GAP = 0.002
"""Difference (share) from the nominal rate within `EVERY_S` that means lost callbacks, not a clock.

Two late callbacks are allowed besides. On a busy machine nothing is known then, rather than something wrong."""


class ClockRate:
    """Rate of a device's clock relative to this machine's, from its callbacks."""

    __slots__ = ("_marks", "_nominal")

    def __init__(self, nominal: float) -> None:
        """`nominal` is the number of callbacks a second."""
        self._nominal = nominal
        self._marks: deque[tuple[float, int]] = deque()

    def add(self, now: float, callbacks: int) -> None:
        """Add the number of callbacks so far, the last one at `now` (s)."""
        if self._marks:
            then, before = self._marks[-1]
            if now - then < EVERY_S:
                return
            if abs((callbacks - before) / (now - then) / self._nominal - 1) > GAP + 0.02 / (now - then):
                self._marks.clear()
        self._marks.append((now, callbacks))
        while now - self._marks[0][0] > WINDOW_S:
            self._marks.popleft()

    @property
    def ratio(self) -> float | None:
        """Measured over nominal rate; None before `LEAST_S`."""
        if not self._marks:
            return None
        (then, before), (now, callbacks) = self._marks[0], self._marks[-1]
        if now - then < LEAST_S:
            return None
        return (callbacks - before) / (now - then) / self._nominal


def drift_ppm(first: ClockRate, second: ClockRate) -> float | None:
    """Return by how many millionths `first` is faster; None while it is unknown."""
    a, b = first.ratio, second.ratio
    return None if a is None or b is None else (a / b - 1) * 1e6
