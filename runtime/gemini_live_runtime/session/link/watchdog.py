"""Decide when a server's silence, or its slowness, is a fault.

Pure: the session's core knows whether an answer is owed, and asks what is due.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

from gemini_live_runtime.session.link.policy import LinkPolicy

TREND = 5
"""Answers whose median is compared: the first ones of a connection, and the newest."""

SLOWER = 2.0
"""Factor by which answers have become slower when another connection is worth it."""

SLOWER_MS = 500.0
"""Milliseconds that they are slower at least."""

PING_EVERY_S = 30.0
"""Seconds from a pong to the next ping."""

PING_WAITING_S = 5.0
"""The same while the user speaks, waits for an answer or hears one."""

PONG_PATIENCE = 2.0
"""Factor of the slowest pong's time after which another one does not come any more."""

Due = Literal["late", "stalled"]


class AnswerWatchdog:
    """Watchdog of an answer that the server owes. Times are clock seconds."""

    def __init__(self, policy: LinkPolicy) -> None:
        self._policy = policy
        self._sign_at = 0.0
        self._told_of: float | None = None

    def on_sign(self, now: float) -> None:
        """Note a sign that the wait was no silence until now.

        The model thinks, or the user spoke, or the answer before was still being played.
        """
        self._sign_at = now

    def next_check(self, asked_at: float, now: float) -> float:
        """Return the seconds until `check` may have something due; 0 when it has."""
        since = max(asked_at, self._sign_at)
        wait_s = self._policy.no_answer_s if self._told_of == since else self._policy.late_answer_s
        return max(0.0, since + wait_s - now)

    def check(self, asked_at: float, now: float) -> Due | None:
        """Return what is due for a question of `asked_at`: "late" once, then "stalled"."""
        since = max(asked_at, self._sign_at)
        if now - since >= self._policy.no_answer_s:
            return "stalled"
        if now - since >= self._policy.late_answer_s and self._told_of != since:
            self._told_of = since
            return "late"
        return None


class SilenceWatchdog:
    """Watchdog of a socket from which nothing comes at all, not even pongs."""

    def __init__(self, policy: LinkPolicy) -> None:
        self._policy = policy
        self._slowest_s: float | None = None

    def on_pong(self, seconds: float) -> None:
        """Note the round trip of a ping."""
        self._slowest_s = max(seconds, self._slowest_s or 0.0)

    def limit_s(self, *, user_waits: bool) -> float:
        """Return the seconds of silence after a ping that mean a dead socket."""
        policy = self._policy
        if not user_waits or self._slowest_s is None:
            return policy.dead_after_s
        return min(policy.dead_after_s, max(policy.silent_after_s, PONG_PATIENCE * self._slowest_s))

    def next_ping_s(self, *, user_waits: bool) -> float:
        """Return the seconds from a pong to the next ping."""
        return PING_WAITING_S if user_waits else PING_EVERY_S


class LatencyTrend:
    """Trend of the latencies of one connection's answers."""

    def __init__(self) -> None:
        self._first: list[float] = []
        self._newest: deque[float] = deque(maxlen=TREND)
        self._is_told = False

    def add(self, latency_ms: float) -> tuple[float, float] | None:
        """Add a latency; return the medians (ms) of then and now once it has doubled."""
        if len(self._first) < TREND:
            self._first.append(latency_ms)
            return None
        self._newest.append(latency_ms)
        if len(self._newest) < TREND or self._is_told:
            return None
        first, newest = (sorted(latencies)[TREND // 2] for latencies in (self._first, self._newest))
        self._is_told = newest >= SLOWER * first and newest - first >= SLOWER_MS
        return (first, newest) if self._is_told else None
