"""A recorded session behind the same interface as a live one."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock, LoopClock
from gemini_live_runtime.commands import Command, HangUp
from gemini_live_runtime.engine.link import Bye, Hello, LinkClosed, LinkMessage, Snapshot
from gemini_live_runtime.journal.fold import apply
from gemini_live_runtime.journal.reader import Journal
from gemini_live_runtime.journal.view import SessionView

_BREATH = 64
"""Events handed out before other tasks get a turn."""


class ReplayLink:
    """A `Link` over a journal.

    The snapshot is the fold at event `start` (0: the empty view); the events after it follow at once, or with their own
    timing times `speed` when that is given (2.0 is twice as fast). Commands are refused, but hanging up ends it all.
    `Bye` comes after the last event; a refusal takes a number of its own, so numbers after it are one higher than in
    the file.
    """

    def __init__(
        self, journal: Journal, *, start: int = 0, speed: float | None = None, clock: Clock | None = None
    ) -> None:
        self._clock = clock or LoopClock()
        self._speed = speed
        self._events: Iterator[ev.Event] = iter(journal)
        self._next: ev.Event | None = None
        view = SessionView()
        for event in self._events:
            if event.seq > start:
                self._next = event
                break
            apply(view, event)
        self._ready: deque[LinkMessage] = deque([Hello(journal.session_id, 0, view.program), Snapshot(view)])
        self._seq, self._t, self._turn, self._gen = view.seq, view.t, view.turn, view.gen
        self._refused = 0
        self._given = 0
        self._origin: float | None = None
        self._ended = ""
        self._changed = asyncio.Event()

    async def receive(self) -> LinkMessage:
        """The next message; raises `LinkClosed` after `Bye`."""
        while True:
            if self._ready:
                return self._ready.popleft()
            if self._ended:
                raise LinkClosed(self._ended)
            if self._next is None:
                self._end("The recording ends here")
                continue
            wait = self._wait(self._next)
            if wait <= 0:
                return await self._advance(self._next)
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), wait)

    async def send(self, command: Command) -> None:
        """Refuse `command`, or end the replay when it is `HangUp`; raises `LinkClosed` after the end."""
        if self._ended:
            raise LinkClosed(self._ended)
        if isinstance(command.order, HangUp):
            self._end("The replay was closed")
        else:
            self._refused += 1
            self._seq += 1
            reason = "This is a recording: it can only be watched."
            refusal = ev.CommandRefused(command_id=command.id, command=command.order.command, reason=reason)
            self._ready.append(ev.Event(self._seq, self._t, self._turn, self._gen, refusal))
        self._changed.set()

    async def close(self) -> None:
        """End the replay."""
        self._ready.clear()
        self._ended = self._ended or "The replay was closed"
        self._changed.set()

    def _end(self, reason: str) -> None:
        self._ended = reason
        self._ready.append(Bye(f"{reason}.", 0))

    def _wait(self, event: ev.Event) -> float:
        if self._speed is None:
            return 0.0
        now = self._clock.now()
        if self._origin is None:
            self._origin = now - self._t / self._speed
        return self._origin + event.t / self._speed - now

    async def _advance(self, event: ev.Event) -> LinkMessage:
        self._next = next(self._events, None)
        self._given += 1
        self._seq, self._t, self._turn, self._gen = event.seq + self._refused, event.t, event.turn, event.gen
        if self._given % _BREATH == 0:
            await asyncio.sleep(0)
        return replace(event, seq=self._seq) if self._refused else event
