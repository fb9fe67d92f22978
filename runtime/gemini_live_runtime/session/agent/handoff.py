"""Hand the conversation over from one agent to another.

What the present agent says is heard to its end first: a hand-off waits until no answer is pending and no call open.
Then, as one step of the task queue, the present agent is left, the parts of the other are put in place, and the model
gets instruction and tools, by another connection unless only the instruction differs. Nothing that an old connection
still sends is heard after that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import USER_ERRORS, error_text
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.records import keyword_record
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.adoption import AgentParts
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.tools.results import is_agent

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.transitions import TransitionResult
    from gemini_live_runtime.events.handoff import HandoffSource
    from gemini_live_runtime.session.agent.adoption import AgentAdoption
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine

MAX_IN_A_ROW = 8
"""Hand-offs without anything of the user's in between; one more is a circle."""

KEPT = (
    "model",
    "text_model",
    "steering",
    "context_delivery",
    "instruction_route",
    "turn_taking",
    "turn_preset",
    "soft_turn_s",
    "persistence",
    "persistence_id",
    "telemetry_s",
    "background_agents",
    "delivery",
)
"""Settings of the first agent that hold for the whole session."""

Chat = Literal["keep", "fresh"]


@keyword_record
class Handoff:
    """Hand-off that waits for its moment."""

    plan: SessionPlan
    by: HandoffSource
    reason: str
    chat: Chat
    asked_at: float
    done: asyncio.Future[None]


class HandoffRunner:
    """Hand-offs of one session."""

    def __init__(
        self,
        agent: AgentContext,
        adoption: AgentAdoption,
        settle: SettleEngine,
        *,
        leave: Callable[[SessionPlan], Awaitable[None]],
        arrive: Callable[[TransitionResult | None, bool], Awaitable[None]],
    ) -> None:
        """`leave(plan)` runs what an agent does at its end.

        `arrive(entered, in_place)` tells the model of the agent that is in place now, and runs what it does at first.
        """
        self._agent = agent
        self._adoption = adoption
        self._settle = settle
        self._leave = leave
        self._arrive = arrive
        self._waiting: Handoff | None = None
        self._task: asyncio.Task[None] | None = None
        self._in_a_row = 0
        agent.bus.subscribe(self._on_user, ev.TurnStarted, ev.TextSent)

    @property
    def is_waiting(self) -> bool:
        """True while a hand-off waits for its moment."""
        return self._waiting is not None

    @property
    def next_agent(self) -> str:
        """Name of the agent that is to take over; "" for none."""
        return "" if self._waiting is None else self._waiting.plan.name

    def _on_user(self, event: ev.Event) -> None:
        if not (isinstance(event.payload, ev.TurnStarted) and event.payload.by == "model"):
            self._in_a_row = 0

    def request(
        self, target: Any, *, by: HandoffSource, reason: str = "", chat: Chat = "keep", may_repeat: bool = False
    ) -> asyncio.Future[None]:
        """Hand over to `target` as soon as the model has finished speaking.

        Returns a future of that, which has the `AgentError` of a hand-off that could not be made. A newer request
        replaces one that waits. Raises `AgentError` for what is no agent, for the agent that speaks already unless
        `may_repeat`, for one that cannot be used, and for a circle.
        """
        agent = self._agent
        plan = plan_of(target)
        problem = self._problem(plan, may_repeat)
        if problem is not None:
            agent.emit(
                ev.HandoffRequested(agent=plan.name, by=by, reason=redactor.text(reason), problem=problem.message)
            )
            raise problem
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        # Whoever asked may not wait for it.
        done.add_done_callback(lambda future: future.cancelled() or future.exception())
        replaced = self._waiting
        self._waiting = Handoff(
            plan=plan, by=by, reason=redactor.text(reason), chat=chat, asked_at=agent.clock.now(), done=done
        )
        agent.emit(ev.HandoffRequested(agent=plan.name, by=by, reason=redactor.text(reason)))
        if replaced is not None:
            _fail(replaced, AgentError(f"{plan.name} takes over in place of {replaced.plan.name}", field="agent"))
        self._begin_waiting()
        return done

    def _problem(self, plan: SessionPlan, may_repeat: bool) -> AgentError | None:
        if self._agent.closed:
            return AgentError("The session is over", remedy="Start a new one", field="agent", value=plan.name)
        if plan.name == self._agent.plan.name and not may_repeat:
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
        return not self._agent.host.is_answer_pending()

    async def _hand_over(self) -> None:
        waiting = self._waiting
        if waiting is None:
            return
        if not self._is_free:
            # The model has begun to speak since.
            self._begin_waiting()
            return
        self._waiting = None
        agent, before = self._agent, self._agent.plan
        try:
            parts = self._adoption.prepare(self._merge(waiting.plan))
        except GeminiLiveError as error:
            agent.emit(
                ev.HandoffRequested(
                    agent=waiting.plan.name, by=waiting.by, reason=waiting.reason, problem=redactor.text(error.message)
                )
            )
            _fail(waiting, error)
            return
        await self._leave(before)
        self._in_a_row += 1
        in_place = self._put_in_place(parts, waiting, before)
        entered = await agent.phases.begin() if agent.phases is not None else None
        await self._settle.settle()
        if not waiting.done.done():
            waiting.done.set_result(None)
        await self._arrive(entered, in_place)

    def _put_in_place(self, parts: AgentParts, waiting: Handoff, before: SessionPlan) -> bool:
        """Adopt the parts; return True when the connection stays."""
        agent, plan = self._agent, parts.plan
        old, new = before.definition, plan.definition
        are_tools_changed = self._adoption.adopt(parts, known={}, reason=f"handed over to {plan.name}")
        is_same_voice = (old.voice, old.local_model or old.name) == (new.voice, new.local_model or new.name)
        in_place = (
            is_same_voice
            and not are_tools_changed
            and waiting.chat == "keep"
            and agent.writer.deferred is None
            and agent.writer.route == "context_update"
        )
        if waiting.chat == "fresh":
            agent.told_from = agent.host.turn
        agent.emit(
            ev.AgentHandedOff(
                previous=before.name,
                agent=plan.name,
                by=waiting.by,
                reason=waiting.reason,
                via="instruction" if in_place else "connection",
                chat=waiting.chat,
                waited_s=round(agent.clock.now() - waiting.asked_at, 3),
            )
        )
        if not in_place:
            # A handle is of the model that it was given by; the embedded server's dialogues are models.
            is_same_model = agent.host.speaks_with(old, new)
            agent.host.move(fresh=waiting.chat == "fresh" or not is_same_model)
        return in_place

    def _merge(self, plan: SessionPlan) -> SessionPlan:
        """Return `plan` with what a session keeps from its beginning."""
        running = self._agent.plan.definition
        return replace(plan, definition=replace(plan.definition, **{name: getattr(running, name) for name in KEPT}))

    def restore(self, name: str) -> bool:
        """Put the agent of this name in place before the first connection.

        Returns False when no agent that is known by `hands_over_to` has it, or it cannot be used.
        """
        agent = self._agent
        plan = known_agents(agent.plan).get(name)
        if plan is None:
            return False
        try:
            parts = self._adoption.prepare(self._merge(plan))
        except GeminiLiveError as error:
            text = f"Agent {name} cannot go on: {redactor.text(error.message)}"
            agent.emit(ev.Notice(level="warning", code="handoff", text=text, remedy=error.remedy))
            return False
        self._adoption.adopt(parts, known={}, reason="restored")
        return True

    async def close(self) -> None:
        """Hand over no more."""
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            _fail(waiting, AgentError("The session ended before the hand-off", field="agent", value=waiting.plan.name))
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)


