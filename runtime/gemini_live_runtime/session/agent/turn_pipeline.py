"""Decide what follows from turns, tools, extractions and changed state.

Each coroutine here is one step of the task queue; no two run at a time. The order inside a step is what an agent's
author may rely on:

1. What was said and written counts first: `session:` keys, extraction (with `EXTRACTION_GRACE_S` at a turn's end).
2. State settles: computed values, watchers, patterns.
3. At most one transition is taken, with its hooks; then state settles again.
4. The model hears what changed; a tool's answer goes out after that.
5. Listeners are called, and what they wrote settles; the turn is measured and the session saved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.needs import RepairAction
from gemini_live_runtime.conversation.transcript import ToolCallSummary, TranscriptTurn
from gemini_live_runtime.conversation.transitions import TransitionResult
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.agent.host import SOFT_TURN
from gemini_live_runtime.session.agent.needs_repair import NeedsRepair
from gemini_live_runtime.session.agent.phase_runner import require_phases
from gemini_live_runtime.session.agent.settle_engine import MAX_PER_S, FireRateCounter
from gemini_live_runtime.session.agent.throttle import Throttle, paced_notice
from gemini_live_runtime.session.agent.turn_extraction import TurnExtraction
from gemini_live_runtime.session.rules.reactor import PromptArmed
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.temporal import TemporalEvent
from gemini_live_runtime.tools.dispatch import Outcome

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner
    from gemini_live_runtime.session.agent.session_keys import SessionSignals
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine
    from gemini_live_runtime.session.agent.steering.steering_runner import Moment, SteeringRunner
    from gemini_live_runtime.session.agent.timers import Timers
    from gemini_live_runtime.session.agent.tools.tool_executor import ToolExecutor
    from gemini_live_runtime.session.debugger.checkpoints import Checkpoints
    from gemini_live_runtime.state.mutations import Mutation

TURN_BEGINS = Origin("signal", "", "a turn begins")

TURN_ENDED = TemporalEvent("turn")

RAN = ("ok", "error", "timeout")
"""States of outcomes whose tool has run."""


class TurnPipeline:
    """Decision steps of one session."""

    def __init__(
        self,
        agent: AgentContext,
        settle: SettleEngine,
        steering: SteeringRunner,
        tools: ToolExecutor,
        callbacks: CallbackRunner,
        checkpoints: Checkpoints,
        session_keys: SessionSignals,
        timers: Timers,
        text_model: TextModel | None,
    ) -> None:
        """`text_model` answers extractors of an agent that names none."""
        self._agent = agent
        self._settle = settle
        self._steering = steering
        self._tools = tools
        self._callbacks = callbacks
        self._checkpoints = checkpoints
        self._session_keys = session_keys
        self._timers = timers
        self.check_agent_returned: Callable[[Outcome], Outcome] = _same_outcome
        """Returns a tool's outcome, as an error when the agent in it cannot take over."""
        self.on_agent_returned: Callable[[Outcome], None] = _ignore_outcome
        """Called with the outcome of a tool that returned an agent, once its answer was given."""
        self.on_turn_done: Callable[[int], None] = _ignore
        """Called with the number of a turn whose end has been worked through."""
        self.extraction = TurnExtraction(agent, callbacks, text_model, self.reevaluate)
        self._repair = NeedsRepair(agent)
        self._reevaluations = Throttle(self._queue_reevaluation, agent.clock, on_paced=self._on_paced)
        self._reevaluation_queued = False
        self._may_advance = False
        self._last_change: Mutation | None = None
        self._turn_by = "model"
        self._moves = FireRateCounter()
        self._rests_until = 0.0
        tools.on_ended = self.end_tool
        tools.on_task_ended = self.end_task
        timers.on_time_passed = self.pass_time

    # -- turns -------------------------------------------------------------------------------------------------------

    async def begin_turn(self, number: int, by: str) -> None:
        """Clear what held for the last turn only, after all steps of its end."""
        self._turn_by = by
        state = self._agent.state
        with writing_as(TURN_BEGINS):
            state.clear_scope("turn")
        state.turn_number = number

    async def end_turn(self, number: int, completed: ev.TurnCompleted, *, held: bool = False) -> None:
        """Work through the end of a turn.

        `held`: it ended while the agent was held, so needs may be unfulfilled because nothing was decided.
        """
        agent, settle = self._agent, self._settle
        agent.turn_count += 1
        self._session_keys.count_turn(agent.turn_count)
        self._session_keys.settle()
        self._call_final_transcripts()
        await self.extraction.run("turn")
        await settle.settle()
        # A turn in which only the model spoke gives the user no chance to get further.
        turn = self._ended_turn()
        is_users = self._turn_by != "model" or (turn is not None and turn.user != "")
        if is_users:
            await settle.observe(TURN_ENDED)
            await settle.settle()
        result = await self._advance(number)
        action = self._repair.act() if is_users and result is None and not held else None
        await settle.settle()
        if action is not None and action.kind == "escalate":
            # A transition may wait for what escalation has set.
            result = await self._advance(number)
            await settle.settle()
        if completed.reason != SOFT_TURN:
            await self._steer("tool" if agent.host.awaits_tools else "turn", result, nudge=action)
            self._flush_context()
        await self._callbacks.control("on_turn_boundary", agent.state, agent.user_writer)
        await self._callbacks.control("on_turn_complete", number)
        await settle.settle()
        self.on_turn_done(number)
        self._timers.schedule()

    async def complete_generation(self) -> None:
        """Extract from an answer that is generated, though it may still be heard."""
        await self.extraction.run("generation-complete", grace_s=0.0)
        await self.call_listeners("on_generation_complete")

    def _call_final_transcripts(self) -> None:
        turn = self._ended_turn()
        if turn is not None:
            if turn.model:
                self._callbacks.fast("on_output_transcript", turn.model, True)
            if turn.user and turn.by != "typed":
                self._callbacks.fast("on_input_transcript", turn.user, True)

    def _ended_turn(self) -> TranscriptTurn | None:
        """Return the ended turn's transcript, or None when nothing was said."""
        # By its number: another turn may have ended while this one waited for its steps.
        return self._agent.transcript.ended_turn(self._agent.state.turn_number)

    def _flush_context(self) -> None:
        agent = self._agent
        if agent.context_queue.has_context and agent.writer.live and self._steering.immediate:
            agent.user_writer.flush()

    # -- tools -------------------------------------------------------------------------------------------------------

    async def end_tool(self, outcome: Outcome) -> None:
        """Work through a tool's outcome: writes and transition, then the answer."""
        agent, settle = self._agent, self._settle
        if outcome.agent is not None:
            outcome = self.check_agent_returned(outcome)
        ran = outcome.status in RAN and not outcome.task
        if outcome.status != "cancelled":
            await self._checkpoints.before_answer(outcome.call_id, outcome.name)
        if ran:
            self._session_keys.on_tool_ended(outcome.name, outcome.status == "ok")
        summary = ToolCallSummary.of(outcome.call_id, outcome.name, outcome.args, outcome.result, outcome.status)
        agent.transcript.add_tool_call(summary)
        self._session_keys.settle()
        await settle.settle()
        if ran:
            await settle.observe(TemporalEvent("tool", name=outcome.name, ok=outcome.status == "ok"))
        await settle.settle()
        result = await self._advance(agent.host.turn)
        answer = await self._tools.answers.final(outcome)
        await settle.settle()
        is_silent = outcome.status == "cancelled" or answer.scheduling == "SILENT"
        # The model may still wait for another call.
        unanswered: Moment = "tool" if agent.host.awaits_tools else "between"
        await self._steer(unanswered if is_silent else "answer", result)
        await self._checkpoints.before_send()
        self._tools.give(outcome, answer)
        if outcome.agent is not None:
            self.on_agent_returned(outcome)
        if agent.context_queue.has_prompt:
            # It may have waited for this answer, and an answer that the model keeps silent about ends no turn.
            agent.react(PromptArmed())
        if ran:
            await self.extraction.run("tool-call", tool=outcome.name, grace_s=0.0)
        self._timers.schedule()

    async def end_task(self, outcome: Outcome) -> None:
        """Work through the end of a task: a call that was answered before."""
        agent, settle = self._agent, self._settle
        if outcome.status in RAN:
            self._session_keys.on_tool_ended(outcome.name, outcome.status == "ok")
            self._session_keys.settle()
            await settle.settle()
            await settle.observe(TemporalEvent("tool", name=outcome.name, ok=outcome.status == "ok"))
        await settle.settle()
        await self._steer("between", await self._advance(agent.host.turn))
        if outcome.agent is not None:
            self.on_agent_returned(outcome)
        self._timers.schedule()

    # -- between turns -----------------------------------------------------------------------------------------------

    async def pass_time(self) -> None:
        """Evaluate what time alone may have completed."""
        await self._settle.observe(TemporalEvent("tick"))
        await self.reevaluate(True)

    @property
    def awaits_reevaluation(self) -> bool:
        """True when changes came so fast that the last ones are evaluated a little later."""
        return self._reevaluations.is_waiting

    def queue_reevaluation(self, may_advance: bool, change: Mutation) -> None:
        """Queue `reevaluate`, one step for all changes before it runs.

        It is paced: code that decides may set off a change from a thread, which calls for the same decision again.
        """
        self._may_advance |= may_advance
        self._last_change = change
        if not self._reevaluation_queued:
            self._reevaluation_queued = True
            self._reevaluations.request()

    def _queue_reevaluation(self) -> None:
        self._agent.queue.put("state changed", self._reevaluate)

    def _on_paced(self) -> None:
        self._agent.emit(paced_notice("the agent decides anew", self._last_change))

    def close(self) -> None:
        """Evaluate no more what was to be evaluated later."""
        self._reevaluations.close()

    async def _reevaluate(self) -> None:
        may_advance, self._may_advance = self._may_advance, False
        self._reevaluation_queued = False
        await self.reevaluate(may_advance)

    async def reevaluate(self, may_advance: bool) -> None:
        """Settle what changed outside of turns and tools.

        With `may_advance`, take the transition that is due.
        """
        await self._settle.settle()
        # While the model waits for a tool, the end of that tool is the moment for transitions.
        if may_advance and not self._agent.host.awaits_tools:
            result = await self._advance(self._agent.host.turn)
            await self._settle.settle()
            await self._steer("between", result)
        self._timers.schedule()

    async def call_listeners(self, callback: str, *args: object) -> None:
        """Call the listeners of a control callback, and settle what they wrote."""
        await self._callbacks.control(callback, *args)
        await self._settle.settle()

    # -- phases ------------------------------------------------------------------------------------------------------

    def request_phase(self, name: str, *, source: str, reason: str = "") -> asyncio.Future[None]:
        """Queue a move to a phase; return a future that is done on arrival.

        Raises `AgentError` for an agent without that phase, in a terminal one, and beyond `MAX_PER_S`; what is refused
        later becomes an event.
        """
        agent = self._agent
        require_phases(agent.phases, agent.plan.name, name).machine.check_leavable(name)
        if self._moves.count("code", agent.clock.now()) >= MAX_PER_S:
            raise AgentError(
                f"Code asked for {MAX_PER_S} phases in a second, as if one set the next off: {name} is not entered",
                remedy="Let one of the phases not ask for another when it is entered",
                field="phase",
                value=name,
            )
        moved: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def move() -> None:
            try:
                await self.move(name, source, reason)
            finally:
                if not moved.done():
                    moved.set_result(None)

        if not agent.queue.put("transition", move):
            moved.cancel()
        return moved

    async def move(self, name: str, source: str, reason: str, *, by_operator: bool = False) -> None:
        """Go to a phase without asking guards."""
        agent = self._agent
        try:
            # Another agent may have taken over since it was asked for.
            phases = require_phases(agent.phases, agent.plan.name, name)
            result = await phases.move(name, agent.host.turn, source=source, reason=reason, by_operator=by_operator)
        except AgentError as error:
            agent.emit(ev.Notice(level="warning", code="phase", text=error.message, remedy=error.remedy))
            return
        await self._follow(result)
        await self._settle.settle()
        await self._steer("tool" if agent.host.awaits_tools else "between", result)

    async def _steer(
        self, moment: Moment, result: TransitionResult | None = None, *, nudge: RepairAction | None = None
    ) -> None:
        await self._checkpoints.before_send()
        await self._steering.steer(moment, result, nudge=nudge)

    async def _advance(self, turn: int) -> TransitionResult | None:
        clock = self._agent.clock
        if self._agent.phases is None or (self._rests_until and clock.now() < self._rests_until):
            return None
        result = await self._agent.phases.advance(turn)
        if result is not None:
            now = clock.now()
            if self._moves.count("guards", now) + 1 >= MAX_PER_S:
                self._rests_until = now + 1
                text = f"Transitions were taken {MAX_PER_S} times in a second, as if one set the next off; they rest"
                remedy = "Let a guard read what does not change by entering its phase"
                self._agent.emit(ev.Notice(level="warning", code="phase", text=text, remedy=remedy))
            await self._follow(result)
        return result

    async def _follow(self, result: TransitionResult) -> None:
        self.on_entered(result)
        await self.extraction.run("phase-change", phase=result.transition.to_phase, grace_s=0.0)

    def on_entered(self, result: TransitionResult) -> None:
        """Count needs anew, now that a phase was entered."""
        self._steering.on_entered(result)
        self._repair.on_entered(result.transition.to_phase)


def _ignore(number: int) -> None:
    return None


def _same_outcome(outcome: Outcome) -> Outcome:
    return outcome


def _ignore_outcome(outcome: Outcome) -> None:
    return None
