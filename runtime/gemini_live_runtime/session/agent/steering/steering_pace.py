"""Bound how much steering sends in a turn, and between turns."""

from __future__ import annotations

from gemini_live_runtime.session.agent.throttle import TokenBucket


class SendPace:
    """Count of what was sent: bounded in an open turn, paced while none is open."""

    __slots__ = ("_bucket", "_count", "_turn")

    def __init__(self, burst: int, gap_s: float) -> None:
        """`burst` are sent at once between turns, then one each `gap_s` seconds."""
        self._bucket = TokenBucket(burst, 1 / gap_s)
        self._turn = 0
        self._count = 0

    def sent_in(self, turn: int) -> int:
        """Return how many were sent while this turn was open."""
        return self._count if turn == self._turn else 0

    def wait_s(self, now: float) -> float:
        """Return the seconds until the next may be sent between turns."""
        return self._bucket.wait_s(now)

    def count(self, turn: int | None, now: float) -> None:
        """Count one that is sent, in an open turn or between turns (None)."""
        if turn is None:
            self._bucket.take(now)
            return
        if turn != self._turn:
            self._turn, self._count = turn, 0
        self._count += 1