def _fail(handoff: Handoff, error: GeminiLiveError) -> None:
    if not handoff.done.done():
        handoff.done.set_exception(error)


def known_agents(first: SessionPlan) -> dict[str, SessionPlan]:
    """Return the plans of an agent and of those it may hand over to, by name.

    Others hand over in their turn. Those that cannot be used are left out.
    """
    found = {first.name: first}
    open_plans = [first]
    while open_plans:
        for target in open_plans.pop().definition.hands_over_to:
            try:
                plan = plan_of(target)
            except GeminiLiveError:
                continue
            if plan.name not in found:
                found[plan.name] = plan
                open_plans.append(plan)
    return found


def plan_of(target: Any) -> SessionPlan:
    """Return the plan of an agent, however it was defined.

    Raises `AgentError` for an agent that cannot be used, and for what is none.
    """
    if callable(target) and not is_agent(target):
        try:
            target = target()
        except GeminiLiveError:
            raise
        except USER_ERRORS as error:
            raise AgentError(
                f"The function that makes the agent failed: {error_text(error)}", remedy="Mend it", field="agent"
            ) from error
    if isinstance(target, SessionPlan):
        return target
    if not is_agent(target):
        raise AgentError(
            f"{target!r:.60} is no agent",
            remedy="Give an Agent or a Live.builder(...)",
            field="agent",
            value=type(target).__name__,
        )
    plan = target.plan()
    assert isinstance(plan, SessionPlan)
    return plan
