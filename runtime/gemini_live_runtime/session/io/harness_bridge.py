"""Follow a session's tool calls from their ends to the model."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import replace
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.listeners.subscription import Subscription

NO_CONNECTION = "the session ended before there was a connection for it"
MAY_BE_LOST = "the connection was lost before the model showed that it has it"


class HarnessToolCompletionDisposition(StrEnum):
    """Way in which a tool call ended for the model."""

    RESPONDED = "responded"
    """The tool has a result, or goes on as a task."""

    FAILED = "failed"
    """The answer says that the tool raised, took too long, or was not run."""

    CANCELLED = "cancelled"
    """The server wants no answer."""


@record
class HarnessToolCompletion:
    """End of a tool call, with the answer for the model.

    `task_id` is that of the task as which the call goes on; "" for a call that has ended.
    """

    call_id: str
    call_name: str
    disposition: HarnessToolCompletionDisposition
    response: dict[str, Any]
    task_id: str = ""


@record
class ForwardOutcome:
    """Call whose answer has gone to the server, or needs none.

    `failure` is "" then; else it says why the answer did not arrive, or may not have.
    """

    completion: HarnessToolCompletion
    failure: str = ""

    @property
    def is_forwarded(self) -> bool:
        """True when the server has the answer."""
        return not self.failure and self.completion.disposition is not HarnessToolCompletionDisposition.CANCELLED


class HarnessRuntimeBridge:
    """Asynchronous iterator of tool calls, each once its answer has gone out.

    The outcome of one that cannot go out has a failure. The iterator begins with calls that end after
    `HarnessController.bridge`, and ends with the session, or with the `async with` block.
    """

    def __init__(self, events: Subscription) -> None:
        """`events` are those of the session."""
        self._events = events
        self._waiting: dict[str, HarnessToolCompletion] = {}
        """Calls whose answers wait for a connection."""
        self._ready: deque[ForwardOutcome] = deque()

    def __aiter__(self) -> AsyncIterator[ForwardOutcome]:
        return self

    async def __anext__(self) -> ForwardOutcome:
        while not self._ready:
            self._take((await anext(self._events)).payload)
        return self._ready.popleft()

    async def __aenter__(self) -> HarnessRuntimeBridge:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._events.close()

    def _take(self, payload: ev.Payload) -> None:
        match payload:
            case ev.ToolFinished():
                completion = _completion(payload)
                if payload.delivered or payload.status == "cancelled":
                    self._ready.append(ForwardOutcome(completion))
                else:
                    self._waiting[payload.call_id] = completion
            case ev.SendSettled(kind="answer", outcome=outcome, ref=ref) if ref in self._waiting:
                failure = "" if outcome in ("sent", "told", "resent") else MAY_BE_LOST
                self._ready.append(ForwardOutcome(self._waiting.pop(ref), failure))
            case ev.SessionEnded():
                self._ready.extend(ForwardOutcome(one, NO_CONNECTION) for one in self._waiting.values())
                self._waiting.clear()
            case _:
                pass


def _completion(ended: ev.ToolFinished) -> HarnessToolCompletion:
    of = HarnessToolCompletionDisposition
    answered = HarnessToolCompletion(ended.call_id, ended.name, of.RESPONDED, dict(ended.result), ended.task)
    if ended.status == "ok":
        return answered
    return replace(answered, disposition=of.CANCELLED if ended.status == "cancelled" else of.FAILED)
