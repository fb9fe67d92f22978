"""Hand the conversation over from one agent to another.

What the present agent says is heard to its end first: a hand-off waits until no answer is pending, no call open and no
reply left that was asked for before. Then, as a step of the task queue, the present agent is left; replies that its
`on_exit` asks for are waited for in the same way. At last the parts of the other are put in place, and the model gets
instruction and tools, by another connection unless only the instruction differs. Nothing that an old connection still
sends is heard after that.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.awaited_tasks import AwaitedTask, AwaitedTasks, SpokenBefore
from gemini_live_runtime.session.agent.handover.takeover import Handoff, told_chat
from gemini_live_runtime.session.definition.known_agents import known_agents, plan_of
from gemini_live_runtime.session.definition.plan import SessionPlan

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.chat import Chat
    from gemini_live_runtime.conversation.transitions import TransitionResult
    from gemini_live_runtime.events.handoff import HandoffSource
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.handover.leave_taking import LeaveTaking
    from gemini_live_runtime.session.agent.handover.takeover import Takeover

MAX_IN_A_ROW = 8
"""Hand-offs without anything of the user's in between; one more is a circle."""


class HandoffRunner:
    """Hand-offs of one session."""

    def __init__(
        self,
        agent: AgentContext,
        takeover: Takeover,
        *,
        leave_taking: LeaveTaking,
        arrive: Callable[[TransitionResult | None, bool, bool], Awaitable[None]],
    ) -> None:
        """`leave_taking` knows what an agent does and says at its end.

        `arrive(entered, in_place, begins)` tells the model of the agent that is in place now, and runs what one that
        begins does at first.
        """
        self._agent = agent
        self._takeover = takeover
        self._leave_taking = leave_taking
        self._arrive = arrive
        self.before_taking_over: Callable[[SessionPlan], Awaitable[None]] = _nothing
        """Prepares what an agent needs before it is in place."""
        self._waiting: Handoff | None = None
        self._task: asyncio.Task[None] | None = None
        self._in_a_row = 0
        self._closed = False
        self._tasks = AwaitedTasks()
        agent.bus.subscribe(self._on_user, ev.TurnStarted, ev.TextSent)
        agent.bus.subscribe(self._on_speech, ev.SpeechChanged)

    def request_by_name(self, name: str) -> None:
        """Hand over to an agent that the present one knows, as the operator asks.

        Raises `AgentError` for a name that it does not know, and as `request` does.
        """
        known = known_agents(self._agent.plan)
        others = [other for other in known if other != self._agent.plan.name]
        if name not in known:
            raise AgentError(
                f"{self._agent.plan.name} knows no agent {name:.80}",
                remedy=f"It hands over to {', '.join(others)}" if others else "Name its agents with hands_over_to",
                field="agent",
                value=name,
            )
        self._request(known[name], by="operator", reason="asked for")

    def request_again(self, asked: ev.HandoffRequested) -> None:
        """Ask again for a hand-off that waited when an earlier engine of the session died."""
        agent, plan = self._agent, known_agents(self._agent.plan).get(asked.agent)
        if plan is None:
            text, remedy = f"{agent.plan.name} knows no agent {asked.agent:.80}", "Name its agents with hands_over_to"
            self._refuse(asked.agent, asked.by, asked.reason, AgentError(text, remedy=remedy, field="agent"))
            agent.emit(ev.Notice(level="warning", code="handoff", text=redactor.text(text), remedy=remedy))
            return
        # A refusal is an event.
        with contextlib.suppress(GeminiLiveError):
            self._request(plan, by=asked.by, reason=asked.reason, chat=told_chat(asked))

    @property
    def is_waiting(self) -> bool:
        """True while a hand-off waits for its moment."""
        return self._waiting is not None

    def _on_user(self, event: ev.Event) -> None:
        if not (isinstance(event.payload, ev.TurnStarted) and event.payload.by == "model"):
            self._in_a_row = 0

    def _on_speech(self, event: ev.Event) -> None:
        if self._waiting is not None:
            # One that is dropped while it waits moves nothing else.
            self._agent.host.on_change()

    def request(
        self, target: Any, *, by: HandoffSource, reason: str = "", chat: Chat | None = None
    ) -> asyncio.Future[SpokenBefore]:
        """Hand over to `target` as soon as the model has finished speaking.

        Returns a future of the agent that spoke before, which has the `AgentError` of a hand-off that could not be
        made. A newer request replaces one that waits. Raises `AgentError` for what is no agent, for the agent that
        speaks already, for one that cannot be used, and for a circle. `chat` is by default the choice of `target`.
        """
        return self._request(plan_of(target), by=by, reason=reason, chat=chat)

    def check(self, target: Any, *, reason: str) -> None:
        """Raise `AgentError` as `request` does; `reason` is the tool that returned it."""
        self._check(plan_of(target), by="tool", reason=reason)

    def _check(self, plan: SessionPlan, *, by: HandoffSource, reason: str, goes_on: bool = False) -> None:
        problem = self._problem(plan, by=by, goes_on=goes_on)
        if problem is not None:
            self._refuse(plan.name, by, redactor.text(reason), problem)
            raise problem

    def _request(
        self,
        plan: SessionPlan,
        *,
        by: HandoffSource,
        reason: str = "",
        chat: Chat | None = None,
        task: AwaitedTask | None = None,
        paused: SpokenBefore | None = None,
    ) -> asyncio.Future[SpokenBefore]:
        agent, returns_to = self._agent, None
        if chat is None:
            # Who waits for a task knows what was said, and so does the task.
            chat = "keep" if task is not None or paused is not None else plan.definition.chat
        self._check(plan, by=by, reason=reason, goes_on=paused is not None)
        done: asyncio.Future[SpokenBefore] = asyncio.get_running_loop().create_future()
        # Whoever asked may not wait for it.
        done.add_done_callback(lambda future: future.cancelled() or future.exception())
        replaced = self._waiting
        if replaced is not None and paused is None:
            returns_to = replaced.paused or replaced.returns_to
        self._waiting = Handoff(
            plan=plan,
            by=by,
            reason=redactor.text(reason),
            chat=chat,
            asked_at=agent.clock.now(),
            done=done,
            task=task,
            paused=paused,
            returns_to=returns_to,
        )
        self._leave_taking.note_owed()
        if replaced is not None:
            self._on_replaced(replaced, plan)
        agent.emit(self._waiting.requested())
        self._begin_waiting()
        return done

    def _on_replaced(self, replaced: Handoff, plan: SessionPlan) -> None:
        error = AgentError(f"{plan.name} takes over in place of {replaced.plan.name}", field="agent")
        self._refuse(replaced.plan.name, replaced.by, replaced.reason, error)
        _fail(replaced, error)

    def _refuse(self, name: str, by: HandoffSource, reason: str, error: GeminiLiveError) -> None:
        problem = redactor.text(error.message)
        self._agent.emit(ev.HandoffRequested(agent=name, by=by, reason=reason, problem=problem))

    def _problem(self, plan: SessionPlan, *, by: HandoffSource, goes_on: bool) -> AgentError | None:
        if self._closed or self._agent.closed:
            return AgentError("The session is over", remedy="Start a new one", field="agent", value=plan.name)
        if goes_on:
            return None
        if by == "operator" and self._agent.host.is_draining:
            return AgentError(
                f"The session ends once all that is owed is said: {plan.name} does not take over",
                remedy="Start a new one",
                field="agent",
                value=plan.name,
            )
        if plan.name == self._agent.plan.name:
            return AgentError(
                f"Agent {plan.name} speaks already: it cannot be handed over to itself",
                remedy="Return another agent, or a result",
                field="agent",
                value=plan.name,
            )
        if self._in_a_row >= MAX_IN_A_ROW:
            return AgentError(
                f"{MAX_IN_A_ROW} agents took over without a word of the user: {plan.name} does not",
                remedy="Let an agent hand over when the user has said something",
                field="agent",
                value=plan.name,
            )
        return None

    def _begin_waiting(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._wait(), name="hand over")

    async def _wait(self) -> None:
        """Put the hand-off on the task queue once no answer is pending."""
        agent = self._agent
        try:
            await agent.host.until(lambda: self._is_free or agent.closed)
        finally:
            self._task = None
        if not agent.closed and self._waiting is not None:
            agent.queue.put("hand over", self._hand_over)

    @property
    def _is_free(self) -> bool:
        host = self._agent.host
        task = None if self._waiting is None else self._waiting.task
        if task is not None and task.is_called:
            # The model waits for the very call that the task is awaited in: only what it has said is heard out.
            return not host.is_heard
        return not (host.is_answer_pending() or self._leave_taking.owes_speech)

    # -- tasks -------------------------------------------------------------------------------------------------------

    async def begin_task(self, task: AwaitedTask) -> None:
        """Return once a task speaks in place of the present agent.

        Raises `AgentError` when it cannot. `end_task` has to follow in any case.
        """
        self._tasks.add(task)
        await self._request(task.plan, by="task", reason=self._agent.plan.name, task=task)

    async def end_task(self, task: AwaitedTask) -> None:
        """Let the agent that waits go on once its task has finished speaking.

        Nothing happens where another agent took over from the task, and at the session's end.
        """
        if self._closed:
            # The snapshot of the end has to know who waits.
            return
        before, waiting = self._tasks.end(task), self._waiting
        if waiting is not None and waiting.task is task:
            self._withdraw(waiting)
            before = waiting.returns_to
        elif before is not None and waiting is not None and waiting.paused is None:
            # Another agent takes over, or another task does, after which this one is not to go on.
            self._waiting = replace(waiting, returns_to=before)
            before = None
        if before is not None:
            with contextlib.suppress(GeminiLiveError):
                await self._go_on(before, reason=f"{task.plan.name} is done")

    def _go_on(self, before: SpokenBefore, *, reason: str) -> asyncio.Future[SpokenBefore]:
        return self._request(before.plan, by="task", reason=reason, paused=before)

    def _withdraw(self, waiting: Handoff) -> None:
        self._waiting = None
        error = AgentError(f"{waiting.plan.name} was given up before it began", field="agent")
        self._refuse(waiting.plan.name, waiting.by, waiting.reason, error)
        _fail(waiting, error)

    @property
    def waiting_places(self) -> int:
        """Number of running tools and hooks that wait for a task."""
        return self._tasks.waiting_places

    @property
    def paused(self) -> tuple[SpokenBefore, ...]:
        """Agents that wait for a task, the first one first."""
        return self._tasks.paused

    async def _hand_over(self) -> None:
        waiting = self._waiting
        if waiting is None:
            return
        if not self._is_free:
            # The model has begun to speak since.
            self._begin_waiting()
            return
        agent, paused = self._agent, waiting.paused
        try:
            parts, stay = self._takeover.prepare(waiting)
        except GeminiLiveError as error:
            self._waiting = None
            self._refuse(waiting.plan.name, waiting.by, waiting.reason, error)
            _fail(waiting, error)
            if waiting.returns_to is not None and not self._closed:
                self._go_on(waiting.returns_to, reason=f"{waiting.plan.name} did not take over")
            return
        await self.before_taking_over(parts.plan)
        if waiting.task is None and self._waiting is waiting:
            await self._leave_taking.leave(*self._leaving(waiting))
        if self._waiting is not waiting or (waiting.task is None and self._leave_taking.owes_speech):
            # Withdrawn or replaced by now, or there is a goodbye to be heard first.
            if self._waiting is not None:
                self._begin_waiting()
            return
        self._waiting, before = None, self._takeover.present
        if waiting.task is not None:
            self._tasks.begin(waiting.task, waiting.returns_to or before)
        else:
            if paused is None:
                self._tasks.replace(f"{parts.plan.name} took over")
            if agent.host.is_heard:
                # The model has begun to speak while hooks ran; nothing of it is heard after the other's beginning.
                agent.host.interrupt()
        self._in_a_row += paused is None
        self._leave_taking.on_taken_over()
        in_place = self._takeover.put_in_place(parts, waiting)
        if stay is not None and agent.phases is not None:
            agent.phases.on_restored(stay)
        entered = await self._takeover.enter_phases()
        if not waiting.done.done():
            waiting.done.set_result(before)
        await self._arrive(entered, in_place, paused is None)

    def _leaving(self, waiting: Handoff) -> Iterator[SpokenBefore | None]:
        """Iterate over the agents that do not go on; None is the present one."""
        yield None
        if waiting.paused is None:
            skipped = () if waiting.returns_to is None else (waiting.returns_to,)
            yield from reversed((*self._tasks.paused, *skipped))

    async def close(self) -> None:
        """Hand over no more; the tasks that are awaited fail."""
        self._closed = True
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            _fail(waiting, AgentError("The session ended before the hand-off", field="agent", value=waiting.plan.name))
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        # Who awaits one learns that before its own call is cancelled: its future's callback, then its step.
        for _ in range(3 * self._tasks.fail_all("the session ended")):
            await asyncio.sleep(0)


def _fail(handoff: Handoff, error: GeminiLiveError) -> None:
    if not handoff.done.done():
        handoff.done.set_exception(error)


async def _nothing(plan: SessionPlan) -> None:
    return None
