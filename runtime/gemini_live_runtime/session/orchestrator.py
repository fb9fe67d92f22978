"""The agent's mind at work: what happens in the session is heard here, and what follows from it is done in order.

`observe` hears every event at once and only takes notes; what decides is put on the control lane and done step by step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.extraction import ExtractionSchedule
from gemini_live_runtime.conversation.extraction_runner import ExtractionRunner
from gemini_live_runtime.conversation.needs import NeedsFulfillment
from gemini_live_runtime.conversation.transcript import TranscriptBuffer
from gemini_live_runtime.conversation.transitions import TransitionResult
from gemini_live_runtime.session.agent.background_agents import BackgroundAgentDispatcher
from gemini_live_runtime.session.agent.callback_runner import CallbackRunner
from gemini_live_runtime.session.agent.derived_state import SettleEngine
from gemini_live_runtime.session.agent.event_observer import EventObserver
from gemini_live_runtime.session.agent.faults import FaultReporter
from gemini_live_runtime.session.agent.guard_monitor import GuardMonitor
from gemini_live_runtime.session.agent.moves import PhaseNavigator
from gemini_live_runtime.session.agent.phase_runner import PhaseRunner
from gemini_live_runtime.session.agent.session_keys import SessionSignals
from gemini_live_runtime.session.agent.state_events import StateEvents
from gemini_live_runtime.session.agent.steering_runner import SteeringRunner
from gemini_live_runtime.session.agent.subscription import Subscribers
from gemini_live_runtime.session.agent.task_queue import TaskQueue
from gemini_live_runtime.session.agent.tool_executor import ToolExecutor
from gemini_live_runtime.session.agent.turn_pipeline import TurnPipeline
from gemini_live_runtime.session.agent.user_code import UserCode
from gemini_live_runtime.session.core.effects import RunTool
from gemini_live_runtime.session.debugger.debugger import Debugger
from gemini_live_runtime.session.debugger.hot_reload import HotReload
from gemini_live_runtime.session.debugger.operator_commands import OperatorCommands
from gemini_live_runtime.session.debugger.pause_gate import TURN_ENDS
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry
from gemini_live_runtime.session.outbound.context_queue import DeferredWriter, PendingContext
from gemini_live_runtime.session.persistence.autosave import Autosave
from gemini_live_runtime.session.ports.host import SessionHost, SessionServices
from gemini_live_runtime.session.ports.messages import ContextNote
from gemini_live_runtime.session.rules.dispatch import RuleDispatcher
from gemini_live_runtime.session.rules.executor import LiveEffectExecutor
from gemini_live_runtime.session.rules.reactor import (
    LiveReactor,
    PromptArmed,
    StateChanged,
    voice_defaults,
)
from gemini_live_runtime.state.computed import ComputedRegistry
from gemini_live_runtime.state.mutations import Mutation, Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.temporal import TemporalRegistry
from gemini_live_runtime.state.watchers import WatcherRegistry
from gemini_live_runtime.text import redactor
from gemini_live_runtime.tools.background import ToolAnswer
from gemini_live_runtime.tools.dispatch import Outcome, ToolDispatcher

RECALLED = 20
"""Turns that a fresh server session is told about after a loss."""

ENDING_S = 1.0
"""Seconds that each part of the mind has to finish when the session ends."""

TEARDOWN_S = 2.0
"""Seconds that `on_teardown` listeners, and then the last snapshot, may take."""

_HEARD = frozenset(
    (
        ev.TurnStarted,
        ev.PhaseEntered,
        ev.TurnCompleted,
        ev.TurnInterrupted,
        ev.GenerationCompleted,
        ev.ConnectionGoAway,
        ev.ConnectionClosed,
        ev.Notice,
    )
)
"""What `_observe` has a case for; most events are none of these."""


class Orchestrator:
    """One agent's mind in one session."""

    def __init__(self, plan: SessionPlan, body: SessionHost, means: SessionServices) -> None:
        definition = plan.definition
        clock = means.clock
        self.plan = plan
        self.state: State = plan.make_state()
        self.transcript = TranscriptBuffer()
        self.telemetry = SessionTelemetry(clock.now())
        self.pending = PendingContext(on_dropped=lambda notes: self.fast.notes_dropped(notes))
        self.turn_count = 0
        self.ever_connected = False
        self.body = body
        self.clock = clock
        self.writer = means.writer
        self._emit = body.emit
        self.code = UserCode(body.emit, clock, body.changed)
        self.stops = Debugger(self)
        self.lane = TaskQueue(self._step_failed, body.changed, self.stops.gate)
        reports = FaultReporter(body.emit)
        self.callbacks = CallbackRunner(definition.callbacks, clock=clock, report=reports.callback, around=_around)
        self.user_writer = DeferredWriter(means.writer, self.pending, reports.context)
        self.executor = LiveEffectExecutor(
            means.writer,
            self.pending,
            emit=body.emit,
            transition=lambda target, reason: self.moves.to(target, source="reactor", reason=reason),
            report=reports.effect,
            # What is not sent by itself cannot come between a call and its answer.
            hold=lambda: body.awaits_tools and means.writer.held is None,
        )
        marks = voice_defaults("client" if definition.turn_taking == "client" else "server")
        self.reactor = LiveReactor((*marks, *definition.rules), reports.rule)
        self.react = RuleDispatcher(
            self.reactor, self.executor, means.writer, body, self.state, clock, instruct=self.replace_instruction
        ).react
        self.settler = SettleEngine(
            self.state,
            ComputedRegistry(definition.computed),
            WatcherRegistry(definition.watchers),
            TemporalRegistry(definition.patterns),
            self.code,
            emit=body.emit,
            observed=lambda: self.fast.patterns_seen(),
            now=self.stops.gate.agent_time,
            about_to_act=self.stops.watcher,
        )
        machine = plan.make_machine()
        self.director = (
            None
            if machine is None
            else PhaseRunner(
                machine,
                self.state,
                self.code,
                emit=body.emit,
                now=clock.now,
                window=lambda turns: self.transcript.window_with_current(turns),
                about_to_move=self.stops.transition,
            )
        )
        self.standing = None if machine is None else GuardMonitor(machine, self.state, emit=body.emit, now=clock.now)
        self.needs = None if definition.repair is None else NeedsFulfillment(definition.repair)
        self.steersman = SteeringRunner(
            definition,
            self.state,
            self.director,
            self.callbacks,
            self.code,
            means.writer,
            self.executor,
            self.pending,
            emit=body.emit,
            reconnect=body.reconnect,
            prompt_armed=lambda: self.react(PromptArmed()),
        )
        means.writer.on_instruction = self.steersman.steering.confirm_setup
        self.signals = SessionSignals(self.state, clock.now, self.transcript_now)
        self.fast = EventObserver(self, definition)
        self.agents = BackgroundAgentDispatcher(
            definition.background_agents, clock=clock, on_finished=self._agent_finished
        )
        self.tools = ToolDispatcher(
            plan.declared,
            clock=clock,
            on_finished=self._tool_ended,
            on_notify=means.on_notify,
            state=self.state,
            agents=self.agents,
        )
        self.desk = ToolExecutor(
            self.tools,
            self.callbacks,
            self.state,
            allowed=lambda name: self.director is None or self.director.machine.allows(name),
            phase=lambda: "" if self.director is None else self.director.machine.current,
            async_tools=means.async_tools,
            ended=self._tool_ended,
            acknowledge=body.acknowledge,
            problem=reports.tool,
            about_to_call=self.stops.call,
            about_to_run=self.stops.telling,
        )
        self.pipeline = TurnPipeline(self)
        self.moves = PhaseNavigator(self)
        self.extraction = ExtractionRunner(
            self.state,
            ExtractionSchedule(definition.extractors),
            definition.text_model or means.text_model,
            clock,
            self.pipeline.extracted,
            self.pipeline.extraction_failed,
            body.changed,
        )
        self.operator = OperatorCommands(self)
        self.reloader = HotReload(self, means.source)
        self.keeper = Autosave(plan, self)
        self.subscribers = Subscribers(definition.delivery, lambda reader: self.fast.delivery(reader))
        self.closed = False
        self._baffled = False
        self._undecided: dict[str, Outcome] = {}
        """How calls ended whose answer is not given yet, by id."""
        self._started: TransitionResult | None = None
        self.state_events = StateEvents(
            self.state,
            emit=body.emit,
            observed=self.settler.observed,
            heard=self._state_heard,
            unsettled=self._state_moved,
        )
        self.publish_state = self.state_events.publish

    # -- the life ----------------------------------------------------------------------------------------------------

    async def begin(self) -> None:
        """Take up an earlier session, or enter the initial phase. Before any connection is made."""
        restored = await self.keeper.restore()
        self.settler.begin()
        if self.director is not None and not restored:
            self._started = await self.director.begin()
            self.pipeline.entered(self._started)
        await self.settler.settle()
        await self.steersman.setup_instruction()
        self.fast.begin()
        self.reloader.begin()
        self.stops.gate.begin()
        self.lane.begin()

    def instruction_for_setup(self) -> str:
        """The instruction that the next connection begins with."""
        return self.steersman.instruction_for_setup()

    def setup_text(self, instruction: str, *, resuming: bool) -> str:
        """`instruction`, with what a model that takes no context in mid-session is told in no other way."""
        if self.writer.held is None:
            return instruction
        return self.writer.held.in_setup(instruction, resuming=resuming, so_far="" if resuming else self._so_far())

    def _so_far(self) -> str:
        """What was said, for a server session that knows nothing of it; "" when nothing was."""
        said = self.transcript.turn_count > 0
        return f"[Conversation so far]\n{self.transcript.window(RECALLED).text}" if said else ""

    def connected(self, instruction: str, *, resumed: bool) -> None:
        """A connection is ready that carries `instruction`; `resumed`: the server knows what was said before."""
        first, self.ever_connected = not self.ever_connected, True
        self.steersman.connected(instruction, resumed=resumed)
        self._emit(ev.InstructionUpdated(text=instruction, via="setup"))
        self.writer.setup_carried()
        started, self._started = self._started, None
        told = self.stops.gate.held
        if told:
            # What the user types must not wait for a held agent, nor find a model that knows nothing.
            self._recall(resumed)
            self.body.release()
        self.lane.put("connected", lambda: self._connected(started, first, resumed, told))

    def _recall(self, resumed: bool) -> None:
        so_far = "" if resumed or self.writer.held is not None else self._so_far()
        if so_far:
            self.pending.push(ContextNote(so_far, reason="the connection was not resumed"))
            self.user_writer.flush()

    async def _connected(self, started: TransitionResult | None, first: bool, resumed: bool, told: bool) -> None:
        if not told:
            self._recall(resumed)
        try:
            await self.steersman.steer("connected", started)
        finally:
            self.body.release()
        if self.pending.has_prompt:
            # It was armed while there was nobody to ask.
            self.react(PromptArmed())
        if first and not resumed and self.plan.definition.greeting:
            self.pending.push(ContextNote(self.plan.definition.greeting, "user", "greeting"))
            self.steersman.arm_prompt("greeting")
        await self.callbacks.control(
            "on_resumed" if resumed else "on_connected", *(() if resumed else (self.fast.handle,))
        )

    async def close(self) -> None:
        """Finish what is under way, keep the session, cancel the rest."""
        self.closed = True
        self.fast.close()
        if self.standing is not None:
            self.standing.close()
        at_gate = self.stops.gate.standing
        if self.stops.gate.end():
            # What was held is not let loose at the end: nobody is there any more to hear or to stop it.
            self.lane.drop()
        await self._part(self.extraction.close())
        await self._part(self.lane.close(0.0 if at_gate else ENDING_S), 2 * ENDING_S)
        for outcome in list(self._undecided.values()):
            # Its step was not reached, or held up by an author's code.
            self.answer(outcome, ToolAnswer(outcome.result))
        await self._part(self.agents.close())
        await self._part(self.operator.close())
        await self._part(self.reloader.close())
        if not await self._part(self.callbacks.control("on_teardown"), TEARDOWN_S):
            error = f"it took longer than {TEARDOWN_S:g} s; the session ended without it"
            self._emit(ev.CodeFailed(where="on_teardown", name="on_teardown", error=error))
        self.publish_state()
        await self._part(self.keeper.close(), TEARDOWN_S)
        rest = (self.callbacks.close(ENDING_S / 2), self.executor.close(), self.code.close())
        await self._part(asyncio.gather(*rest, return_exceptions=True))
        self.publish_state()

    async def _part(self, part: Awaitable[Any], within_s: float = ENDING_S) -> bool:
        """Each part of the end has its own time: one that hangs or fails must not cost the others theirs."""
        try:
            async with asyncio.timeout(within_s):
                await part
        except TimeoutError:
            return False
        except Exception as error:
            self.code.failed("end of the session", "", error)
        return True

    @property
    def activity_is_ours(self) -> bool:
        """Whether our own voice activity detector decides when the user speaks."""
        return self.plan.definition.turn_taking == "client"

    @property
    def quiet(self) -> bool:
        """Whether nothing is being decided, run or owed here."""
        return (
            self.lane.idle
            and not self.desk.open_calls
            and not self.extraction.running
            and not self.agents.active_count
            and not self.code.active
            # Without a connection there is nobody to prompt.
            and not (self.pending.has_prompt and self.writer.live)
        )

    # -- what is heard -----------------------------------------------------------------------------------------------

    def observe(self, event: ev.Event) -> None:
        """Something happened: take note, and put what it calls for on the control lane. Never raises."""
        try:
            self._observe(event)
        except Exception as error:
            # Whoever made the event has to go on: the reader of the wire, the sound, a timer.
            if not self._baffled:
                self._baffled = True
                try:
                    self.code.failed(f"taking note of {event.type}", "", error)
                finally:
                    self._baffled = False

    def _observe(self, event: ev.Event) -> None:
        payload = event.payload
        self.subscribers.push(event)
        self.stops.observe(event)
        if isinstance(payload, ev.StateChanged):
            return
        self.fast.hear(event)
        self.signals.observe(payload)
        if type(payload) not in _HEARD:
            return
        match payload:
            case ev.TurnStarted():
                self.lane.put("turn begins", lambda: self.pipeline.turn_began(event.turn, payload.by))
            case ev.PhaseEntered() if self.standing is not None:
                self.standing.stale()
            case ev.TurnCompleted():
                if self.standing is not None:
                    self.standing.turn_ended()
                held = self.stops.gate.held
                self.lane.put(TURN_ENDS, lambda: self.pipeline.turn_ended(event.turn, payload, held=held))
                self.operator.turn_ended()
                self.reloader.turn_ended()
            case ev.TurnInterrupted():
                self.lane.put("interrupted", lambda: self._tell("on_interrupted"))
            case ev.GenerationCompleted():
                self.lane.put("generation complete", self.pipeline.generation_completed)
            case ev.ConnectionGoAway():
                self.lane.put("go away", lambda: self._tell("on_go_away", payload.time_left_s))
            case ev.ConnectionClosed():
                reason = payload.reason or payload.sentence
                self.lane.put("disconnected", lambda: self._tell("on_disconnected", reason))
            case ev.Notice(level="error"):
                self.lane.put("error", lambda: self._tell("on_error", payload.text))

    async def _tell(self, callback: str, *args: Any) -> None:
        await self.callbacks.control(callback, *args)
        await self.settler.settle()

    # -- tools -------------------------------------------------------------------------------------------------------

    def calls(self, calls: Sequence[RunTool]) -> None:
        """The model called tools."""
        self.desk.arrived(calls)
        self.lane.put("tool calls", lambda: self.desk.gate(calls))

    def cancel_call(self, call_id: str) -> None:
        """The server no longer wants a call's answer."""
        self.desk.cancel(call_id)
        self.lane.put("tool cancelled", lambda: self._tell("on_tool_cancelled", [call_id]))

    def _tool_ended(self, outcome: Outcome) -> None:
        outcome = self.desk.given(outcome)
        self._undecided[outcome.call_id] = outcome
        if not self.lane.put("tool ended", lambda: self._decide(outcome)):
            # The session is ending: nobody decides any more, but the call still has its one end.
            self.answer(outcome, ToolAnswer(outcome.result))

    async def _decide(self, outcome: Outcome) -> None:
        try:
            await self.pipeline.tool_ended(outcome)
        except Exception:
            if outcome.call_id in self._undecided:
                self.answer(outcome, ToolAnswer(outcome.result))
            raise

    def answer(self, outcome: Outcome, answer: ToolAnswer) -> None:
        """Give a call its final answer."""
        self._undecided.pop(outcome.call_id, None)
        self.body.answer(outcome, answer)

    @property
    def answers_waiting(self) -> int:
        """Calls that have not been let through, and answers that have not been given."""
        return self.desk.waiting_calls + len(self._undecided)

    # -- state -------------------------------------------------------------------------------------------------------

    def _state_heard(self, mutations: Sequence[Mutation]) -> None:
        if self.standing is not None:
            self.standing.heard(mutations)
        self.stops.state_changed(mutations)
        if self.plan.definition.rules:
            self.react(StateChanged(tuple(mutations)))

    def _state_moved(self, moving: bool) -> None:
        self.lane.put("state changed", lambda: self._state_changed(moving))

    async def _state_changed(self, may_move: bool) -> None:
        self.state_events.settling = False
        await self.pipeline.between(may_move)

    def replace_instruction(self, text: str) -> None:
        """The agent's own instruction is `text` from now on."""
        self.plan = replace(self.plan, definition=replace(self.plan.definition, instruction=text))
        self.steersman.replace_base(text)
        self.lane.put("instruction replaced", lambda: self.steersman.steer("between"))

    def _step_failed(self, step: str, error: BaseException) -> None:
        self.code.failed(f"step {step}", step, error)

    def _agent_finished(self, name: str, ok: bool, text: str) -> None:
        self._emit(ev.AgentFinished(name=name, ok=ok, text=redactor.text(text)[:2000]))
        self.body.changed()

    def transcript_now(self) -> tuple[str, str]:
        """What user and model have said in the newest turn so far."""
        window = self.transcript.window_with_current(1)
        turn = window.turns[-1] if window.turns else None
        return ("", "") if turn is None else (turn.user, turn.model)


def _around(callback: str, listener: str) -> AbstractContextManager[None]:
    return writing_as(Origin("callback", listener, callback))
