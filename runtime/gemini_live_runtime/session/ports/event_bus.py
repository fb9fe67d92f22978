"""Publish events: state changes first, the event, then its handlers.

Every event of a session passes here once, on the session's event loop:

1. State changes that wait are published first, so that no event comes before the write that led to it.
2. The sink stamps the event (sequence, time), keeps and forwards it.
3. Handlers run in the order of their subscription. One that raises is reported and the others still run.

A handler that publishes an event is suspended while that event's handlers run; handlers after it see the nested event
first. So handlers take notes and queue steps; what waits, or calls author's code, belongs on the task queue.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.ports.sink import EventSink

Handler = Callable[[ev.Event], None]

PRECEDE_STATE = frozenset((ev.StateChanged, ev.SessionStarted, ev.AgentDescribed))
"""Payloads that do not publish waiting state changes first."""


INTENT_S = 0.02
"""Longest time in seconds for which a typed text waits for the disk to have its intent."""

CALL_INTENT_S = 1.0
"""The same for a call: without its intent it is refused, and a busy disk takes a tenth of a second."""


class Ledger(Protocol):
    """Counter of turns or generations."""

    number: int
    """Number of the current one."""


class EventBus:
    """Bus of one session's events."""

    def __init__(self, sink: EventSink, turns: Ledger, generations: Ledger) -> None:
        """`emit` stamps events with the current numbers of `turns` and `generations`."""
        self._sink = sink
        self._turns = turns
        self._generations = generations
        self._subscriptions: list[tuple[Handler, frozenset[type], Collection[str]]] = []
        self._routes: dict[type, tuple[Handler, ...]] = {}
        self.seq = 0
        """Number of the newest event."""
        self.closed = False
        """True once nothing is published any more."""
        self._reporting = False
        self.publish_state: Callable[[], None] = _do_nothing
        """Publishes the state changes that wait."""
        self.on_fault: Callable[[str, Exception], None] = _ignore_fault
        """Called with what a handler that raised was given, in words, and its error."""

    def subscribe(self, handler: Handler, *kinds: type[ev.Payload], ignore: Collection[str] = ()) -> None:
        """Call `handler` for these payload types, or all but the names in `ignore`."""
        self._subscriptions.append((handler, frozenset(kinds), ignore))
        self._routes.clear()

    def emit(self, payload: ev.Payload) -> None:
        """Publish `payload` as an event of the current turn and generation."""
        self.publish(payload, self._turns.number, self._generations.number)

    def publish(self, payload: ev.Payload, turn: int, gen: int) -> None:
        """Publish `payload` as an event of this turn and generation.

        Never raises for a handler's fault.
        """
        kind = type(payload)
        if self.closed and kind is not ev.CommandRefused:
            # A program may keep the state and write to it; that is no longer part of the session.
            return
        if kind not in PRECEDE_STATE:
            self.publish_state()
        event = self._sink.emit(payload, turn=turn, gen=gen)
        self.seq = event.seq
        handlers = self._routes.get(kind)
        if handlers is None:
            handlers = self._routes[kind] = self._route(kind)
        for handler in handlers:
            try:
                handler(event)
            except Exception as error:
                # The publisher must go on: the reader of the wire, the audio worker, a timer.
                self.report(event.type, error)

    async def written(self, within_s: float = INTENT_S) -> bool:
        """Return True once all events so far survive the death of this process.

        False when the disk refused them, or took longer than `within_s` seconds.
        """
        self.publish_state()
        return await self._sink.written(within_s)

    def close(self) -> None:
        """Publish nothing from now on but refused commands."""
        self.closed = True

    def _route(self, kind: type[ev.Payload]) -> tuple[Handler, ...]:
        return tuple(
            handler
            for handler, kinds, ignore in self._subscriptions
            if (kind in kinds if kinds else kind.type not in ignore)
        )

    def report(self, what: str, error: Exception) -> None:
        """Report the error of a handler that was given `what`."""
        if self._reporting:
            # The report is an event too, and may fail in the same handler.
            return
        self._reporting = True
        try:
            self.on_fault(what, error)
        finally:
            self._reporting = False


def _do_nothing() -> None:
    return None


def _ignore_fault(what: str, error: Exception) -> None:
    return None
