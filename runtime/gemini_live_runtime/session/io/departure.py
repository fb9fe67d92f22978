"""Leave a connection: at once, or in a pause before a moment."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError
from gemini_live_runtime.journal.recording.wire_recorder import WireRecorder
from gemini_live_runtime.session.link.ends import LinkEnd
from gemini_live_runtime.session.ports.provider import RealtimeProviderAdapter

if TYPE_CHECKING:
    from gemini_live_runtime.session.link.controller import RealtimeSessionController

LEAVE_EARLY_S = 2.0
"""Seconds before the server closes at which the connection is left at the latest."""

LEAVE_QUIET_S = 0.5
"""Seconds of quiet that are taken as a pause in which to leave."""

RENEW_WITHIN_S = 10.0
"""Seconds in which a pause is looked for when a new instruction needs a new connection."""

ROTATE_QUIET_S = 2.0
"""Seconds of quiet in which a connection near its age limit is left: there is no hurry."""

MOVING = "Moving to another connection"

ASLEEP = "Closed because nothing goes on"

_REASONS = {LinkEnd.MOVED: "moving to another connection", LinkEnd.DORMANT: "nothing goes on"}
"""Reasons of the closes that are ours, for the server."""


class Departure:
    """Leaving of the present connection of one session."""

    def __init__(
        self,
        link: RealtimeSessionController,
        recorder: WireRecorder,
        clock: Clock,
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        """`pause(seconds)` returns once the session has been quiet for so long."""
        self._link = link
        self._recorder = recorder
        self._clock = clock
        self._pause = pause
        self._leaving: asyncio.Task[None] | None = None
        self._leaves_at = 0.0
        self.left: tuple[LinkEnd, GeminiLiveError] | None = None
        """Class and reason of leaving the present connection; None when the server or the network ended it."""
        self.is_unheard = False
        """True for a connection of an agent that no longer speaks."""
        self.is_outdated = False
        """True when the connection that is being made has another setup than the agent needs by now."""

    def begin(self) -> None:
        """Note that another connection is being made."""
        self.left, self.is_unheard = None, False

    def end(self) -> None:
        """Note that the connection has ended."""
        self.cancel()
        self._leaving = None

    def cancel(self) -> None:
        """Leave no more: another part closes the connection."""
        if self._leaving is not None:
            self._leaving.cancel()

    def on_go_away(self, event: ev.Event) -> None:
        """Move to another connection in a pause, before the server closes this one.

        Without a handle there is nothing to move to; the loss is dealt with when it comes.
        """
        going = event.payload
        assert isinstance(going, ev.ConnectionGoAway)
        if going.time_left_s is not None:
            self._depart(going.time_left_s - LEAVE_EARLY_S, LEAVE_QUIET_S, fresh=False)

    def sleep(self) -> None:
        """Close the connection until something is to be said; nothing without one."""
        adapter = self._link.adapter
        if adapter is not None and self._link.is_open:
            self.leave_at_once(adapter, LinkEnd.DORMANT, ConnectionClosedError(ASLEEP, close_code=1000, by_us=True))

    def renew(self) -> None:
        """Renew the connection in the next pause, or soon.

        The instruction cannot change on the present one.

        Without a handle it begins a fresh server session, which gets the conversation so far.
        """
        self.is_outdated = True
        self._depart(RENEW_WITHIN_S, 0.0, fresh=True)

    def move_now(self, *, fresh: bool) -> None:
        """Leave the connection at once for another one, and hear no more of it.

        A `fresh` one begins a server session of its own, which gets the conversation so far.
        """
        if fresh:
            self._link.forget_handle()
        self.is_outdated = True
        adapter = self._link.adapter
        if adapter is not None:
            self.is_unheard = True
            self.leave_at_once(adapter, LinkEnd.MOVED, ConnectionClosedError(MOVING, close_code=1001))

    def leave(self, reason: Literal["stalled", "stopped", "old", "cleared"]) -> None:
        """Leave the connection: at once, an old one in a pause."""
        adapter = self._link.adapter
        if reason == "old":
            self._depart(math.inf, ROTATE_QUIET_S, fresh=False)
        elif adapter is not None and reason == "cleared":
            self.leave_at_once(adapter, LinkEnd.MOVED, ConnectionClosedError(MOVING, close_code=1001))
        elif adapter is not None:
            what = "The model's answer has stopped" if reason == "stopped" else "The model has not answered"
            error = ConnectionClosedError(f"{what} for {self._link.policy.no_answer_s:g} s", close_code=1001)
            self.leave_at_once(adapter, LinkEnd.STALLED, error)

    def leave_at_once(self, adapter: RealtimeProviderAdapter, end: LinkEnd, error: GeminiLiveError) -> None:
        """Close a connection, and note why; do nothing for a closed one."""
        if adapter.closed:
            return
        self._recorder.flush()
        self.left = (end, error)
        reason = _REASONS.get(end, "no sign of life")
        self.cancel()
        code = 1000 if end is LinkEnd.DORMANT else 1001
        self._leaving = asyncio.create_task(adapter.close(code, reason), name="leave the connection")

    def _depart(self, within_s: float, quiet_s: float, *, fresh: bool) -> None:
        adapter = self._link.adapter
        if adapter is None or adapter.closed:
            return
        at = self._clock.now() + max(0.0, within_s)
        if self._leaving is not None and not self._leaving.done():
            if at >= self._leaves_at:
                return
            self._leaving.cancel()
        self._leaves_at = at
        self._leaving = asyncio.create_task(self._move(adapter, at, quiet_s, fresh), name="move to another connection")

    async def _move(self, adapter: RealtimeProviderAdapter, at: float, quiet_s: float, fresh: bool) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(None if at == math.inf else max(0.0, at - self._clock.now())):
                await self._pause(quiet_s)
        if not (fresh or self._link.handle) and at != math.inf:
            # One may still come: a server gives none while a tool runs.
            await self._clock.sleep(at - self._clock.now())
        if (fresh or self._link.handle) and not adapter.closed:
            self._recorder.flush()
            self.left = (LinkEnd.MOVED, ConnectionClosedError(MOVING, close_code=1001))
            await adapter.close(1001, "moving to another connection")
