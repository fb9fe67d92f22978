"""Pace what may set itself off: at once for a while, then so often a second."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.state.mutations import Mutation

BURST = 200
"""Times that it is done at once before it is paced; above what a watcher may fire in a second."""

PER_S = 20.0
"""Times a second from then on."""

_ONE = 1 - 1e-6
"""Allowance that counts as a whole one: after the wait that was named, rounding must not ask for another moment."""

TELL_AGAIN_S = 60.0
"""Seconds between two reports that it is paced."""


def paced_notice(what: str, change: Mutation | None) -> ev.Notice:
    """Return the notice that `what` is paced, because of changes such as `change`."""
    last = "" if change is None else f" (last {change.key} by {change.origin})"
    text = f"State is written so often{last} that {what} only {PER_S:g} times a second"
    remedy = "Write it less often; what decides (a guard, an instruction, a rule) must not set off a write"
    return ev.Notice(level="warning", code="state", text=text, remedy=remedy)


class TokenBucket:
    """Allowance of `burst` uses, which grows by `per_s` a second up to `burst`."""

    __slots__ = ("_at", "_burst", "_per_s", "_tokens")

    def __init__(self, burst: int, per_s: float) -> None:
        self._burst = float(burst)
        self._per_s = per_s
        self._tokens = self._burst
        self._at = 0.0

    def wait_s(self, now: float) -> float:
        """Return the seconds until the next use is allowed; 0 when it is now."""
        self._tokens = min(self._burst, self._tokens + max(0.0, now - self._at) * self._per_s)
        self._at = now
        return 0.0 if self._tokens >= _ONE else (1 - self._tokens) / self._per_s

    def take(self, now: float) -> None:
        """Use one."""
        self.wait_s(now)
        self._tokens = max(0.0, self._tokens - 1)


class Throttle:
    """Caller of a function; one late call stands for all requests before it."""

    __slots__ = ("_bucket", "_clock", "_on_paced", "_run", "_tell_from", "_timer")

    def __init__(self, run: Callable[[], None], clock: Clock, *, on_paced: Callable[[], None]) -> None:
        """`on_paced` is called when requests come faster than the pace, once a minute."""
        self._run = run
        self._clock = clock
        self._on_paced = on_paced
        self._bucket = TokenBucket(BURST, PER_S)
        self._tell_from = float("-inf")
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_waiting(self) -> bool:
        """True when a call is due later."""
        return self._timer is not None

    def request(self) -> None:
        """Call the function now or, at the pace, a little later."""
        if self._timer is not None:
            return
        now = self._clock.now()
        wait = self._bucket.wait_s(now)
        if wait <= 0:
            self._bucket.take(now)
            self._run()
            return
        self._timer = asyncio.get_running_loop().call_later(wait, self._run_late)
        if now >= self._tell_from:
            self._tell_from = now + TELL_AGAIN_S
            self._on_paced()

    def _run_late(self) -> None:
        self._timer = None
        self._bucket.take(self._clock.now())
        self._run()

    def close(self) -> None:
        """Call no more what is due later."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
