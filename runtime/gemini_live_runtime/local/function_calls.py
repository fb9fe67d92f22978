"""Function calls under way: who is waited for, what came back, what nobody wants any more."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gemini_live_runtime.local.parts import ToolRequest
from gemini_live_runtime.local.refusal import NOT_FOUND, VIOLATION, Refusal, invalid
from gemini_live_runtime.wire.messages import FunctionCall, FunctionResponse, Scheduling

CALL_TIMEOUT_S = 30.0
"""How long a blocking call is waited for; then it is cancelled and the dialogue says so."""

BACKGROUND_CALL_TIMEOUT_S = 600.0
"""The same for a non-blocking one."""

MAX_OPEN_CALLS = 64
"""Calls of one session that may wait for their results; a dialogue that wants more gets an error as the result."""

MAX_REMEMBERED_IDS = 10_000
"""Ids a server remembers, so that an answer which crossed a cancellation on its way is no violation."""

_STRENGTH = {Scheduling.SILENT: 0, Scheduling.WHEN_IDLE: 1, Scheduling.INTERRUPT: 2}


class CallIds:
    """Makes ids and remembers them, for all connections of a server: a resumed session may get late answers."""

    def __init__(self) -> None:
        self._issued: OrderedDict[str, None] = OrderedDict()

    def make(self) -> str:
        """A new id."""
        call_id = f"function-call-{secrets.randbits(63)}"
        self._issued[call_id] = None
        if len(self._issued) > MAX_REMEMBERED_IDS:
            self._issued.popitem(last=False)
        return call_id

    def knows(self, call_id: str) -> bool:
        """Whether this server issued `call_id`."""
        return call_id in self._issued


@dataclass(slots=True, eq=False)
class CallBatch:
    """The calls of one reply. `done` is set when all have answered; `results` go to the dialogue."""

    requests: tuple[ToolRequest, ...]
    ids: tuple[str, ...]
    blocking: bool
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    scheduling: Scheduling = Scheduling.SILENT
    given_up: tuple[str, ...] = ()
    done: asyncio.Event = field(default_factory=asyncio.Event)
    timer: asyncio.TimerHandle | None = None

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        """As they are sent."""
        return tuple(
            FunctionCall(id=call_id, name=request.name, args=request.args)
            for call_id, request in zip(self.ids, self.requests, strict=True)
        )

    def request_of(self, call_id: str) -> ToolRequest:
        """What `call_id` was made for."""
        return self.requests[self.ids.index(call_id)]

    def results(self) -> list[tuple[ToolRequest, Mapping[str, Any]]]:
        """What came back; a call that was given up has `timeout` in its place, one that brought nothing is left out."""
        given_up = {"error": f"No answer within {self.patience_s:g} s", "timeout": True}
        return [
            (self.request_of(call_id), self.answers.get(call_id, given_up))
            for call_id in self.ids
            if call_id in self.answers or call_id in self.given_up
        ]

    @property
    def patience_s(self) -> float:
        """How long its calls are waited for."""
        return CALL_TIMEOUT_S if self.blocking else BACKGROUND_CALL_TIMEOUT_S


@dataclass(frozen=True, slots=True)
class CallResults:
    """What came of calls, and how it shall enter the conversation."""

    results: Sequence[tuple[ToolRequest, Mapping[str, Any]]]
    scheduling: Scheduling = Scheduling.WHEN_IDLE
    more: bool = False
    """Whether the calls go on."""


class FunctionCalls:
    """The open calls of one session. `on_results` takes what arrives for non-blocking calls."""

    def __init__(
        self, ids: CallIds, on_results: Callable[[CallResults], None], on_expired: Callable[[CallBatch], None]
    ) -> None:
        self._ids = ids
        self._on_results = on_results
        self._on_expired = on_expired
        self._open: dict[str, CallBatch] = {}
        self._answered: OrderedDict[str, None] = OrderedDict()

    @property
    def pending(self) -> bool:
        """Whether any call waits for its result."""
        return bool(self._open)

    def has_capacity(self, count: int) -> bool:
        """Whether `count` more calls may be made."""
        return len(self._open) + count <= MAX_OPEN_CALLS

    def open(self, requests: tuple[ToolRequest, ...], *, blocking: bool) -> CallBatch:
        """Register the calls of one reply; the caller sends them."""
        batch = CallBatch(requests, tuple(self._ids.make() for _ in requests), blocking)
        self._open.update(dict.fromkeys(batch.ids, batch))
        if not blocking:
            loop = asyncio.get_running_loop()
            batch.timer = loop.call_later(batch.patience_s, self._on_expired, batch)
        return batch

    def answer(self, response: FunctionResponse) -> None:
        """Take one result; raises `Refusal` for an id that was never called, or that has had its answer."""
        call_id = response.id or ""
        if not call_id:
            raise invalid("a function response has no id")
        batch = self._open.get(call_id)
        if batch is None:
            if self._ids.knows(call_id) and call_id not in self._answered:
                return
            raise Refusal(VIOLATION, f"{NOT_FOUND}: no function call waits for a response with id {call_id[:40]!r}.")
        request = batch.request_of(call_id)
        if response.name and response.name != request.name:
            raise invalid(f"function response {call_id[:30]} is for {request.name[:25]}, not {response.name[:25]}")
        scheduling = response.scheduling if isinstance(response.scheduling, Scheduling) else Scheduling.WHEN_IDLE
        if response.will_continue:
            if not batch.blocking:
                self._on_results(CallResults([(request, response.response)], scheduling=scheduling, more=True))
            return
        del self._open[call_id]
        self._answered[call_id] = None
        if len(self._answered) > MAX_REMEMBERED_IDS:
            self._answered.popitem(last=False)
        # An empty last word of a generator brings nothing new.
        if response.response or response.will_continue is None or batch.blocking:
            batch.answers[call_id] = response.response
            if _STRENGTH[scheduling] > _STRENGTH[batch.scheduling]:
                batch.scheduling = scheduling
        self._settle(batch)

    def _settle(self, batch: CallBatch) -> None:
        if any(call_id in self._open for call_id in batch.ids):
            return
        batch.done.set()
        if batch.timer is not None:
            batch.timer.cancel()
        if not batch.blocking and batch.answers:
            self._on_results(CallResults(batch.results(), batch.scheduling))

    def give_up(self, batch: CallBatch) -> tuple[str, ...]:
        """Wait for `batch` no longer; return the ids to cancel. Late answers to them are ignored."""
        cancelled = tuple(call_id for call_id in batch.ids if self._open.pop(call_id, None) is not None)
        batch.given_up = cancelled
        if batch.timer is not None:
            batch.timer.cancel()
        return cancelled

    def give_up_blocking(self) -> tuple[str, ...]:
        """An interruption: blocking calls are cancelled, the others go on in the background."""
        batches = dict.fromkeys(batch for batch in self._open.values() if batch.blocking)
        return tuple(itertools.chain.from_iterable(self.give_up(batch) for batch in batches))

    def close(self) -> None:
        """Stop all timers."""
        for batch in set(self._open.values()):
            self.give_up(batch)
