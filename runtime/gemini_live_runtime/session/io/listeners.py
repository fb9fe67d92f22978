"""Call the listeners of an `AgentSession`, one view after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.session.agent.listeners.session_events import SessionEvent, check_event_name, listener_place
from gemini_live_runtime.session.ports.loop_calls import Wakeup
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.mutations import Origin

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.user_code import UserCode

MAX_WAITING = 1000
"""Views that wait for a slow reader; then the oldest are dropped."""


class SessionListeners:
    """Listeners of a session, which outlive its connection and may be added before it."""

    def __init__(self) -> None:
        self._listeners: dict[str, list[tuple[Callable[..., Any], str]]] = {}
        self._streams: list[EventStream] = []

    def add(self, name: str, listener: Any) -> None:
        """Call `listener(event)` for each event of this name.

        Raises `AgentError` for an unknown name, and for what cannot be called.
        """
        name = check_event_name(name)
        if not callable(listener):
            raise AgentError(
                f"A listener of {name} cannot be {listener!r:.60}",
                remedy="Give a function of the event",
                field="listener",
                value=type(listener).__name__,
            )
        self._listeners.setdefault(name, []).append((listener, caller_place()))

    def remove(self, name: str, listener: Any) -> None:
        """Call a listener no more; raises `AgentError` for one that was not added."""
        found = self._listeners.get(check_event_name(name), [])
        kept = [item for item in found if item[0] != listener]
        if len(kept) == len(found):
            raise AgentError(
                f"{function_name(listener)} does not listen to {name}",
                remedy="Give the function that was given to on",
                field="listener",
            )
        self._listeners[name] = kept

    def stream(self, names: tuple[str, ...]) -> EventStream:
        """Return an iterator of the events of these names, all without one."""
        stream = EventStream(frozenset(map(check_event_name, names)), self._streams.remove)
        self._streams.append(stream)
        return stream

    def publish(self, view: SessionEvent, code: UserCode) -> None:
        """Call the listeners of a view soon, in the order of the views."""
        for stream in self._streams:
            stream.push(view)
        for listener, place in self._listeners.get(view.type, ()):
            # Not at once: a listener may act on the session, which is in the middle of a decision.
            asyncio.get_running_loop().call_soon(self._call, listener, place, view, code)

    def end(self) -> None:
        """End the iterators: the session has closed."""
        streams, self._streams = self._streams, []
        for stream in streams:
            stream.end()

    def _call(self, listener: Callable[..., Any], place: str, view: SessionEvent, code: UserCode) -> None:
        origin = Origin("callback", function_name(listener), view.type)
        code.call(listener_place(view.type), listener, view, origin=origin, defined_at=place)


class EventStream:
    """Asynchronous iterator of a session's views, which ends with the session."""

    def __init__(self, names: frozenset[str], on_closed: Callable[[EventStream], None]) -> None:
        self._names = names
        self._on_closed: Callable[[EventStream], None] | None = on_closed
        self._waiting: deque[SessionEvent] = deque(maxlen=MAX_WAITING)
        self._wakeup = Wakeup()
        self._ended = False
        self.dropped = 0
        """Number of views that a slow reader has lost."""

    def push(self, view: SessionEvent) -> None:
        """Queue a view; at the limit drop the oldest."""
        if not self._names or view.type in self._names:
            self.dropped += len(self._waiting) == MAX_WAITING
            self._waiting.append(view)
            self._wakeup.set()

    def end(self) -> None:
        """Take no more views; those that wait can still be read."""
        self._ended, self._on_closed = True, None
        self._wakeup.set()

    def close(self) -> None:
        """Stop, and discard what waits."""
        on_closed = self._on_closed
        self.end()
        self._waiting.clear()
        if on_closed is not None:
            on_closed(self)

    def __aiter__(self) -> AsyncIterator[SessionEvent]:
        return self

    async def __anext__(self) -> SessionEvent:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            await self._wakeup.wait_unless(lambda: self._ended or bool(self._waiting))
        return self._waiting.popleft()
