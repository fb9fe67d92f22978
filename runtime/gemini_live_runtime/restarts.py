"""Count restarts: what fails again and again is left as it is, and shown."""

from __future__ import annotations

MAX_RESTARTS = 5
"""Restarts within `WITHIN_S` seconds."""

WITHIN_S = 60.0


def is_reported(times: int) -> bool:
    """Return True for the 1st, 2nd, 4th, 8th ... fault of one kind.

    What fails at every event also fails at the events of its own failure: reporting each would never end.
    """
    return not times & (times - 1)


class RestartLimit:
    """Limit of the restarts of one part."""

    def __init__(self, most: int = MAX_RESTARTS, within_s: float = WITHIN_S) -> None:
        self.most = most
        self.within_s = within_s
        self._failures: list[float] = []

    def allows(self, now: float) -> bool:
        """Note a failure at `now` (s); return False when it is one too many."""
        self._failures = [*(at for at in self._failures if now - at < self.within_s), now]
        return len(self._failures) <= self.most

    def clear(self) -> None:
        """Forget the failures so far."""
        self._failures.clear()


class FailureTracker:
    """Tracker of a part that is not restarted, because each of its runs is a new one.

    It is degraded once it failed `MAX_RESTARTS` times within `WITHIN_S` seconds, until it works again.
    """

    def __init__(self) -> None:
        self._limit = RestartLimit(MAX_RESTARTS - 1)
        self._failed_at = 0.0
        self.is_degraded = False

    def on_failed(self, now: float) -> bool:
        """Note a failure at `now` (s); return True when the part is degraded by it."""
        self._failed_at = now
        if self.is_degraded or self._limit.allows(now):
            return False
        self.is_degraded = True
        return True

    def on_worked(self) -> bool:
        """Note that the part works; return True when it was degraded until now."""
        was_degraded, self.is_degraded = self.is_degraded, False
        self._limit.clear()
        return was_degraded

    def rests(self, now: float) -> bool:
        """Return True for `WITHIN_S` seconds after each failure of a degraded part."""
        return self.is_degraded and now - self._failed_at < WITHIN_S
