"""Tool calls: which may run, who answers, and what the model is told. Each call id gets exactly one final answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gemini_live_runtime.session.agent.callback_runner import CallbackRunner
from gemini_live_runtime.session.core.effects import RunTool
from gemini_live_runtime.state.store import State
from gemini_live_runtime.tools.background import ToolAnswer, acknowledgement, final_answer
from gemini_live_runtime.tools.dispatch import Outcome, ToolCall, ToolDispatcher
from gemini_live_runtime.tools.results import as_object, outcome


@dataclass(frozen=True, slots=True)
class AskedCall:
    """A call as `on_tool_call` listeners see it."""

    id: str
    name: str
    args: dict[str, Any]


@dataclass(slots=True)
class ToolResponse:
    """An answer as `before_tool_response` listeners see it; they may change `response`."""

    id: str
    name: str
    response: dict[str, Any]


class ToolExecutor:
    """Gates, starts and answers the calls of one session."""

    def __init__(
        self,
        dispatcher: ToolDispatcher,
        callbacks: CallbackRunner,
        state: State,
        *,
        allowed: Callable[[str], bool],
        phase: Callable[[], str],
        async_tools: bool,
        ended: Callable[[Outcome], None],
        acknowledge: Callable[[ToolCall, ToolAnswer], None],
        problem: Callable[[str, str, str, BaseException | None], None],
        about_to_call: Callable[[RunTool], Awaitable[None]],
        about_to_run: Callable[[], Awaitable[None]],
    ) -> None:
        """`ended` gets outcomes of calls that were not run; those that were go to the dispatcher's `on_finished`.

        `problem` gets the tool, what went wrong with its answer, the place of the code that did it, and its error.
        `about_to_call` returns when a call may pass the gate, `about_to_run` when those that passed may be run.
        """
        self.dispatcher = dispatcher
        self._callbacks = callbacks
        self._state = state
        self._allowed = allowed
        self._phase = phase
        self._async_tools = async_tools
        self._ended = ended
        self._acknowledge = acknowledge
        self._problem = problem
        self._about_to_call = about_to_call
        self._about_to_run = about_to_run
        self._waiting: set[str] = set()
        self._cancelled: set[str] = set()
        self._given: dict[str, dict[str, Any]] = {}

    @property
    def open_calls(self) -> int:
        """Calls that wait at the gate or run."""
        return len(self._waiting) + self.dispatcher.open_calls

    @property
    def waiting_calls(self) -> int:
        """Calls that wait at the gate."""
        return len(self._waiting)

    def arrived(self, calls: Sequence[RunTool]) -> None:
        """Calls came and will pass the gate when the control lane gets there."""
        self._waiting.update(call.call_id for call in calls)

    def cancel(self, call_id: str) -> None:
        """The server no longer wants an answer."""
        if call_id in self._waiting:
            self._cancelled.add(call_id)
        else:
            self.dispatcher.cancel(call_id)

    def answer_for(self, call_id: str, result: Any) -> bool:
        """Answer a running call in its tool's place; False when it is not running. Raises `TypeError` as JSON would."""
        if call_id not in self.dispatcher.active_ids:
            return False
        self._given[call_id] = as_object(result)
        return self.dispatcher.cancel(call_id)

    def given(self, ended: Outcome) -> Outcome:
        """The outcome with what `answer_for` gave in place of its own."""
        result = self._given.pop(ended.call_id, None)
        return ended if result is None else replace(ended, status="ok", result=result, cause="")

    async def gate(self, calls: Sequence[RunTool]) -> None:
        """Refuse what the phase does not allow, let listeners answer, run the rest."""
        admitted = []
        for call in calls:
            if call.call_id not in self._cancelled:
                await self._about_to_call(call)
        for call in calls:
            if self._allowed(call.name):
                admitted.append(call)
            else:
                self._refuse(call)
        given: dict[str, Any] = {}
        if admitted and self._callbacks.listeners("on_tool_call"):
            asked = [AskedCall(call.call_id, call.name, dict(call.args)) for call in admitted]
            given = await self._callbacks.tool_overrides(asked, self._state)
            await self._about_to_run()
        for call in admitted:
            self._waiting.discard(call.call_id)
            made = ToolCall(call.call_id, call.name, call.args)
            if call.call_id in self._cancelled:
                self._cancelled.discard(call.call_id)
                self._ended(outcome(made, "cancelled", {}))
            elif call.call_id in given:
                self._ended(self._overridden(made, given[call.call_id]))
            else:
                self._start(made)

    def _refuse(self, call: RunTool) -> None:
        self._waiting.discard(call.call_id)
        self._cancelled.discard(call.call_id)
        known = [name for name in self.dispatcher.tools if self._allowed(name)]
        there = f"Available now: {', '.join(known)}" if known else "No tool is available now"
        reason = f"The tool {call.name} is not available in the phase {self._phase()}. {there}."
        if call.name not in self.dispatcher.tools:
            reason = f"There is no tool {call.name}. {there}."
        made = ToolCall(call.call_id, call.name, call.args)
        self._ended(outcome(made, "refused", {"error": reason}, reason))

    def _overridden(self, call: ToolCall, result: Any) -> Outcome:
        try:
            return outcome(call, "ok", as_object(result))
        except TypeError as error:
            return outcome(call, "error", {"error": f"The answer given for {call.name} is unusable"}, str(error))

    def _start(self, call: ToolCall) -> None:
        answer = acknowledgement(call, self.dispatcher.mode_of(call.name), async_tools=self._async_tools)
        if answer is not None:
            self._formatter(call.name, answer)
            self._acknowledge(call, answer)
        self.dispatcher.start(call.call_id, call.name, call.args)

    async def answer(self, ended: Outcome) -> ToolAnswer:
        """What the model is told of a call that has ended, as `before_tool_response` listeners leave it."""
        answer = final_answer(ended, self.dispatcher.mode_of(ended.name), async_tools=self._async_tools)
        self._formatter(ended.name, answer)
        if not self._callbacks.listeners("before_tool_response"):
            return answer
        response = ToolResponse(ended.call_id, ended.name, dict(answer.response))
        left = await self._callbacks.tool_responses([response], self._state)
        kept = next((item for item in left if getattr(item, "id", "") == ended.call_id), None)
        if kept is None:
            # A call without an answer would leave the model waiting for ever.
            self._listener(ended.name, "before_tool_response dropped the answer; it was sent as it was")
            return answer
        try:
            return replace(answer, response=as_object(kept.response))
        except TypeError as error:
            self._listener(ended.name, f"before_tool_response left an unusable answer: {error}", error)
            return answer

    def _formatter(self, name: str, answer: ToolAnswer) -> None:
        if answer.problem:
            self._problem(name, answer.problem, self.dispatcher.tools[name].defined_at, answer.error)

    def _listener(self, name: str, problem: str, error: BaseException | None = None) -> None:
        # Of several listeners nobody knows which has done it.
        places = {listener.defined_at for listener in self._callbacks.listening("before_tool_response")}
        self._problem(name, problem, places.pop() if len(places) == 1 else "", error)
