"""Put another agent in place: its parts and phases, and what its model knows.

The parts are those of its plan with what a session keeps from its beginning. An agent that goes on after a task does so
in the phase in which it was left. Its model learns all that was said, nothing of it, or messages that were chosen.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.chat import Chat, messages_from_json, messages_to_json
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.records import keyword_record
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.awaited_tasks import AwaitedTask, SpokenBefore, own_plan
from gemini_live_runtime.session.definition.diff import NEXT_SESSION
from gemini_live_runtime.session.definition.known_agents import known_agents
from gemini_live_runtime.session.definition.plan import SessionPlan

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.transitions import PhaseTransition, TransitionResult
    from gemini_live_runtime.events.handoff import HandoffSource, ToldChat
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.handover.adoption import AgentAdoption, AgentParts
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine

OF_AN_AGENT = ("name", "local_model", "voice", "greeting", "greeting_allow_interruptions", "chat", "phrases")
"""Settings that a reload leaves as they are, and a hand-off changes."""

KEPT = tuple(name for name in NEXT_SESSION if name not in OF_AN_AGENT)
"""Settings of the first agent that hold for the whole session."""


@keyword_record
class Handoff:
    """Hand-off that waits for its moment."""

    plan: SessionPlan
    by: HandoffSource
    reason: str
    chat: Chat
    asked_at: float
    done: asyncio.Future[SpokenBefore]
    task: AwaitedTask | None = None
    """Task that is to speak, after which the present agent goes on; None for others."""
    paused: SpokenBefore | None = None
    """Agent that goes on; None for one that begins."""
    returns_to: SpokenBefore | None = None
    """Agent that would go on by now; it does after `task`, and when this hand-off fails."""

    @property
    def told(self) -> ToldChat:
        """Word for the part of the conversation that the model learns."""
        return self.chat if isinstance(self.chat, str) else "given"

    def requested(self) -> ev.HandoffRequested:
        """Return the event that it waits."""
        messages = () if isinstance(self.chat, str) else messages_to_json(self.chat)
        return ev.HandoffRequested(
            agent=self.plan.name, by=self.by, reason=self.reason, chat=self.told, messages=messages
        )


def told_chat(asked: ev.HandoffRequested) -> Chat:
    """Return what the model is to learn by a hand-off that was recorded."""
    return messages_from_json(asked.messages) if asked.chat == "given" else asked.chat


class Takeover:
    """Changes of one session's agent."""

    def __init__(self, agent: AgentContext, adoption: AgentAdoption, settle: SettleEngine) -> None:
        self._agent = agent
        self._adoption = adoption
        self._settle = settle

    @property
    def present(self) -> SpokenBefore:
        """Agent that speaks, as it can go on later."""
        plan, phases = self._agent.plan, self._agent.phases
        record = None if phases is None else phases.machine.to_json(self._agent.clock.now())
        return SpokenBefore(plan, record, own_plan(plan))

    def prepare(self, handoff: Handoff) -> tuple[AgentParts, PhaseTransition | None]:
        """Return the parts of the other agent, and its stay in the phase it goes on in.

        Raises `GeminiLiveError` for one that cannot be used; nothing has changed then.
        """
        paused = handoff.paused
        parts = self._adoption.prepare(self._merge(handoff.plan if paused is None else paused.newest_plan))
        if paused is None or paused.phases is None or parts.machine is None:
            return parts, None
        return parts, parts.machine.restore(paused.phases, self._agent.clock.now())

    def put_in_place(self, parts: AgentParts, handoff: Handoff) -> bool:
        """Adopt the parts; return True when the connection stays."""
        agent, before, plan = self._agent, self._agent.plan, parts.plan
        old, new = before.definition, plan.definition
        are_tools_changed = self._adoption.adopt(parts, known={}, reason=f"handed over to {plan.name}")
        # A handle is of the model that it was given by; the embedded server's dialogues are models.
        is_same_model = agent.host.speaks_with(old, new)
        is_task = handoff.task is not None or handoff.paused is not None
        in_place = (
            is_same_model
            and old.voice == new.voice
            and not (is_task or are_tools_changed)
            and handoff.chat == "keep"
            and agent.writer.deferred is None
            and agent.writer.route == "context_update"
        )
        if not isinstance(handoff.chat, str):
            agent.replace_chat(handoff.chat)
        agent.emit(
            ev.AgentHandedOff(
                previous=before.name,
                agent=plan.name,
                by=handoff.by,
                reason=handoff.reason,
                via="instruction" if in_place else "connection",
                chat=handoff.told,
                waited_s=round(agent.clock.now() - handoff.asked_at, 3),
            )
        )
        if handoff.chat == "fresh":
            agent.told_from = agent.transcript.count_so_far
        if not in_place:
            agent.host.move(fresh=handoff.chat != "keep" or is_task or not is_same_model)
        return in_place

    async def enter_phases(self) -> TransitionResult | None:
        """Enter the first phase of an agent that begins; return the last transition.

        What the state says already leads on at once: an agent that takes over again does not begin anew.
        """
        phases, entered = self._agent.phases, None
        if phases is None or phases.machine.entered:
            await self._settle.settle()
            return None
        further: TransitionResult | None = await phases.begin()
        rest = len(phases.machine.phases)
        while further is not None:
            entered, rest = further, rest - 1
            await self._settle.settle()
            further = await phases.advance(self._agent.host.turn) if rest > 0 else None
        return entered

    def _merge(self, plan: SessionPlan) -> SessionPlan:
        """Return `plan` with what a session keeps from its beginning."""
        running = self._agent.plan.definition
        merged = replace(plan.definition, **{name: getattr(running, name) for name in KEPT})
        merged = replace(merged, turn_rules=running.turn_rules.with_own(plan.definition.turn_rules))
        return replace(plan, definition=merged).with_profile(self._agent.plan.profile_tools)

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
