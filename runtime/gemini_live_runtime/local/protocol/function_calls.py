"""Track open function calls: awaited, answered, given up."""

from __future__ import annotations

import asyncio
import itertools
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gemini_live_runtime.local.parts import ToolRequest
from gemini_live_runtime.local.protocol.refusal import NOT_FOUND, VIOLATION, Refusal, invalid
from gemini_live_runtime.records import record
from gemini_live_runtime.wire.messages import FunctionCall, FunctionResponse, Scheduling

CALL_TIMEOUT_S = 30.0
"""Seconds until a blocking call is cancelled; the dialogue then says so."""

BACKGROUND_CALL_TIMEOUT_S = 600.0
"""Seconds until a non-blocking call is cancelled."""

MAX_OPEN_CALLS = 64
"""Most open calls of a session; further calls get an error as their result."""

MAX_REMEMBERED_IDS = 10_000
"""Issued ids kept, so that a response that crosses a cancellation is not a violation."""

_STRENGTH = {Scheduling.SILENT: 0, Scheduling.WHEN_IDLE: 1, Scheduling.INTERRUPT: 2}


class CallIds:
    """Issuer of call ids for a server; a resumed session may get late responses."""

    def __init__(self) -> None:
        self._issued: OrderedDict[str, None] = OrderedDict()

    def make(self) -> str:
        """Return a new id."""
        call_id = f"function-call-{secrets.randbits(63)}"
        self._issued[call_id] = None
        if len(self._issued) > MAX_REMEMBERED_IDS:
            self._issued.popitem(last=False)
        return call_id

    def knows(self, call_id: str) -> bool:
        """Return True when this server issued `call_id`."""
        return call_id in self._issued


@dataclass(slots=True, eq=False)
class CallBatch:
    """Calls of one reply; `done` is set when all have their results."""

    requests: tuple[ToolRequest, ...]
    ids: tuple[str, ...]
    blocking: bool
    in_turn: bool = True
    """True when the turn that made the calls waits for their results."""
    answers: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    scheduling: Scheduling = Scheduling.SILENT
    given_up: tuple[str, ...] = ()
    done: asyncio.Event = field(default_factory=asyncio.Event)
    timer: asyncio.TimerHandle | None = None

    @property
    def calls(self) -> tuple[FunctionCall, ...]:
        """The calls as sent."""
        return tuple(
            FunctionCall(id=call_id, name=request.name, args=request.args)
            for call_id, request in zip(self.ids, self.requests, strict=True)
        )

    def request_of(self, call_id: str) -> ToolRequest:
        """Return the request of `call_id`."""
        return self.requests[self.ids.index(call_id)]

    def results(self) -> list[tuple[ToolRequest, Mapping[str, Any]]]:
        """Return the results.

        A call given up has an error with `timeout`; one that ended without a result is left out.
        """
        given_up = {"error": f"No answer within {self.patience_s:g} s", "timeout": True}
        return [
            (self.request_of(call_id), self.answers.get(call_id, given_up))
            for call_id in self.ids
            if call_id in self.answers or call_id in self.given_up
        ]

    def answered(self) -> list[tuple[ToolRequest, Mapping[str, Any]]]:
        """Return the results so far."""
        return [(self.request_of(call_id), answer) for call_id, answer in self.answers.items()]

    @property
    def patience_s(self) -> float:
        """Seconds until the calls are cancelled."""
        return CALL_TIMEOUT_S if self.blocking else BACKGROUND_CALL_TIMEOUT_S


@record
class CallResults:
    """Results of calls, and how they enter the conversation."""

    results: Sequence[tuple[ToolRequest, Mapping[str, Any]]]
    scheduling: Scheduling = Scheduling.WHEN_IDLE
    more: bool = False
    """True when more results of the calls follow."""


class FunctionCalls:
    """Open calls of a session; `on_results` gets results that no turn waits for."""

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
        """True while a call is open."""
        return bool(self._open)

    def open_blocking(self) -> tuple[CallBatch, ...]:
        """Return the blocking calls that are open."""
        return tuple(dict.fromkeys(batch for batch in self._open.values() if batch.blocking))

    def has_capacity(self, count: int) -> bool:
        """Return True when `count` more calls may be opened."""
        return len(self._open) + count <= MAX_OPEN_CALLS

    def open(self, requests: tuple[ToolRequest, ...], *, blocking: bool, in_turn: bool) -> CallBatch:
        """Register the calls of a reply and return them for sending."""
        batch = CallBatch(requests, tuple(self._ids.make() for _ in requests), blocking, in_turn)
        self._open.update(dict.fromkeys(batch.ids, batch))
        if not in_turn:
            loop = asyncio.get_running_loop()
            batch.timer = loop.call_later(batch.patience_s, self._on_expired, batch)
        return batch

    def answer(self, response: FunctionResponse) -> None:
        """Take a response; raise `Refusal` for an unknown or answered id."""
        call_id = response.id or ""
        if not call_id:
            raise invalid("a function response has no id")
        batch = self._open.get(call_id)
        if batch is None:
            if self._ids.knows(call_id) and call_id not in self._answered:
                # A late response that crossed the cancellation of its call.
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
        # An empty last response of a generator adds no result.
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
        if not batch.in_turn and batch.answers:
            # Scheduling is for non-blocking calls only.
            scheduling = Scheduling.WHEN_IDLE if batch.blocking else batch.scheduling
            self._on_results(CallResults(batch.results(), scheduling))

    def give_up(self, batch: CallBatch) -> tuple[str, ...]:
        """Stop waiting for `batch` and return the ids to cancel.

        Late responses to them are ignored.
        """
        cancelled = tuple(call_id for call_id in batch.ids if self._open.pop(call_id, None) is not None)
        batch.given_up = cancelled
        if batch.timer is not None:
            batch.timer.cancel()
        return cancelled

    def give_up_blocking(self) -> tuple[str, ...]:
        """Give up the blocking calls, at an interruption; return their ids."""
        return tuple(itertools.chain.from_iterable(self.give_up(batch) for batch in self.open_blocking()))

    def close(self) -> None:
        """Stop all timers."""
        for batch in set(self._open.values()):
            self.give_up(batch)
