"""Events on their way to whoever embeds a session: bounded by class, the oldest dropped and counted."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Literal, TypeAlias

from gemini_live_runtime.events import Event
from gemini_live_runtime.session.definition.definition import DeliveryConfig

LiveEvent: TypeAlias = Event
"""What a subscriber gets: the same events that the journal keeps."""

DeliveryClass = Literal["transcript", "control", "telemetry"]

_TELEMETRY = frozenset(
    ("meters", "telemetry.reported", "turn.measured", "playback.heard", "wire.message", "wire.audio", "usage.reported")
)


def class_of(event: Event) -> DeliveryClass:
    """The delivery class of an event."""
    if event.type == "transcript.delta":
        return "transcript"
    return "telemetry" if event.type in _TELEMETRY else "control"


class Subscription:
    """An asynchronous iterator of events that never holds up the session.

    Who stops listening before the session ends should say so with `close`, or use it in an `async with` block. For one
    reader at a time.
    """

    def __init__(
        self, name: str, config: DeliveryConfig, on_closed: Callable[[Subscription], None] | None = None
    ) -> None:
        """`on_closed` is told when the reader wants no more."""
        self.name = name
        self._on_closed = on_closed
        self.dropped: Counter[str] = Counter()
        """Events dropped, by class."""
        self._limits = {
            "transcript": config.transcript.limit,
            "control": config.control.limit,
            "telemetry": config.telemetry.limit,
        }
        self._queues: dict[str, deque[Event]] = {name: deque() for name in self._limits}
        self._waiting = asyncio.Event()
        self._ended = False
        self._told: Counter[str] = Counter()

    def push(self, event: Event) -> None:
        """Offer an event; at the limit of its class the oldest of that class goes. None is taken after the end."""
        if self._ended:
            return
        kind = class_of(event)
        queue = self._queues[kind]
        queue.append(event)
        if len(queue) > self._limits[kind]:
            queue.popleft()
            self.dropped[kind] += 1
        self._waiting.set()

    def close(self) -> None:
        """Want no more events; what waits is forgotten."""
        for queue in self._queues.values():
            queue.clear()
        self.end()
        on_closed, self._on_closed = self._on_closed, None
        if on_closed is not None:
            on_closed(self)

    async def __aenter__(self) -> Subscription:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def end(self) -> None:
        """No more events will come; what waits can still be read."""
        self._ended = True
        self._waiting.set()

    def newly_dropped(self) -> dict[str, int]:
        """Drops since the last call, by class."""
        fresh = {kind: count - self._told[kind] for kind, count in self.dropped.items() if count > self._told[kind]}
        self._told = Counter(self.dropped)
        return fresh

    def _next(self) -> Event | None:
        waiting = [queue for queue in self._queues.values() if queue]
        return min(waiting, key=lambda queue: queue[0].seq).popleft() if waiting else None

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while True:
            event = self._next()
            if event is not None:
                return event
            if self._ended:
                raise StopAsyncIteration
            self._waiting.clear()
            await self._waiting.wait()


class Subscribers:
    """The readers of one session's events."""

    def __init__(self, config: DeliveryConfig, on_left: Callable[[Subscription], None]) -> None:
        """`on_left` gets a reader that wants no more."""
        self._config = config
        self._on_left = on_left
        self._readers: tuple[Subscription, ...] = ()
        self._over = False

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._readers)

    def add(self, name: str) -> Subscription:
        """A new reader of every event from now on, which may be slow."""
        subscription = Subscription(name, self._config, self.leave)
        if self._over:
            subscription.end()
        else:
            self._readers = (*self._readers, subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """No more events for this reader; it may still read what waits."""
        if subscription in self._readers:
            self._readers = tuple(other for other in self._readers if other is not subscription)
            subscription.end()
            self._on_left(subscription)

    def push(self, event: Event) -> None:
        """Offer an event to each."""
        for subscription in self._readers:
            subscription.push(event)

    def end(self) -> None:
        """No more events will come."""
        self._over = True
        for subscription in self._readers:
            subscription.end()
        self._readers = ()
