"""Count restarts: what fails again and again is left as it is, and shown."""

from __future__ import annotations

MOST = 5
"""Restarts within `WITHIN_S` seconds."""

WITHIN_S = 60.0


class RestartLimit:
    """Limit of the restarts of one part."""

    def __init__(self, most: int = MOST, within_s: float = WITHIN_S) -> None:
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
