"""What an operator's step would do, found out on a copy: nothing of the session changes and no action is run.

The copy is judged by what judges the session itself: its computed values, watchers, temporal patterns and phases. A
`PreviewScene` is taken on the session's loop; from then on it belongs to whoever works with it, in whatever thread.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.phase_machine import PhaseMachine, explain_guard
from gemini_live_runtime.conversation.transitions import (
    ClearKeys,
    ConsideredTransition,
    GatherContext,
    MarkPresented,
    RunEnter,
    RunExit,
    TransitionEvaluation,
    TransitionPlan,
)
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.session.agent.derived_state import (
    MAX_PER_S,
    MAX_ROUNDS,
    FireRateCounter,
    fired_event,
    missed_event,
)
from gemini_live_runtime.session.agent.phase_runner import (
    NAVIGATION,
    blocked_event,
    entered_event,
    failures,
    publish_phase,
)
from gemini_live_runtime.session.agent.turn_pipeline import ESCALATION
from gemini_live_runtime.state.computed import ComputedRegistry
from gemini_live_runtime.state.edits import AppliedEdit, Edit, apply_edits
from gemini_live_runtime.state.guards import Guard
from gemini_live_runtime.state.mutations import Changes, Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.temporal import PatternForecast, TemporalEvent, TemporalFault, TemporalRegistry
from gemini_live_runtime.state.values import MISSING
from gemini_live_runtime.state.watchers import Firing, WatcherRegistry

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.phases import Phase
    from gemini_live_runtime.session.orchestrator import Orchestrator


@dataclass(slots=True)
class PreviewScene:
    """A copy of everything that decides in one session."""

    state: State
    changes: Changes
    computed: ComputedRegistry
    watchers: WatcherRegistry
    patterns: TemporalRegistry
    often: FireRateCounter
    machine: PhaseMachine | None
    may_move: bool
    """Whether the conversation may move between turns: not while the model waits for a tool."""
    repairs: bool
    turn: int
    now: float
    agent_now: float
    """As `now`, but standing still while the agent is held: the time of patterns."""
    tools: tuple[str, ...]
    rules: tuple[str, ...]
    runs_code: bool
    """Whether some function of the agent's author decides something."""
    unknown: dict[str, None] = field(default_factory=dict)
    happened: deque[ev.Payload] = field(default_factory=deque)
    """What patterns have not been shown yet."""
    noticed: dict[str, list[str]] = field(default_factory=dict)
    """The patterns that were there, each with its measured numbers every time."""

    @classmethod
    def of(cls, mind: Orchestrator) -> PreviewScene:
        """How things stand now."""
        state = mind.state.copy()
        machine = None if mind.director is None else mind.director.machine.copy()
        if machine is not None:
            known = machine
            state.provide(NAVIGATION, lambda: known.describe_navigation(state) if known.entered else None)
        settler = mind.settler
        patterns, lost = settler.temporal.copy()
        plain = all(part.is_declarative for part in (settler.computed, settler.watchers, settler.temporal))
        scene = cls(
            state,
            settler.pending(state),
            settler.computed.copy(),
            settler.watchers.copy(),
            patterns,
            settler.often.copy(),
            machine,
            not mind.body.awaits_tools,
            mind.needs is not None,
            mind.body.turn,
            mind.clock.now(),
            mind.stops.gate.agent_time(),
            tuple(mind.tools.tools),
            tuple(rule.name for rule in mind.plan.definition.rules),
            not plain or any(guard.has_function for guard in _guards(machine)),
        )
        for fault in lost:
            scene._pattern_fault(fault)
        return scene

    # -- what happens by itself --------------------------------------------------------------------------------------

    def settle(self) -> list[dict[str, Any]]:
        """Let the copy settle without any action; the firings, muted ones too."""
        fired: list[dict[str, Any]] = []
        for _ in range(MAX_ROUNDS):
            changed = self.changes.take()
            if not changed:
                break
            for fault in self.computed.recompute_affected(self.state, changed).faults:
                self.unknown[f"computed {fault.name}: {fault.problem}"] = None
            changed |= self.changes.take()
            found = self.watchers.evaluate(changed, self.state)
            for failed in found.faults:
                self.unknown[f"watcher {failed.name}: {type(failed.error).__name__}: {failed.error}"] = None
            if found.near_misses:
                self.happened.append(missed_event(found.near_misses))
            for firing, muted in (*((one, True) for one in found.muted), *((one, False) for one in found.fired)):
                if not muted:
                    if self._too_often(f"watcher {firing.name}"):
                        continue
                    self.unknown[f"what watcher {firing.name} does"] = None
                fired.append(_told(firing, muted=muted))
                self.happened.append(fired_event(firing, muted=muted))
            self._notice(TemporalEvent("state"))
        return fired

    def hear(self) -> None:
        """Show patterns what has happened: they hear of events once state has settled."""
        while self.happened:
            payload = self.happened.popleft()
            data = ev.Event(0, 0.0, self.turn, 0, payload).to_json()["data"]
            self._notice(TemporalEvent("event", type=payload.type, data=data))

    def _notice(self, event: TemporalEvent) -> None:
        found = self.patterns.observe(event, self.state, self.agent_now)
        for fault in found.faults:
            self._pattern_fault(fault)
        for firing in found.fired:
            name = firing.pattern.name
            if not self._too_often(f"pattern {name}"):
                self.noticed.setdefault(name, []).append(firing.explanation)
                self.happened.append(ev.PatternFired(pattern=name, text=firing.explanation))
                self.unknown[f"what pattern {name} does"] = None

    def _too_often(self, what: str) -> bool:
        return self.often.count(what, self.agent_now) >= MAX_PER_S

    def _pattern_fault(self, fault: TemporalFault) -> None:
        self.unknown[f"pattern {fault.pattern.name}: {type(fault.error).__name__}: {fault.error}"] = None

    def forecasts(self) -> dict[str, PatternForecast]:
        """What may become of the patterns as things stand."""
        return {item.name: item for item in self.patterns.forecast(self.state, self.agent_now)}

    def ways(self) -> list[ConsideredTransition]:
        """How the ways out of the current phase stand."""
        return [] if self.machine is None or not self.machine.entered else self.machine.consider_transitions(self.state)

    def advance(self) -> str:
        """Take the transition that is due; the phase entered, "" for none."""
        machine = self.machine
        if machine is None or not self.may_move or not machine.may_leave(self.state):
            return ""
        evaluation = machine.evaluate(self.state)
        self._failures(machine, evaluation)
        if evaluation.kind == "blocked":
            self.happened.append(blocked_event(machine, evaluation))
            for preparation in evaluation.preparations:
                self.unknown[f"preparation {preparation.name} of {evaluation.target}"] = None
            evaluation = machine.evaluate(self.state, prepared=(evaluation.target,))
        if evaluation.kind != "ready":
            return ""
        self.enter(machine.follow(evaluation, self.turn))
        return evaluation.target

    def _failures(self, machine: PhaseMachine, evaluation: TransitionEvaluation) -> None:
        for _, to, problem, _ in failures(machine, evaluation):
            self.unknown[f"guard of {evaluation.phase} to {to}: {problem}"] = None

    def enter(self, plan: TransitionPlan) -> None:
        """Do what entering a phase does to the state, without the author's hooks."""
        assert self.machine is not None
        self.unknown.update(dict.fromkeys(hooks(plan)))
        self.happened.append(entered_event(self.machine, self.machine.commit(plan, self.now)))
        with writing_as(Origin("phase", plan.to_phase.name, "on entering")):
            for step in plan.steps:
                if isinstance(step, ClearKeys):
                    for key in step.keys:
                        self.state.remove(key)
                elif isinstance(step, MarkPresented):
                    for key in step.keys:
                        self.state.set(key, True)
        publish_phase(self.state, plan.to_phase)
        if self.repairs:
            with writing_as(Origin("phase", "", "progress")):
                self.state.remove(ESCALATION)


