"""Make the answers to calls, as the author's formatters and listeners leave them."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from gemini_live_runtime.author_code import USER_ERRORS
from gemini_live_runtime.records import mutable_record
from gemini_live_runtime.session.agent.context import AgentContext
from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner
from gemini_live_runtime.tools.background import ToolAnswer, acknowledgement, final_answer
from gemini_live_runtime.tools.dispatch import Outcome, ToolCall, ToolDispatcher
from gemini_live_runtime.tools.results import as_object, nulls_text


@mutable_record
class ToolResponse:
    """Answer as `before_tool_response` listeners get it; they may change `response`."""

    id: str
    name: str
    response: dict[str, Any]


class ToolAnswers:
    """Answers to the calls of one session."""

    def __init__(
        self,
        agent: AgentContext,
        dispatcher: ToolDispatcher,
        callbacks: CallbackRunner,
        *,
        async_tools: bool,
        on_problem: Callable[[str, str, str, BaseException | None], None],
    ) -> None:
        """`async_tools`: the model goes on while calls run.

        `on_problem` gets a tool, a problem, the code's place, and its error.
        """
        self._agent = agent
        self._dispatcher = dispatcher
        self._callbacks = callbacks
        self._async_tools = async_tools
        self._on_problem = on_problem
        self.told_by_user: set[str] = set()
        """Calls whose refusal the model has heard from the user, by their ids."""

    def acknowledge(self, call: ToolCall) -> None:
        """Answer a call that goes on in the background, where the model is to know."""
        answer = acknowledgement(call, self._dispatcher.mode_of(call.name), async_tools=self._async_tools)
        if answer is not None:
            self._report_formatter(call.name, answer)
            self._agent.host.acknowledge(call, answer)

    async def final(self, ended: Outcome) -> ToolAnswer:
        """Return a call's answer, as `before_tool_response` listeners leave it."""
        answer = final_answer(ended, self._dispatcher.mode_of(ended.name), async_tools=self._async_tools)
        self._report_formatter(ended.name, answer)
        if ended.call_id in self.told_by_user:
            self.told_by_user.discard(ended.call_id)
            answer = replace(answer, scheduling=answer.scheduling and "SILENT")
        if not self._callbacks.listeners("before_tool_response"):
            return answer
        response = ToolResponse(ended.call_id, ended.name, deepcopy(dict(answer.response)))
        left = await self._callbacks.tool_responses([response], self._agent.state)
        kept = next((item for item in left if getattr(item, "id", "") == ended.call_id), None)
        for item in left:
            if item is not kept:
                self._report_listener(ended.name, _superfluous(item, ended.call_id))
        if kept is None:
            # A call without an answer would leave the model waiting.
            self._report_listener(ended.name, "before_tool_response dropped the answer; it was sent as it was")
            return answer
        nulls: list[str] = []
        try:
            response_object = as_object(kept.response, nulls)
        except USER_ERRORS as error:
            self._report_listener(ended.name, f"before_tool_response left an unusable answer: {error}", error)
            return answer
        if nulls:
            self._report_listener(ended.name, f"before_tool_response: {nulls_text(nulls)}")
        return replace(answer, response=response_object)

    def _report_formatter(self, name: str, answer: ToolAnswer) -> None:
        if answer.problem:
            declared = self._dispatcher.declared(name)
            place = "" if declared is None else declared.defined_at
            self._on_problem(name, answer.problem, place, answer.error)

    def _report_listener(self, name: str, problem: str, error: BaseException | None = None) -> None:
        # With several listeners it is unknown which one did it.
        places = {listener.defined_at for listener in self._callbacks.listening("before_tool_response")}
        self._on_problem(name, problem, places.pop() if len(places) == 1 else "", error)


def _superfluous(item: object, call_id: str) -> str:
    """Return why an answer of a listener is not sent."""
    other_id = getattr(item, "id", None)
    if other_id == call_id:
        return f"before_tool_response answered {call_id!r} more than once; the first answer was sent"
    named = f"the id {other_id!r:.80}" if other_id is not None else f"{type(item).__name__}, which has no id"
    return f"before_tool_response returned {named}; only the answer to {call_id!r} was sent"
