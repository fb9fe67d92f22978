"""Deliver a session's events to the program that embeds it.

Each subscriber has a bounded queue for each class of event; at the limit the oldest event of the class is dropped and
counted. So a slow subscriber never delays the session, and a flood of metrics never displaces a control event.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from types import TracebackType
from typing import Literal, TypeAlias

from gemini_live_runtime.events import Event
from gemini_live_runtime.session.definition.definition import DeliveryConfig
from gemini_live_runtime.session.ports.loop_calls import Wakeup

LiveEvent: TypeAlias = Event
"""Event as a subscriber gets it: the same as in the journal."""

DeliveryClass = Literal["transcript", "control", "telemetry"]

_TELEMETRY = frozenset(
    ("meters", "telemetry.reported", "turn.measured", "playback.heard", "wire.message", "wire.audio", "usage.reported")
)


def class_of(event: Event) -> DeliveryClass:
    """Return the delivery class of an event."""
    if event.type == "transcript.delta":
        return "transcript"
    return "telemetry" if event.type in _TELEMETRY else "control"


class Subscription:
    """Asynchronous iterator of events that never delays the session.

    To stop before the session ends, call `close` or use an `async with` block. For one reader at a time, on any thread.
    """

    def __init__(
        self, name: str, config: DeliveryConfig, on_closed: Callable[[Subscription], None] | None = None
    ) -> None:
        """Create a subscription; `close` calls `on_closed`."""
        self.name = name
        self._on_closed = on_closed
        self.dropped: Counter[str] = Counter()
        """Number of events dropped, by class."""
        self._limits = {
            "transcript": config.transcript.limit,
            "control": config.control.limit,
            "telemetry": config.telemetry.limit,
        }
        self._queues: dict[str, deque[Event]] = {name: deque() for name in self._limits}
        self._wakeup = Wakeup()
        self._ended = False
        self._reported: Counter[str] = Counter()

    def push(self, event: Event) -> None:
        """Queue an event; at the limit drop the oldest of its class.

        Events after the end are ignored.
        """
        if self._ended:
            return
        kind = class_of(event)
        queue = self._queues[kind]
        queue.append(event)
        if len(queue) > self._limits[kind]:
            queue.popleft()
            self.dropped[kind] += 1
        self._wakeup.set()

    def close(self) -> None:
        """Stop the subscription and discard its queued events."""
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
        """Refuse further events; those that are queued can still be read."""
        self._ended = True
        self._wakeup.set()

    def take_over(self, other: Subscription) -> None:
        """Take the events that another subscription has queued."""
        self._queues, self.dropped = other._queues, other.dropped

    def newly_dropped(self) -> dict[str, int]:
        """Return the number of events dropped since the last call, by class."""
        new = self.dropped - self._reported
        self._reported = Counter(self.dropped)
        return dict(new)

    def _next(self) -> Event | None:
        # One queue per class, but the reader gets the events in their order.
        waiting = [queue for queue in self._queues.values() if queue]
        return min(waiting, key=lambda queue: queue[0].seq).popleft() if waiting else None

    def _is_due(self) -> bool:
        return self._ended or any(self._queues.values())

    def __aiter__(self) -> AsyncIterator[Event]:
        return self

    async def __anext__(self) -> Event:
        while True:
            event = self._next()
            if event is not None:
                return event
            if self._ended:
                raise StopAsyncIteration
            await self._wakeup.wait_unless(self._is_due)


class Subscribers:
    """Subscriptions of one session's events."""

    def __init__(self, config: DeliveryConfig, on_left: Callable[[Subscription], None]) -> None:
        """Create an empty set; `on_left` gets each subscription that is removed."""
        self._config = config
        self._on_left = on_left
        self._readers: tuple[Subscription, ...] = ()
        self._ended = False
        self._early: Subscription | None = None

    def __iter__(self) -> Iterator[Subscription]:
        return iter(self._readers)

    def keep_early(self) -> None:
        """Keep the events from here on for the first subscription, until `end_early`."""
        self._early = Subscription("early events", self._config)

    def end_early(self) -> None:
        """Keep no more events for the first subscription than there are."""
        if self._early is not None:
            self._early.end()

    def add(self, name: str) -> Subscription:
        """Return a new subscription of every event from now on.

        The first one begins with the early events.
        """
        subscription = Subscription(name, self._config, self.leave)
        early, self._early = self._early, None
        if early is not None:
            subscription.take_over(early)
        if self._ended:
            subscription.end()
        else:
            self._readers = (*self._readers, subscription)
        return subscription

    def leave(self, subscription: Subscription) -> None:
        """Remove a subscription; its queued events can still be read."""
        if subscription in self._readers:
            self._readers = tuple(other for other in self._readers if other is not subscription)
            subscription.end()
            self._on_left(subscription)

    def push(self, event: Event) -> None:
        """Queue an event for each subscription."""
        if self._early is not None:
            self._early.push(event)
        for subscription in self._readers:
            subscription.push(event)

    def end(self) -> None:
        """End all subscriptions, those added later too."""
        self._ended = True
        for subscription in self._readers:
            subscription.end()
        self._readers = ()