def hooks(plan: TransitionPlan) -> list[str]:
    """The author's code that a transition runs, in words."""
    found = []
    for step in plan.steps:
        match step:
            case RunExit(phase):
                found.append(f"on_exit of {phase.name}")
            case RunEnter(phase):
                found.append(f"on_enter of {phase.name}")
            case GatherContext(phase, source) if not isinstance(source, str):
                found.append(f"on_enter_context of {phase.name}")
    return found


def foresee_edit(scene: PreviewScene, edits: Iterable[Edit], origin: Origin, command_id: str) -> ev.EditPreviewed:
    """What would come of these edits, up to the first action of the agent's own code."""
    state = scene.state
    derived = {key: state.own(key) for key in state.keys("derived")}
    before = {way.index: way.outcome for way in scene.ways()}
    patterns = scene.forecasts()
    try:
        made = apply_edits(state, edits, origin)
    except GeminiLiveError as error:
        return ev.EditPreviewed(command_id=command_id, problem=str(error))
    if made and scene.rules:
        scene.unknown.update(dict.fromkeys(f"how rule {name} answers" for name in scene.rules))
    values = tuple(item.to_json() for item in made)
    # How often it can be taken back is not counted here; that it can be, and nothing made again, is so after any edit.
    scene.happened.append(ev.EditsApplied(command_id=command_id, how="edit", values=values, undo=1, redo=0))
    watchers = scene.settle() if made else []
    turned = [
        {
            "to": way.to,
            "before": before[way.index],
            "after": way.outcome,
            "explanation": way.explanation.to_json(),
        }
        for way in scene.ways()
        if way.outcome != before[way.index]
    ]
    phase = scene.advance() if made else ""
    if made:
        watchers += scene.settle()
    scene.hear()
    return ev.EditPreviewed(
        command_id=command_id,
        values=values,
        derived=tuple(_derived(derived, state)),
        watchers=tuple(watchers),
        patterns=tuple(_moved(patterns, scene.forecasts(), scene.noticed)),
        guards=tuple(turned),
        phase=phase,
        unknown=tuple(scene.unknown),
    )


