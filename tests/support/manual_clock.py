"""Move a clock by hand in tests."""

from __future__ import annotations

import asyncio


class ManualClock:
    """Clock that a test moves by hand; `sleep` moves it too."""

    __slots__ = ("_now", "_wall")

    def __init__(self, now: float = 0.0, wall: float = 1_700_000_000.0) -> None:
        self._now = now
        self._wall = wall

    def now(self) -> float:
        """Return the time set by `advance`."""
        return self._now

    def wall(self) -> float:
        """Return the wall time, which moves together with `now`."""
        return self._wall + self._now

    def advance(self, seconds: float) -> None:
        """Move time forward by `seconds` (>= 0)."""
        if seconds < 0:
            raise ValueError(f"seconds must be >= 0, not {seconds}")
        self._now += seconds

    async def sleep(self, seconds: float) -> None:
        """Move time forward and let other tasks run."""
        self.advance(max(0.0, seconds))
        await asyncio.sleep(0)
