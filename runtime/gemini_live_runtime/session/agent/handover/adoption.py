"""Put the parts of another plan in place while a session runs, all or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.conversation.extraction import ExtractionSchedule
from gemini_live_runtime.conversation.needs import NeedsFulfillment
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.definition.description import describe
from gemini_live_runtime.session.rules.reactor import LiveReactor
from gemini_live_runtime.state.computed import ComputedRegistry
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.temporal import TemporalRegistry
from gemini_live_runtime.state.watchers import WatcherRegistry

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.extraction_runner import ExtractionRunner
    from gemini_live_runtime.conversation.phase_machine import PhaseMachine
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.agent.guard_monitor import GuardMonitor
    from gemini_live_runtime.session.agent.listeners.callback_runner import CallbackRunner
    from gemini_live_runtime.session.agent.phase_runner import PhaseRunner
    from gemini_live_runtime.session.agent.settle_engine import SettleEngine
    from gemini_live_runtime.session.agent.timers import Timers
    from gemini_live_runtime.session.definition.plan import SessionPlan
    from gemini_live_runtime.tools.declaration import Tool
    from gemini_live_runtime.tools.dispatch import ToolDispatcher


@dataclass(slots=True, kw_only=True)
class AgentParts:
    """Parts of a session that were made from one plan, not yet in place."""

    plan: SessionPlan
    computed: ComputedRegistry
    watchers: WatcherRegistry
    patterns: TemporalRegistry
    schedule: ExtractionSchedule
    rules: LiveReactor
    machine: PhaseMachine | None


class AgentAdoption:
    """Replacement of one session's agent."""

    def __init__(
        self,
        agent: AgentContext,
        *,
        settle: SettleEngine,
        extraction: ExtractionRunner,
        tools: ToolDispatcher,
        callbacks: CallbackRunner,
        reactor: LiveReactor,
        timers: Timers,
        make_phases: Callable[[PhaseMachine], tuple[PhaseRunner, GuardMonitor]],
    ) -> None:
        """`make_phases` makes what runs and watches the phases of an agent that has some."""
        self._agent = agent
        self._settle = settle
        self._extraction = extraction
        self._tools = tools
        self._callbacks = callbacks
        self._reactor = reactor
        self._timers = timers
        self._make_phases = make_phases

    def prepare(self, plan: SessionPlan) -> AgentParts:
        """Make the parts of `plan`; raise `AgentError` when it cannot be used.

        Nothing has changed then.
        """
        definition = plan.definition
        if plan.needs_own_turns and self._agent.host.turn_options.detection == "server":
            raise AgentError(
                f"Agent {plan.name}: {plan.needs_own_turns} is never called, because the server ends the turns",
                remedy="Set turn_detection to client or manual first",
                field="turn_detection",
                value="server",
            )
        parts = AgentParts(
            plan=plan,
            computed=ComputedRegistry(definition.computed),
            watchers=WatcherRegistry(definition.watchers),
            patterns=TemporalRegistry(definition.patterns),
            schedule=ExtractionSchedule(definition.extractors, since=self._agent.turn_count),
            rules=LiveReactor(definition.rules, lambda fault: None),
            machine=plan.make_machine(),
        )
        self._extraction.check(parts.schedule)
        return parts

    def continue_with(self, plan: SessionPlan, unchanged: frozenset[str]) -> AgentParts:
        """Make the parts of another plan of the agent that speaks.

        They go on where its parts are; patterns named in `unchanged` go on counting. Raises `AgentError` when the plan
        cannot be used; nothing has changed then.
        """
        parts = self.prepare(plan)
        parts.watchers.continue_from(self._settle.watchers)
        parts.patterns.continue_from(self._settle.temporal, unchanged)
        machine, phases = parts.machine, self._agent.phases
        if (machine is None) != (phases is None):
            raise AgentError(
                f"Agent {plan.name} {'has no phases any more' if machine is None else 'had no phases so far'}",
                remedy="Start a new session for that",
                field="phases",
            )
        if machine is not None and phases is not None:
            now = self._agent.clock.now()
            machine.restore(phases.machine.to_json(now), now)
        return parts

    def adopt(self, parts: AgentParts, *, known: Mapping[str, Any], reason: str) -> bool:
        """Put the parts in place; return True when the model has to learn of other tools.

        State is kept. Initial values of keys in `known`, and of those that have a value, are not set. `reason` is that
        of the others.
        """
        agent, plan, definition = self._agent, parts.plan, parts.plan.definition
        are_tools_changed = list(map(_declared, agent.plan.declared)) != list(map(_declared, plan.declared))
        agent.plan = plan
        agent.state.redeclare(definition.state_keys)
        with writing_as(Origin("initial", plan.name, reason)):
            for name, value in definition.initial_state.items():
                if name not in known and name not in agent.state:
                    agent.state.set(name, value)
        self._tools.replace(plan.declared)
        self._callbacks.replace(definition.callbacks)
        self._reactor.replace(parts.rules)
        self._extraction.replace(parts.schedule)
        self._replace_phases(parts.machine)
        if definition.repair is None:
            agent.needs = None
        elif agent.needs is None or agent.needs.config != definition.repair:
            agent.needs = NeedsFulfillment(definition.repair)
        self._settle.replace(parts.computed, parts.watchers, parts.patterns)
        self._timers.redefine()
        self._timers.on_patterns_shown()
        agent.emit(describe(plan))
        return are_tools_changed

    def _replace_phases(self, machine: PhaseMachine | None) -> None:
        agent = self._agent
        if machine is None:
            if agent.phases is not None and agent.guards is not None:
                agent.phases.withdraw()
                agent.guards.close()
            agent.phases = agent.guards = None
        elif agent.phases is not None and agent.guards is not None:
            agent.phases.replace(machine)
            agent.guards.replace(machine)
        else:
            agent.phases, agent.guards = self._make_phases(machine)
            if machine.entered:
                agent.phases.publish()
                agent.guards.schedule_refresh()


def _declared(tool: Tool) -> tuple[object, ...]:
    """Return what the model learns of a tool."""
    return tool.name, tool.description, tool.parameters, tool.blocking, tool.scheduling
