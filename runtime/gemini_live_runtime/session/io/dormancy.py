"""Let a session sleep while nothing goes on, and wake it.

A dormant session has no connection, so nothing is billed. Its microphone, if it is open, is heard here alone: a word
wakes the session, and goes out from its beginning once there is a connection. So do a typed text, what the model is to
say, and a hand-off.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.io.connections import ConnectionManager
from gemini_live_runtime.session.ports.event_bus import EventBus


class Dormancy:
    """Sleep of one session."""

    def __init__(
        self,
        state: CoreState,
        connections: ConnectionManager,
        bus: EventBus,
        *,
        after_s: float,
        until_quiet: Callable[[float], Awaitable[None]],
    ) -> None:
        """Sleep after `after_s` seconds of quiet; 0 is never by itself.

        `until_quiet(seconds)` returns once the session has been quiet for so long.
        """
        self._state = state
        self._connections = connections
        self._after_s = after_s
        self._until_quiet = until_quiet
        self._woken = asyncio.Event()
        bus.subscribe(self._on_state, ev.SessionState)
        bus.subscribe(self._on_speech, ev.SpeechChanged)

    async def run(self) -> None:
        """Sleep whenever nothing goes on for long enough."""
        while self._after_s > 0:
            self._woken.clear()
            await self._until_quiet(self._after_s)
            if not self.sleep():
                # Held by the operator, or between two connections: look again later.
                await asyncio.sleep(self._after_s)
                continue
            await self._woken.wait()

    def sleep(self) -> bool:
        """Close the connection until something is to be said; False when it cannot be."""
        state = self._state
        if not state.link.is_open or state.is_held or state.ended or state.is_draining:
            return False
        self._connections.departure.sleep()
        return True

    def _on_state(self, event: ev.Event) -> None:
        assert isinstance(event.payload, ev.SessionState)
        if event.payload.word != "dormant":
            self._woken.set()

    def _on_speech(self, event: ev.Event) -> None:
        assert isinstance(event.payload, ev.SpeechChanged)
        if event.payload.status == "queued" and self._state.link.is_dormant:
            self._connections.wake("something to say")
