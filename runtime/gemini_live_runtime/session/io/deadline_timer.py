"""Call the core when its deadline has come."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from gemini_live_runtime.clock import Clock

TIMER_GRAIN_S = 0.001
"""Seconds by which the timer may be late."""

FAULT_REST_S = 1.0
"""Seconds before the timer looks again after a fault, which may still be there."""


class DeadlineTimer:
    """Timer for the next deadline of the core."""

    def __init__(self, clock: Clock, deadline: Callable[[float], float | None], tick: Callable[[], bool]) -> None:
        """Create a timer.

        `deadline` gets the time and returns the seconds to wait, or None; `tick` does what is due and returns False
        after a fault.
        """
        self._clock = clock
        self._deadline = deadline
        self._tick = tick
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._is_over = False

    def schedule(self) -> None:
        """Look at the deadline, which may have moved."""
        if self._is_over:
            return
        now = self._clock.now()
        wait = self._deadline(now)
        # A hair later than asked: rounding must not make a timer fire before its moment, again and again.
        due = None if wait is None else now + wait + TIMER_GRAIN_S
        # Most changes leave the deadline where it was: a timer is only made when it moves.
        if self._timer is not None:
            if due is not None and abs(self._due - due) < TIMER_GRAIN_S:
                return
            self._timer.cancel()
            self._timer = None
        if due is not None:
            self._start(due)

    def stop(self) -> None:
        """Call the core no more."""
        self._is_over = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _start(self, due: float) -> None:
        self._due = due
        self._timer = asyncio.get_running_loop().call_at(due, self._on_due)

    def _on_due(self) -> None:
        self._timer = None
        if not self._tick() and not self._is_over:
            self._start(self._clock.now() + FAULT_REST_S)