def foresee_phase(scene: PreviewScene, name: str, command_id: str) -> ev.PhasePreviewed:
    """What going to phase `name` by the operator's word would do. Raises `GeminiLiveError` when it cannot be."""
    machine, state = scene.machine, scene.state
    assert machine is not None
    old = machine.current_phase
    plan = machine.transition_to(name, turn=scene.turn, by_operator=True)
    new = plan.to_phase
    missing = machine.missing(name, state)
    guard = None if new.guard is None else explain_guard(new.guard, state)
    ways = [way for way in scene.ways() if way.to == name]
    way = next((way for way in ways if way.outcome == "ready"), ways[0] if ways else None)
    clears = tuple(key for key in new.clear_on_enter if state.own(key) is not MISSING)
    runs = tuple(hooks(plan))
    scene.enter(plan)
    resolved = machine.resolve(state)
    had, has = (_allowed(phase, scene.tools) for phase in (old, new))
    return ev.PhasePreviewed(
        command_id=command_id,
        phase=name,
        instruction=resolved.text,
        missing=missing,
        guard=None if guard is None else guard.to_json(),
        way=None if way is None else way.guard.to_json(),
        tools_added=tuple(tool for tool in scene.tools if tool in has and tool not in had),
        tools_removed=tuple(tool for tool in scene.tools if tool in had and tool not in has),
        clears=clears,
        runs=runs,
        prompts=bool(new.prompt_on_enter),
        unknown=() if resolved.error is None else (f"instruction of {name}: {resolved.error}",),
    )


def _allowed(phase: Phase, tools: tuple[str, ...]) -> tuple[str, ...]:
    return tools if phase.tools is None else phase.tools


def _derived(before: dict[str, Any], state: State) -> Iterable[dict[str, Any]]:
    for key in dict.fromkeys((*before, *state.keys("derived"))):
        old, new = before.get(key, MISSING), state.own(key)
        if not same_value(old, new):
            yield AppliedEdit(key, old, new).to_json()


def _moved(
    before: dict[str, PatternForecast], after: dict[str, PatternForecast], noticed: dict[str, list[str]]
) -> Iterable[dict[str, Any]]:
    for name, now in after.items():
        was, times = before[name], noticed.get(name, [])
        if times:
            how = "fires"
        elif was.in_progress != now.in_progress:
            how = "begins" if now.in_progress else "ends"
        elif was.progress != now.progress:
            how = "moves"
        else:
            continue
        yield {
            "name": name,
            "how": how,
            "text": now.text,
            "before": was.progress,
            "after": now.progress,
            "times": len(times),
            "because": times[0] if times else "",
            "wait_s": None if now.wait_s is None else round(now.wait_s, 3),
        }


def _told(firing: Firing, *, muted: bool = False) -> dict[str, Any]:
    return {
        "name": firing.name,
        "key": firing.key,
        "old": firing.old,
        "new": firing.new,
        "explanation": firing.explanation.to_json(),
        "muted": muted,
    }


def _guards(machine: PhaseMachine | None) -> Iterable[Guard]:
    for phase in () if machine is None else machine.phases.values():
        yield from (way.when for way in phase.transitions)
        if phase.guard is not None:
            yield phase.guard
