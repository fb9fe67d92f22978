"""Putting another reading of an agent in the place of the one that a session runs with, all of it or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gemini_live_runtime.conversation.extraction import ExtractionSchedule
from gemini_live_runtime.conversation.needs import NeedsFulfillment
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.definition.description import describe
from gemini_live_runtime.session.definition.diff import NEXT_SESSION, fingerprint
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.rules.reactor import LiveReactor
from gemini_live_runtime.state.computed import ComputedRegistry
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.temporal import TemporalRegistry
from gemini_live_runtime.state.watchers import WatcherRegistry

if TYPE_CHECKING:
    from gemini_live_runtime.session.orchestrator import Orchestrator
    from gemini_live_runtime.state.temporal import TemporalPattern
    from gemini_live_runtime.tools.declaration import Tool


def replacement(mind: Orchestrator, last: SessionPlan, read: SessionPlan) -> Callable[[], None]:
    """What puts `read` in the place of `last`. Raises `AgentError` when it cannot be used; nothing has changed then."""
    plan = _kept(mind, last, read)
    definition = plan.definition
    now = mind.clock.now()
    computed = ComputedRegistry(definition.computed)
    watchers = WatcherRegistry(definition.watchers)
    watchers.continue_from(mind.settler.watchers)
    patterns = TemporalRegistry(definition.patterns)
    patterns.continue_from(mind.settler.temporal, _unchanged(last, read))
    schedule = ExtractionSchedule(definition.extractors, since=mind.turn_count)
    mind.extraction.check(schedule)
    rules = LiveReactor(definition.rules, lambda fault: None)
    machine = plan.make_machine()
    director = mind.director
    if (machine is None) != (director is None):
        raise AgentError(
            f"Agent {plan.name} {'has no phases any more' if machine is None else 'had no phases so far'}",
            remedy="Start a new session for that",
            field="phases",
        )
    if machine is not None and director is not None:
        machine.restore(director.machine.to_json(now), now)
    told_anew = [_declaration(tool) for tool in mind.plan.declared] != [_declaration(tool) for tool in plan.declared]

    def adopt() -> None:
        mind.plan = plan
        mind.state.redeclare(definition.state_keys)
        with writing_as(Origin("initial", plan.name, "reloaded")):
            for name, value in definition.initial_state.items():
                if name not in last.definition.initial_state and name not in mind.state:
                    mind.state.set(name, value)
        mind.tools.replace(plan.declared)
        mind.callbacks.replace(definition.callbacks)
        mind.reactor.replace(rules)
        mind.extraction.replace(schedule)
        if machine is not None and director is not None and mind.standing is not None:
            director.replace(machine)
            mind.standing.replace(machine)
        if definition.repair is None:
            mind.needs = None
        elif mind.needs is None or mind.needs.config != definition.repair:
            mind.needs = NeedsFulfillment(definition.repair)
        mind.steersman.redefine(definition)
        mind.settler.replace(computed, watchers, patterns)
        mind.state_events.observed = mind.settler.observed
        mind.fast.redefine(definition)
        mind.body.emit(describe(plan))
        if told_anew:
            # Tools are declared when a connection is set up.
            mind.body.reconnect()

    return adopt


def _kept(mind: Orchestrator, last: SessionPlan, read: SessionPlan) -> SessionPlan:
    """`read` with what a session keeps as it began, and the operator's instruction unless the file's was edited."""
    running = mind.plan.definition
    kept = {name: getattr(running, name) for name in NEXT_SESSION}
    if read.definition.instruction == last.definition.instruction:
        kept["instruction"] = running.instruction
    return SessionPlan(definition=replace(read.definition, **kept), declared=read.declared)


def _unchanged(last: SessionPlan, read: SessionPlan) -> frozenset[str]:
    def prints(patterns: tuple[TemporalPattern, ...]) -> dict[str, object]:
        return {pattern.name: fingerprint(pattern.detector) for pattern in patterns}

    before, after = prints(last.definition.patterns), prints(read.definition.patterns)
    return frozenset(name for name, found in after.items() if before.get(name) == found)


def _declaration(tool: Tool) -> tuple[object, ...]:
    """What the model is told of a tool."""
    return tool.name, tool.description, tool.parameters, tool.blocking, tool.scheduling
