"""Ping a connection's server, and tell when nothing comes from it any more."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.link.watchdog import SilenceWatchdog
from gemini_live_runtime.session.ports.provider import MeasuresRoundTrip

TIMER_GRAIN_S = 0.001
"""Seconds by which a timer may be early."""

Ping = asyncio.Task[float | None]


class RoundTrips:
    """Pings of one session, over all its connections.

    `frames` returns the number of messages received so far, each of which is a sign of life. `on_pong` gets the seconds
    of each round trip.
    """

    def __init__(
        self,
        watchdog: SilenceWatchdog,
        clock: Clock,
        *,
        frames: Callable[[], int],
        on_pong: Callable[[float], None],
    ) -> None:
        self._watchdog = watchdog
        self._clock = clock
        self._frames = frames
        self._on_pong = on_pong
        self._user_waits = False
        self._changed = asyncio.Event()

    def set_user_waits(self, waits: bool) -> None:
        """Note that the user speaks, waits for an answer or hears one, or no longer does."""
        if waits is not self._user_waits:
            self._user_waits = waits
            self._changed.set()

    async def until_dead(self, adapter: MeasuresRoundTrip) -> float | None:
        """Return after how many seconds of silence the server counts as dead.

        None for a connection that cannot be pinged, or is closed.
        """
        pings: set[Ping] = set()
        try:
            while True:
                asked_at, frames = self._clock.now(), self._frames()
                pings.add(asyncio.create_task(adapter.round_trip(), name="ping"))
                answered, limit_s = await self._first_pong(pings, asked_at)
                if not answered:
                    if self._frames() == frames:
                        return limit_s
                    # It lives, though it answers no pings.
                    continue
                pings -= answered
                for ping in answered:
                    if (seconds := ping.result()) is None:
                        return None
                    self._watchdog.on_pong(seconds)
                    self._on_pong(seconds)
                await self._pause()
        finally:
            for ping in pings:
                ping.cancel()

    async def _first_pong(self, pings: set[Ping], asked_at: float) -> tuple[set[Ping], float]:
        """Return the pings that are answered, and the limit; none when it was reached."""
        user_waits = False
        while True:
            # A short question into a dead socket is still one when the user waits no longer.
            user_waits = user_waits or self._user_waits
            limit_s = self._watchdog.limit_s(user_waits=user_waits)
            left_s = asked_at + limit_s - self._clock.now()
            if left_s <= TIMER_GRAIN_S:
                return set(), limit_s
            self._changed.clear()
            changed = asyncio.create_task(self._changed.wait(), name="the user waits")
            try:
                await asyncio.wait((*pings, changed), timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
            if answered := {ping for ping in pings if ping.done()}:
                return answered, limit_s

    async def _pause(self) -> None:
        """Return when the next ping is due, or the user begins or ceases to wait."""
        self._changed.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._watchdog.next_ping_s(user_waits=self._user_waits)):
                await self._changed.wait()
