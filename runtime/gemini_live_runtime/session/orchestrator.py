"""Compose one agent from its parts.

It makes them from the bottom up, gives each what it needs, and connects the few callbacks that point back up. What an
event calls for is put on the task queue here (`_on_...`); the steps themselves are in `agent.turn_pipeline`. `lifespan`
begins the parts and closes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import (
    CancelTask,
    GiveConsent,
    HandOff,
    RevokeConsent,
    SetConsentPolicies,
    SetProfileTools,
)
from gemini_live_runtime.conversation.needs import NeedsFulfillment
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.agent.autosave import Autosave, OwnStore
from gemini_live_runtime.session.agent.background_agents import BackgroundAgentDispatcher
from gemini_live_runtime.session.agent.context import AgentContext
from gemini_live_runtime.session.agent.event_listeners import EventListeners
from gemini_live_runtime.session.agent.event_observer import EventObserver
from gemini_live_runtime.session.agent.faults import FaultReporter
from gemini_live_runtime.session.agent.guard_monitor import GuardMonitor
from gemini_live_runtime.session.agent.handover.adoption import AgentAdoption
from gemini_live_runtime.session.agent.handover.agent_updates import AgentUpdates
from gemini_live_runtime.session.agent.handover.handoff import HandoffRunner
from gemini_live_runtime.session.agent.handover.leave_taking import LeaveTaking
from gemini_live_runtime.session.agent.handover.lifecycle import AgentLifecycle
from gemini_live_runtime.session.agent.handover.returned_agents import ReturnedAgents
from gemini_live_runtime.session.agent.handover.takeover import Takeover
from gemini_live_runtime.session.agent.harness.notification_delivery import NotificationDelivery
from gemini_live_runtime.session.agent.harness.session_memory import SessionMemory
from gemini_live_runtime.session.agent.harness.session_notifications import SessionNotifications
from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner
from gemini_live_runtime.session.agent.listeners.subscription import Subscribers
from gemini_live_runtime.session.agent.metrics_reporter import SETTLING, MetricsReporter
from gemini_live_runtime.session.agent.phase_runner import PhaseRunner
from gemini_live_runtime.session.agent.session_keys import OBSERVED, SessionSignals
from gemini_live_runtime.session.agent.settle_engine import SettleEngine
from gemini_live_runtime.session.agent.state_events import StateEvents
from gemini_live_runtime.session.agent.steering.steering_runner import SteeringRunner
from gemini_live_runtime.session.agent.task_queue import TaskQueue
from gemini_live_runtime.session.agent.timers import Timers
from gemini_live_runtime.session.agent.tools.consent import ConsentGate, ConsentOptions
from gemini_live_runtime.session.agent.tools.tool_executor import ToolExecutor
from gemini_live_runtime.session.agent.turn_pipeline import TurnPipeline
from gemini_live_runtime.session.agent.user_code import UserCode
from gemini_live_runtime.session.control.debugger_commands import DebuggerCommands
from gemini_live_runtime.session.control.hot_reload import HotReload
from gemini_live_runtime.session.control.operator_commands import OperatorCommands
from gemini_live_runtime.session.debugger.checkpoints import Checkpoints
from gemini_live_runtime.session.debugger.pause_gate import MINOR, TURN_ENDS, Waiting
from gemini_live_runtime.session.definition.callbacks import DECIDING
from gemini_live_runtime.session.metrics.telemetry import SessionTelemetry
from gemini_live_runtime.session.outbound.context_queue import DeferredWriter, PendingContext
from gemini_live_runtime.session.ports.messages import ContextNote
from gemini_live_runtime.session.rules.dispatch import RuleDispatcher
from gemini_live_runtime.session.rules.executor import LiveEffectExecutor
from gemini_live_runtime.session.rules.reactor import LiveReactor, voice_defaults
from gemini_live_runtime.session.rules.withheld_prompt import WithheldPrompt
from gemini_live_runtime.state.computed import ComputedRegistry
from gemini_live_runtime.state.mutations import Origin, deciding, writing_as
from gemini_live_runtime.state.temporal import TemporalRegistry
from gemini_live_runtime.state.watchers import WatcherRegistry

if TYPE_CHECKING:
    from gemini_live_runtime.clock import Clock
    from gemini_live_runtime.conversation.phase_machine import PhaseMachine
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.agent.host import SessionHost
    from gemini_live_runtime.session.control.command_router import CommandRouter
    from gemini_live_runtime.session.core.effects import RunTool
    from gemini_live_runtime.session.definition.plan import SessionPlan
    from gemini_live_runtime.session.outbound.wire_writer import WireWriter
    from gemini_live_runtime.session.ports.agent_source import Source
    from gemini_live_runtime.session.ports.event_bus import EventBus
    from gemini_live_runtime.state.mutations import Mutation
    from gemini_live_runtime.state.store import State


class Orchestrator:
    """Composition root of one agent in one session."""

    def __init__(
        self,
        plan: SessionPlan,
        *,
        bus: EventBus,
        host: SessionHost,
        writer: WireWriter,
        clock: Clock,
        async_tools: bool,
        text_model: TextModel | None = None,
        source: Source[SessionPlan] | None = None,
        own_store: OwnStore | None = None,
        harness: HarnessWorker | None = None,
        session_id: str = "",
        consent: ConsentOptions | None = None,
    ) -> None:
        """`async_tools`: the model goes on while calls run.

        `source` can be read again. `own_store` is that of the session's snapshots. `harness` keeps records that outlive
        the session; None: they last as long as it. `consent` says who agrees to calls; None: the operator.
        """
        self._consent = consent or ConsentOptions()
        self._own_store = own_store
        harness = harness or HarnessWorker(clock=clock)
        state = plan.make_state()
        self.faults = faults = FaultReporter(bus.emit)
        self.checkpoints = Checkpoints(state, bus, clock)
        self.agent = self._make_context(plan, state, faults, bus, host, writer, clock)
        self.code = UserCode(faults, clock, emit=bus.emit, on_ended=host.on_change)
        self.callbacks = CallbackRunner(
            plan.definition.callbacks, clock=clock, report=faults.callback, around=_write_as
        )
        self.settle = SettleEngine(
            state,
            ComputedRegistry(plan.definition.computed),
            WatcherRegistry(plan.definition.watchers),
            TemporalRegistry(plan.definition.patterns),
            code=self.code,
            emit=bus.emit,
            now=self.checkpoints.gate.agent_time,
            before_action=self.checkpoints.before_action,
        )
        machine = plan.make_machine()
        if machine is not None:
            self.agent.phases, self.agent.guards = self._make_phases(machine)
        self._make_rules(faults)
        self._make_steps(faults, async_tools, text_model, harness, session_id)
        self._make_commands(source)
        self._connect()

    def _make_context(
        self,
        plan: SessionPlan,
        state: State,
        faults: FaultReporter,
        bus: EventBus,
        host: SessionHost,
        writer: WireWriter,
        clock: Clock,
    ) -> AgentContext:
        repair = plan.definition.repair
        context_queue = PendingContext(on_dropped=self._on_notes_dropped, speeches=host.speeches)
        return AgentContext(
            plan=plan,
            state=state,
            clock=clock,
            bus=bus,
            host=host,
            writer=writer,
            user_writer=DeferredWriter(
                writer,
                context_queue,
                faults.context,
                emit=bus.emit,
                is_call_open=lambda: host.awaits_tools,
                before_answer=lambda: self.steering.flush(),
                on_request=lambda: self.agent.answers.check(),
                holds_context=writer.deferred is None,
            ),
            context_queue=context_queue,
            queue=TaskQueue(self._on_step_failed, host.on_change, self.checkpoints.gate),
            telemetry=SessionTelemetry(clock.now()),
            needs=None if repair is None else NeedsFulfillment(repair),
        )

    def _make_rules(self, faults: FaultReporter) -> None:
        agent, definition = self.agent, self.agent.plan.definition
        self.executor = LiveEffectExecutor(
            agent.user_writer,
            agent.context_queue,
            emit=agent.emit,
            transition=self._go_to_phase,
            report=faults.effect,
            type_text=agent.host.type_text,
            ask=agent.user_writer.ask,
            may_speak=self._may_speak,
            mark=agent.host.mark,
        )
        built_in = voice_defaults(lambda: agent.host.turn_options.detection == "client")
        self.reactor = LiveReactor((*built_in, *definition.rules), faults.rule)
        self.steering = SteeringRunner(
            agent, self.callbacks, self.code, self.executor, lambda: self.checkpoints.gate.held
        )
        self.withheld = WithheldPrompt(
            agent.host.until, agent.host.is_floor_taken, lambda: self.observer.release_prompt()
        )
        agent.react = RuleDispatcher(
            self.reactor,
            self.executor,
            agent.writer,
            agent.state,
            agent.clock,
            emit=agent.emit,
            is_floor_taken=agent.host.is_floor_taken,
            on_prompt_withheld=self.withheld.on_withheld,
            replace_instruction=self.steering.replace_instruction,
        ).react

    def _make_phases(self, machine: PhaseMachine) -> tuple[PhaseRunner, GuardMonitor]:
        agent = self.agent
        phases = PhaseRunner(
            machine,
            agent.state,
            self.code,
            emit=agent.emit,
            now=agent.clock.now,
            turn=lambda: agent.host.turn,
            window=agent.window,
            before_transition=self.checkpoints.before_transition,
        )
        return phases, GuardMonitor(machine, agent.state, emit=agent.emit, now=agent.clock.now)

    def _make_steps(
        self,
        faults: FaultReporter,
        async_tools: bool,
        text_model: TextModel | None,
        harness: HarnessWorker,
        session_id: str,
    ) -> None:
        agent, definition = self.agent, self.agent.plan.definition
        self.session_keys = SessionSignals(agent.state, agent.clock.now, agent.current_words)
        self.subscribers = Subscribers(definition.delivery, self._on_subscriber_left)
        self.reporter = MetricsReporter(agent, self.subscribers)
        self.timers = Timers(agent, self.settle, self.checkpoints.gate, self.reporter, faults)
        self.background_agents = BackgroundAgentDispatcher(
            definition.background_agents, clock=agent.clock, on_finished=self._on_agent_finished
        )
        self.memory = SessionMemory(agent, harness)
        self.consent = ConsentGate(
            agent,
            harness,
            self.code,
            self._consent,
            tools=lambda: self.tools.dispatcher.tools,
            async_tools=async_tools,
            doubtful_memory=lambda: self.memory.doubtful,
        )
        self.tools = ToolExecutor(
            agent,
            self.background_agents,
            self.callbacks,
            self.checkpoints,
            async_tools=async_tools,
            on_problem=faults.tool,
            harness=harness,
            memory=self.memory,
            consent=self.consent,
        )
        self.notifications = NotificationDelivery(agent, harness, session_id)
        self.tools.dispatcher.session_notifications = SessionNotifications(agent, harness, self.notifications)
        self.tools.tasks.on_ended = lambda task_id: self.notifications.look()
        self.pipeline = TurnPipeline(
            agent,
            self.settle,
            self.steering,
            self.tools,
            self.callbacks,
            self.checkpoints,
            self.session_keys,
            self.timers,
            text_model,
        )
        self.listeners = EventListeners(agent, self.pipeline, self.callbacks, self.checkpoints.gate)
        self.lifecycle = AgentLifecycle(
            agent,
            steering=self.steering,
            pipeline=self.pipeline,
            callbacks=self.callbacks,
            code=self.code,
            gate=self.checkpoints.gate,
        )
        self.autosave = Autosave(agent, self.steering, self._own_store)

    def _make_commands(self, source: Source[SessionPlan] | None) -> None:
        agent, tools = self.agent, self.tools.dispatcher
        self.debugger = DebuggerCommands(agent, self.checkpoints, self.settle, tools)
        self.operator = OperatorCommands(
            agent,
            self.settle,
            self.pipeline,
            self.steering,
            self.executor,
            tools,
            self.checkpoints.gate.agent_time,
        )
        adoption = AgentAdoption(
            agent,
            settle=self.settle,
            extraction=self.pipeline.extraction.runner,
            tools=tools,
            callbacks=self.callbacks,
            reactor=self.reactor,
            timers=self.timers,
            make_phases=self._make_phases,
        )
        self.leave_taking = LeaveTaking(agent, self.lifecycle.leave)
        takeover = Takeover(agent, adoption, self.settle)
        self.handoff = HandoffRunner(agent, takeover, leave_taking=self.leave_taking, arrive=self.lifecycle.arrive)
        self.handoff.before_taking_over = self.memory.load_for
        self.returned_agents = ReturnedAgents(self.handoff, agent.emit)
        self.updates = AgentUpdates(agent, adoption)
        self.autosave.take_over = takeover.restore
        self.autosave.request_handoff = self.handoff.request_again
        self.autosave.on_recorded = self._on_recorded
        self.autosave.first_paused = lambda: next(iter(self.handoff.paused), None)
        self.hot_reload = HotReload(agent, source, adoption=adoption, settle=self.settle, pipeline=self.pipeline)

    def _connect(self) -> None:
        """Subscribe the parts to events, and connect callbacks that point up.

        The order of subscription is the order in which they get each event.
        """
        agent, gate, bus = self.agent, self.checkpoints.gate, self.agent.bus
        gate.waiting = self._waiting
        gate.on_held = self._on_held
        gate.on_released = self.timers.on_released
        self.pipeline.on_turn_done = self._on_turn_done
        self.pipeline.check_agent_returned = self.returned_agents.check
        self.pipeline.on_agent_returned = self.returned_agents.hand_over
        bus.on_fault = self._on_handler_failed
        bus.subscribe(self.subscribers.push)
        self.checkpoints.subscribe()
        self.observer = EventObserver(agent, self.callbacks, self.settle, self.session_keys, self.timers)
        bus.subscribe(self.reporter.on_settled, *SETTLING)
        self.state_events = StateEvents(agent.state, bus, self.settle)
        self.state_events.on_changes.append(self.checkpoints.on_state_changes)
        self.state_events.on_changes.append(self._refresh_guards)
        self.state_events.on_changes.append(self.observer.on_state_changes)
        self.state_events.on_unsettled = self.pipeline.queue_reevaluation
        self.state_events.is_in_turn = lambda: agent.host.turn_open
        self.state_events.may_open = self._may_open
        self.notifications.subscribe()
        agent.input_times.subscribe(bus)
        bus.subscribe(self.session_keys.on_event, *OBSERVED)
        bus.subscribe(self.observer.on_session_state, ev.SessionState)
        bus.subscribe(self.memory.on_described, ev.AgentDescribed)
        bus.subscribe(self._on_turn_started, ev.TurnStarted)
        bus.subscribe(self._on_phase_entered, ev.PhaseEntered)
        bus.subscribe(self._on_turn_completed, ev.TurnCompleted)
        bus.subscribe(self.listeners.on_event, *EventListeners.KINDS)

    def register(self, router: CommandRouter) -> None:
        """Register the operator's commands that the agent carries out."""
        for part in (self.debugger, self.operator, self.hot_reload):
            part.register(router)
        router.register(CancelTask, lambda order, command_id: self.tools.tasks.cancel_by_operator(order))
        router.register(GiveConsent, self.consent.give)
        router.register(RevokeConsent, self.consent.revoke)
        router.register(SetConsentPolicies, self.consent.set_policies)
        router.register(SetProfileTools, self.updates.set_profile_tools)
        router.register(HandOff, lambda order, command_id: self.handoff.request_by_name(order.agent))

    # -- events ------------------------------------------------------------------------------------------------------

    def _on_turn_started(self, event: ev.Event) -> None:
        started = event.payload
        assert isinstance(started, ev.TurnStarted)
        self.agent.queue.put("turn begins", lambda: self.pipeline.begin_turn(event.turn, started.by))

    def _refresh_guards(self, mutations: Sequence[Mutation]) -> None:
        if self.agent.guards is not None:
            self.agent.guards.on_state_changes(mutations)

    def _may_open(self, mutations: Sequence[Mutation]) -> bool:
        return self.agent.guards is not None and self.agent.guards.may_open(mutations)

    def _on_phase_entered(self, event: ev.Event) -> None:
        if self.agent.guards is not None:
            self.agent.guards.schedule_refresh()

    def _on_turn_completed(self, event: ev.Event) -> None:
        completed = event.payload
        assert isinstance(completed, ev.TurnCompleted)
        if self.agent.guards is not None:
            self.agent.guards.on_turn_ended()
        held = self.checkpoints.gate.held
        self.agent.queue.put(TURN_ENDS, lambda: self.pipeline.end_turn(event.turn, completed, held=held))
        self.operator.on_turn_ended()
        self.hot_reload.on_turn_ended()

    def _on_handler_failed(self, what: str, error: Exception) -> None:
        self.code.failed(f"taking note of {what}", "", error)

    def _on_step_failed(self, step: str, error: BaseException) -> None:
        self.code.failed(f"step {step}", step, error)

    # -- tools -------------------------------------------------------------------------------------------------------

    def on_calls(self, calls: Sequence[RunTool]) -> None:
        """Take the calls that the model made."""
        self.tools.on_calls(calls)

    def cancel_call(self, call_id: str) -> None:
        """Cancel a call whose answer the server no longer wants."""
        self.tools.cancel(call_id)
        self.agent.queue.put("tool cancelled", lambda: self.pipeline.call_listeners("on_tool_cancelled", [call_id]))

    # -- callbacks of the parts --------------------------------------------------------------------------------------

    def _on_recorded(self, recorded: Sequence[ev.Event]) -> None:
        """Note what of the engine before decides which calls ask."""
        self.tools.notified.on_recorded(recorded)
        self.memory.on_recorded(recorded)

    def _on_turn_done(self, number: int) -> None:
        self.reporter.report_turn(number)
        self.agent.bus.publish_state()
        self.autosave.save()

    def _on_held(self) -> None:
        # What the user types goes out all the same, even before the model heard what the agent has to say.
        if self.checkpoints.gate.held:
            self.agent.host.release()

    def _waiting(self) -> Waiting:
        steps = [name for name in self.agent.queue.waiting if name not in MINOR]
        return self.tools.answers_waiting, len(steps), steps[0] if steps else ""

    def _go_to_phase(self, target: str, reason: str) -> asyncio.Future[None]:
        return self.pipeline.request_phase(target, source="reactor", reason=reason)

    def _may_speak(self) -> bool:
        """Return False while the gap since the last speech is too short.

        It is asked again then.
        """
        agent, drained_at = self.agent, self.reactor.voice.last_playback_drained_at
        gap_s = agent.host.rules.min_speech_gap_s
        wait_s = 0.0 if drained_at is None else drained_at + gap_s - agent.clock.now()
        if wait_s <= 0:
            return True
        asyncio.get_running_loop().call_later(wait_s, self.observer.release_prompt)
        return False

    def _on_notes_dropped(self, notes: Sequence[ContextNote]) -> None:
        self.timers.on_notes_dropped(notes)

    def _on_subscriber_left(self, subscription: Any) -> None:
        self.reporter.report_loss(subscription)

    def _on_agent_finished(self, name: str, ok: bool, text: str) -> None:
        self.agent.emit(ev.AgentFinished(name=name, ok=ok, text=redactor.text(text)[:2000]))
        self.agent.host.on_change()


def _write_as(callback: str, listener: str) -> AbstractContextManager[None]:
    if callback in DECIDING:
        return deciding()
    return writing_as(Origin("callback", listener, callback))
