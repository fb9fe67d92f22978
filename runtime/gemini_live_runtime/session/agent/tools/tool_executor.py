"""Gate tool calls, run them, and give each call id exactly one answer.

A call passes three stages, each on the task queue where it decides: the gate (`on_calls`: phase, breakpoints,
listeners), the dispatcher (which runs it beside the conversation), and its outcome (`on_outcome`: state settles and
the conversation moves before the model gets the answer).
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import USER_ERRORS, error_text
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.restarts import FailureTracker
from gemini_live_runtime.session.agent.background_agents import BackgroundAgentDispatcher
from gemini_live_runtime.session.agent.context import AgentContext
from gemini_live_runtime.session.agent.faults import part_health
from gemini_live_runtime.session.agent.harness.harness_tool_runtime import HarnessToolRuntime
from gemini_live_runtime.session.agent.harness.model_tasks import ModelTasks, already_running
from gemini_live_runtime.session.agent.harness.notified_calls import NotifiedCalls
from gemini_live_runtime.session.agent.harness.session_memory import SessionMemory
from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner
from gemini_live_runtime.session.agent.tools.consent import DENIED, REFUSALS, TOO_MANY, ConsentGate
from gemini_live_runtime.session.agent.tools.consent_queue import ConsentQuestion
from gemini_live_runtime.session.agent.tools.mock_tools import stand_in
from gemini_live_runtime.session.agent.tools.tool_answers import ToolAnswers
from gemini_live_runtime.session.core.effects import RunTool
from gemini_live_runtime.session.core.speech_queue import Speech
from gemini_live_runtime.session.debugger.checkpoints import Checkpoints
from gemini_live_runtime.session.ports.event_bus import CALL_INTENT_S
from gemini_live_runtime.tools.background import ToolAnswer
from gemini_live_runtime.tools.dispatch import Outcome, ToolCall, ToolDispatcher
from gemini_live_runtime.tools.results import Status, outcome, result_outcome

CLAIM_RETRY_S = 0.05
"""Seconds between two looks at a call that another program runs and may record as a task."""

NOT_ON_DISK = {
    "error": "It was not run, because the disk did not take the record of this call in time. Ask again a little later."
}
"""Result of a call with side effects, or of one that was asked about, that the disk has refused."""

CHANGED = "The tool {name} has changed since the user was asked, so it was not run. Call it again to ask again."
"""Reason to refuse a call whose tool is another one than was agreed to."""


NOT_AFTER_NOTIFICATION = (
    "A notification made you call {name}, not the user, so it was not run. Call it only when the user asks for it."
)
"""Reason to refuse a call by which the model could go on talking to itself."""


@record
class AskedCall:
    """Call as `on_tool_call` listeners get it."""

    id: str
    name: str
    args: dict[str, Any]


class ToolExecutor:
    """Gate, runner and answerer of one session's calls."""

    def __init__(
        self,
        agent: AgentContext,
        background_agents: BackgroundAgentDispatcher,
        callbacks: CallbackRunner,
        checkpoints: Checkpoints,
        *,
        async_tools: bool,
        on_problem: Callable[[str, str, str, BaseException | None], None],
        harness: HarnessWorker,
        memory: SessionMemory,
        consent: ConsentGate,
    ) -> None:
        """`on_problem` gets a tool, a problem, the code's place, and its error.

        `harness` keeps records of calls that go on as tasks; `consent` says which calls may run.
        """
        self.dispatcher = ToolDispatcher(
            agent.plan.declared,
            clock=agent.clock,
            on_finished=self.on_outcome,
            on_notify=self._on_notify,
            on_progress=lambda call_id, progress: self.tasks.on_progress(call_id, progress),
            state=agent.state,
            agents=background_agents,
            memory=memory,
        )
        self.answers = ToolAnswers(agent, self.dispatcher, callbacks, async_tools=async_tools, on_problem=on_problem)
        self.dispatcher.stand_in = lambda name: stand_in(agent.plan, name)
        self.tasks = HarnessToolRuntime(agent, self.dispatcher, harness, answer=self._queue_answer, end=self._queue_end)
        self.tasks.undecided.on_decided = self._release_held
        self.dispatcher.session_tasks = ModelTasks(self.tasks.harness, self.tasks.cancel)
        self.consent = consent
        consent.on_answer = self._on_consent
        self.on_ended: Callable[[Outcome], Awaitable[None]] = _ignore
        """Decides what follows from a call's outcome, as a step of the task queue, and gives its answer."""
        self.on_task_ended: Callable[[Outcome], Awaitable[None]] = _ignore
        """Decides what follows from the end of a call that was answered before, as a step of the task queue."""
        self._agent = agent
        self._callbacks = callbacks
        self._checkpoints = checkpoints
        self.notified = NotifiedCalls(agent)
        self._health: defaultdict[str, FailureTracker] = defaultdict(FailureTracker)
        self._suspensions: Counter[str] = Counter()
        """Number of agents that a call waits for, by its id."""
        self._waiting: set[str] = set()
        self._held: list[ToolCall] = []
        """Calls for what another call does; whether that becomes a task for both is open. They wait, too."""
        self._cancelled: set[str] = set()
        self._answers: dict[str, Outcome] = {}
        """Outcomes that a program gave in a running tool's place, by call id."""
        self._unanswered: dict[str, Outcome] = {}
        """Outcomes of calls whose answer is not given yet, by call id."""

    @property
    def open_calls(self) -> int:
        """Number of calls that wait at the gate or run, without tasks."""
        return len(self._waiting) + len(set(self.dispatcher.active_ids) - self.tasks.answered_calls)

    def suspend(self, call_id: str) -> None:
        """Let a call wait for another agent, which talks with the user.

        No limit of time runs meanwhile. A call may wait for several: `resume` follows each time.
        """
        self._suspensions[call_id] += 1
        self.dispatcher.suspend_limit(call_id)
        self._agent.host.suspend_call(call_id, True)

    def resume(self, call_id: str) -> None:
        """Let a call go on that waits for no other agent."""
        self._suspensions[call_id] -= 1
        if self._suspensions[call_id] > 0:
            return
        del self._suspensions[call_id]
        self.dispatcher.renew_limit(call_id)
        self._agent.host.suspend_call(call_id, False)

    @property
    def answers_waiting(self) -> int:
        """Number of calls at the gate and of outcomes not answered yet."""
        return len(self._waiting) + len(self._unanswered)

    def _on_notify(self, tool: str, text: str) -> None:
        self._agent.emit(ev.Notice(level="info", code=f"tool.{tool}", text=redactor.text(text)))

    # -- from the call to its outcome --------------------------------------------------------------------------------

    def on_calls(self, calls: Sequence[RunTool]) -> None:
        """Queue the gate for calls that the model made."""
        self._waiting.update(call.call_id for call in calls)
        # Now: by the time of the gate another speech may have begun.
        speech = self._agent.host.speeches.current
        by_notification = self.notified.includes(speech)
        self._agent.queue.put("tool calls", lambda: self._gate(calls, speech, by_notification=by_notification))

    def cancel(self, call_id: str) -> None:
        """Cancel a call whose answer the server no longer wants."""
        if call_id in self._waiting:
            self._cancelled.add(call_id)
            self.consent.withdraw(call_id)
        else:
            self.dispatcher.cancel(call_id)

    def answer_for(self, call_id: str, result: Any) -> bool:
        """Answer a running call in its tool's place; False when it does not run.

        Raises `AgentError` for a result that is no JSON.
        """
        if call_id not in self.dispatcher.active_ids:
            return False
        try:
            self._answers[call_id] = result_outcome(ToolCall(call_id, ""), result)
        except TypeError as error:
            raise AgentError(
                f"{call_id} cannot be answered: {error}",
                remedy="Give an object that JSON can hold",
                field="result",
                value=type(result).__name__,
            ) from None
        return self.dispatcher.cancel(call_id)

    def on_outcome(self, ended: Outcome) -> None:
        """Queue what follows from an outcome.

        Each call id gets exactly one answer, even when a step fails on the way.
        """
        override = self._answers.pop(ended.call_id, None)
        if override is not None:
            ended = replace(ended, status=override.status, result=override.result, cause=override.cause)
        self._watch_health(ended)
        if not self.tasks.take(ended):
            self._queue_answer(ended)

    def _queue_end(self, ended: Outcome) -> None:
        self._agent.queue.put("task ended", lambda: self.on_task_ended(ended))

    def _queue_answer(self, ended: Outcome) -> None:
        self._unanswered[ended.call_id] = ended
        if not self._agent.queue.put("tool ended", lambda: self._decide(ended)):
            # The session is ending and its queue closed, but the call still has its one end.
            self.give(ended, ToolAnswer(ended.result))

    def _watch_health(self, ended: Outcome) -> None:
        """Tell when a tool fails again and again, and when it works again."""
        health = self._health[ended.name]
        if ended.status in ("error", "timeout") and health.on_failed(self._agent.clock.now()):
            self._agent.emit(part_health("tool", ended.name, False))
        elif ended.status == "ok" and health.on_worked():
            self._agent.emit(part_health("tool", ended.name, True))

    async def _decide(self, ended: Outcome) -> None:
        try:
            await self.on_ended(ended)
        except USER_ERRORS:
            if ended.call_id in self._unanswered:
                self.give(ended, ToolAnswer(ended.result))
            raise

    def give(self, ended: Outcome, answer: ToolAnswer) -> None:
        """Give a call its final answer."""
        self._unanswered.pop(ended.call_id, None)
        self._agent.host.answer(ended, answer)

    async def close(self) -> None:
        """Cancel every call, and wait until ended tasks are recorded."""
        self.consent.close()
        await self.dispatcher.close()
        await self.tasks.close()

    def give_rest(self) -> None:
        """Answer calls whose step was not reached, or hung, before the end."""
        for ended in list(self._unanswered.values()):
            self.give(ended, ToolAnswer(ended.result))

    # -- the gate ----------------------------------------------------------------------------------------------------

    async def _gate(self, calls: Sequence[RunTool], speech: Speech | None, *, by_notification: bool) -> None:
        """Refuse calls that are not allowed, let listeners answer, run the rest.

        `speech` is the one in which the model made the calls, `by_notification` is True when they follow from one.
        """
        admitted = []
        for call in calls:
            if call.call_id not in self._cancelled:
                await self._checkpoints.before_call(call)
        for call in calls:
            if call.refusal:
                self._refuse(call, call.refusal)
            elif speech is not None and not speech.uses_tools:
                self._refuse(call, "No tool may be used in this answer. Answer without one.")
            elif by_notification and self._is_for_users_only(call.name):
                self._refuse(call, NOT_AFTER_NOTIFICATION.format(name=call.name))
            elif self._is_allowed(call.name):
                admitted.append(call)
            else:
                self._refuse(call)
        overrides: dict[str, Any] = {}
        if admitted and self._callbacks.listeners("on_tool_call"):
            asked = [AskedCall(call.call_id, call.name, deepcopy(dict(call.args))) for call in admitted]
            overrides = await self._callbacks.tool_overrides(asked, self._agent.state)
            await self._checkpoints.before_send()
        await self.consent.refresh()
        for call in admitted:
            tool_call = ToolCall(call.call_id, call.name, call.args)
            policy, reason = self.consent.policy(call.name, by_notification=by_notification)
            if call.call_id in self._cancelled:
                self._end_waiting(tool_call, "cancelled")
            elif call.call_id in overrides:
                self._waiting.discard(call.call_id)
                self.on_outcome(self._overridden(tool_call, overrides[call.call_id]))
            elif policy == "deny":
                self._refuse(call, DENIED.format(name=call.name))
            elif policy == "ask" and call.name in self.dispatcher.tools and self.consent.is_full:
                self._refuse(call, TOO_MANY.format(name=call.name))
            elif policy == "ask" and call.name in self.dispatcher.tools:
                await self.consent.request(tool_call, reason, by_notification=by_notification)
            else:
                await self._run(tool_call, waits_for_disk=self.dispatcher.has_side_effects(call.name))

    async def _run(self, call: ToolCall, *, waits_for_disk: bool) -> None:
        """Start a call that may run, once the disk has its intent where that matters."""
        is_written = not waits_for_disk or await self._agent.bus.written(CALL_INTENT_S)
        if call.call_id in self._cancelled:
            self._end_waiting(call, "cancelled")
        elif not is_written:
            self._end_waiting(call, "error", NOT_ON_DISK)
        elif call in self.tasks.undecided:
            self._held.append(call)
        else:
            await self._run_unless_task(call)

    async def _run_unless_task(self, call: ToolCall) -> None:
        """Start a call, unless a task does the same, here or in another program."""
        try:
            same = self.tasks.running_like(call) or await self.tasks.undecided.claim(call)
        except (TimeoutError, GeminiLiveError):
            # Twice would be worse than not at all for what changes something.
            if self.dispatcher.has_side_effects(call.name):
                self._end_waiting(call, "error", NOT_ON_DISK)
                return
            same = ""
        if same is None:
            self._held.append(call)
            asyncio.get_running_loop().call_later(CLAIM_RETRY_S, self._release_held)
            return
        self._waiting.discard(call.call_id)
        if call.call_id in self._cancelled:
            self._end_waiting(call, "cancelled")
        elif same:
            self._queue_answer(replace(outcome(call, "ok", already_running(same, call.name)), task=same))
        else:
            self._start(call)

    def _release_held(self) -> None:
        """Let calls go on that waited for what becomes of another one."""
        held, self._held = self._held, []
        for call in held:
            if not self._agent.queue.put("tool call", partial(self._run, call, waits_for_disk=False)):
                self._end_waiting(call, "cancelled")

    def _end_waiting(self, call: ToolCall, status: Status, result: dict[str, Any] | None = None) -> None:
        """End a call that has not run."""
        self._waiting.discard(call.call_id)
        self._cancelled.discard(call.call_id)
        self.on_outcome(outcome(call, status, result or {}, (result or {}).get("error", "")))

    def _on_consent(self, question: ConsentQuestion, given: ev.ConsentGiven) -> None:
        """Queue what follows from an answer: the call runs, or is refused."""
        if not self._agent.queue.put("consent", lambda: self._after_consent(question, given)):
            self._end_waiting(question.call, "refused", {"error": REFUSALS["end"].format(name=given.tool)})

    async def _after_consent(self, question: ConsentQuestion, given: ev.ConsentGiven) -> None:
        call = question.call
        await self.consent.refresh()
        if call.call_id in self._cancelled:
            self._end_waiting(call, "cancelled")
        elif not given.yes:
            if given.by == "voice":
                self.answers.told_by_user.add(call.call_id)
            self._end_waiting(call, "refused", {"error": REFUSALS[given.by].format(name=call.name)})
        elif not self.consent.is_unchanged(question):
            self._end_waiting(call, "refused", {"error": CHANGED.format(name=call.name)})
        elif self.consent.policy(call.name)[0] == "deny":
            self._end_waiting(call, "refused", {"error": DENIED.format(name=call.name)})
        elif not self._is_allowed(call.name):
            self._refuse(RunTool(call.call_id, call.name, dict(call.args)))
        else:
            await self._run(call, waits_for_disk=True)

    def _is_for_users_only(self, name: str) -> bool:
        declared = self.dispatcher.tools.get(name)
        return declared is not None and not declared.after_notification

    def _is_allowed(self, name: str) -> bool:
        return self._agent.phases is None or self._agent.phases.machine.allows(name)

    def _phase_name(self) -> str:
        return "" if self._agent.phases is None else self._agent.phases.machine.current

    def _refuse(self, call: RunTool, reason: str = "") -> None:
        self._waiting.discard(call.call_id)
        self._cancelled.discard(call.call_id)
        known = [name for name in self.dispatcher.tools if self._is_allowed(name)]
        available = f"Available now: {', '.join(known)}" if known else "No tool is available now"
        given = reason
        reason = given or f"The tool {call.name} is not available in the phase {self._phase_name()}. {available}."
        if call.name not in self.dispatcher.tools and not given:
            reason = f"There is no tool {call.name}. {available}."
        tool_call = ToolCall(call.call_id, call.name, call.args)
        self.on_outcome(outcome(tool_call, "refused", {"error": reason}, reason))

    def _overridden(self, call: ToolCall, result: Any) -> Outcome:
        try:
            return result_outcome(call, result)
        except USER_ERRORS as error:
            return outcome(call, "error", {"error": f"The answer given for {call.name} is unusable"}, error_text(error))

    def _start(self, call: ToolCall) -> None:
        self.dispatcher.start(call.call_id, call.name, call.args)
        # Told that it runs, the model would say so to the user: a refused call is not acknowledged.
        if call.call_id in self.dispatcher.active_ids:
            self.answers.acknowledge(call)
            self.tasks.on_started(call)


async def _ignore(ended: Outcome) -> None:
    return None
