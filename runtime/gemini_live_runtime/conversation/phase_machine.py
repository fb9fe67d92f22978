"""Which phase a conversation is in, where it may go, and why. It decides; the session runs what authors hooked in."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.conversation.phase_check import check_structure, raise_all
from gemini_live_runtime.conversation.phases import Phase, Transition
from gemini_live_runtime.conversation.transitions import (
    ClearKeys,
    Considered,
    GatherContext,
    MakeCurrent,
    NotePresented,
    Outcome,
    PhaseTransition,
    ResolveInstruction,
    RunEnter,
    RunExit,
    Step,
    TransitionEvaluation,
    TransitionPlan,
    TransitionResult,
    TransitionTrigger,
)
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.guards import Guard

if TYPE_CHECKING:
    from gemini_live_runtime.state.store import State

HISTORY_LIMIT = 100
"""Transitions that are remembered; the oldest is dropped."""

GOAL_LIMIT = 200
"""Characters of an instruction's first line in the description of where the conversation stands."""


@dataclass(frozen=True, slots=True)
class ResolvedInstruction:
    """A phase's instruction now. After a failure, which is `error`, it is the last that could be made."""

    text: str
    error: AgentError | None = None


class PhaseMachine:
    """The phases of a conversation and the current one.

    Raises `AgentError` naming every fault when no machine can be built. Until the initial phase is entered nothing is
    evaluated. Not for several threads.
    """

    def __init__(self, phases: Iterable[Phase], initial: str) -> None:
        phases = tuple(phases)
        raise_all(check_structure(phases, initial))
        self.phases: dict[str, Phase] = {phase.name: phase for phase in phases}
        self.initial = initial
        self.current = initial
        self.entered = False
        self.history: deque[PhaseTransition] = deque(maxlen=HISTORY_LIMIT)
        self._since = 0.0
        self._instruction = ""

    def copy(self) -> PhaseMachine:
        """One that stands where this one does and goes on by itself."""
        other = copy(self)
        other.history = deque(self.history, HISTORY_LIMIT)
        return other

    @property
    def current_phase(self) -> Phase:
        """The phase the conversation is in."""
        return self.phases[self.current]

    def seconds_in_phase(self, now: float) -> float:
        """How long the current phase has lasted."""
        return max(0.0, now - self._since) if self.entered else 0.0

    def tools_allowed(self) -> tuple[str, ...] | None:
        """The tools the model may use now; None for all."""
        return self.current_phase.tools

    def allows(self, tool: str) -> bool:
        """Whether the model may use this tool now."""
        allowed = self.current_phase.tools
        return allowed is None or tool in allowed

    # -- deciding --------------------------------------------------------------------------------------------------

    def may_leave(self, state: State) -> bool:
        """Whether `evaluate` may say anything but "stay": a guard holds, or cannot be asked. The quick question."""
        if self.entered:
            for way in self.current_phase.transitions:
                try:
                    if way.when.holds(state):
                        return True
                except Exception:  # an author's function: `evaluate` tells what is wrong with it
                    return True
        return False

    def evaluate(self, state: State, *, prepared: Collection[str] = ()) -> TransitionEvaluation:
        """Where to go now; changes nothing.

        The first transition decides whose guard holds and whose target may be entered. A target that lacks what it
        requires and has preparations for it blocks, unless it is among the `prepared`; one without is passed over.
        """
        considered: list[Considered] = []
        phase = self.current_phase
        if self.entered and not phase.terminal:
            for index, transition in enumerate(phase.transitions):
                item = self._consider(index, transition, state, prepared)
                considered.append(item)
                if item.outcome == "ready":
                    return TransitionEvaluation("ready", phase.name, tuple(considered))
                if item.outcome == "blocked":
                    preparations = self.phases[item.to].preparations_for(item.missing)
                    return TransitionEvaluation("blocked", phase.name, tuple(considered), preparations)
        return TransitionEvaluation("none", phase.name, tuple(considered))

    def _consider(self, index: int, way: Transition, state: State, prepared: Collection[str] = ()) -> Considered:
        target = self.phases[way.to]
        guard = explained(way.when, state)
        target_guard = None
        missing: tuple[str, ...] = ()
        outcome: Outcome = "guard is false"
        if guard.value:
            outcome = "ready"
            target_guard = None if target.guard is None else explained(target.guard, state)
            missing = self.missing(way.to, state)
            if target_guard is not None and not target_guard.value:
                outcome = "target's guard is false"
            elif missing:
                can_prepare = way.to not in prepared and target.preparations_for(missing)
                outcome = "blocked" if can_prepare else "requirement missing"
        return Considered(index, way.to, way.because, outcome, guard, target_guard, missing)

    def missing(self, name: str, state: State) -> tuple[str, ...]:
        """The keys that phase `name` requires and that are not set."""
        return tuple(need.key for need in self._phase(name).requires if not need.is_met(state))

    # -- moving ----------------------------------------------------------------------------------------------------

    def enter_initial(self, turn: int = 0) -> TransitionPlan:
        """The plan by which the conversation begins."""
        return self.begin(self.initial, TransitionTrigger.initial(), turn=turn)

    def follow(self, evaluation: TransitionEvaluation, turn: int) -> TransitionPlan:
        """The plan for an evaluation that is ready."""
        chosen = evaluation.chosen
        if chosen is None or evaluation.kind != "ready":
            raise AgentError(f"The phase {evaluation.phase} is not ready to be left")
        trigger = TransitionTrigger.guard(chosen.index)
        return self.begin(chosen.to, trigger, turn=turn, because=chosen.because, explanation=chosen.explanation)

    def transition_to(
        self, name: str, *, turn: int, source: str = "", reason: str = "", by_operator: bool = False
    ) -> TransitionPlan:
        """The plan for a move that code or the operator asks for; no guard is asked, see `missing`.

        Raises `AgentError` for an unknown phase, the current one, and for leaving a terminal phase, which only the
        operator may.
        """
        trigger = TransitionTrigger.operator(reason) if by_operator else TransitionTrigger.programmatic(source, reason)
        return self.begin(name, trigger, turn=turn, because=reason)

    def begin(
        self,
        target: str,
        trigger: TransitionTrigger,
        *,
        turn: int,
        because: str = "",
        explanation: Explanation | None = None,
    ) -> TransitionPlan:
        """The steps of a transition, in order; nothing changes before `commit`. Raises as `transition_to` does."""
        new = self._phase(target)
        old = self.current_phase if self.entered else None
        if old is None and target != self.initial:
            raise AgentError(f"The conversation begins with {self.initial}, not {target}", field="phase", value=target)
        if old is new:
            raise AgentError(f"The conversation is in phase {target} already", field="phase", value=target)
        if old is not None and old.terminal and trigger.kind != "operator":
            raise AgentError(f"The phase {old.name} is terminal and cannot be left", field="phase", value=target)
        steps: list[Step] = []
        if old is not None and old.on_exit is not None:
            steps.append(RunExit(old, old.on_exit))
        steps.append(MakeCurrent(new))
        if new.clear_on_enter:
            steps.append(ClearKeys(new.clear_on_enter))
        if new.presents:
            steps.append(NotePresented(new.presented_keys))
        if new.on_enter is not None:
            steps.append(RunEnter(new, new.on_enter))
        steps.append(ResolveInstruction(new))
        if new.on_enter_context is not None:
            steps.append(GatherContext(new, new.on_enter_context))
        from_phase = "" if old is None else old.name
        return TransitionPlan(from_phase, new, trigger, turn, tuple(steps), because, explanation)

    def commit(self, plan: TransitionPlan, now: float) -> PhaseTransition:
        """Make the plan's phase the current one and remember it. `now` is in seconds, monotonic.

        Raises `AgentError` when the conversation has moved since the plan was made.
        """
        if plan.from_phase != (self.current if self.entered else ""):
            raise AgentError(
                f"The conversation is in phase {self.current}, not in {plan.from_phase or 'none'}",
                remedy="Evaluate again",
            )
        record = PhaseTransition(
            plan.from_phase,
            plan.to_phase.name,
            plan.turn,
            now,
            plan.trigger,
            plan.because,
            plan.explanation,
            self.seconds_in_phase(now),
        )
        self.current = plan.to_phase.name
        self.entered = True
        self._since = now
        self._instruction = ""
        self.history.append(record)
        return record

    def resolve(self, state: State) -> ResolvedInstruction:
        """The current phase's instruction, without its modifiers; a function that fails is told of, not raised."""
        fault = None
        try:
            self._instruction = self.current_phase.instruction.resolve(state)
        except AgentError as error:
            fault = error
        return ResolvedInstruction(self._instruction, fault)

    def result(self, transition: PhaseTransition, gathered: object = None) -> TransitionResult:
        """What the model is to be given after `transition`, with what `GatherContext` gave.

        Raises `AgentError` when that is no text, list of texts or None.
        """
        phase = self._phase(transition.to_phase)
        prompt = phase.prompt_on_enter
        lines = (*context_lines(gathered, phase), *((prompt,) if isinstance(prompt, str) and prompt.strip() else ()))
        return TransitionResult(transition, self._instruction, lines, bool(prompt))

    # -- telling ---------------------------------------------------------------------------------------------------

    def describe_navigation(self, state: State) -> str:
        """Where the conversation stands and where it may go, in lines for the model."""
        phase = self.current_phase
        goal = first_line(self._instruction or self.resolve(state).text)
        lines = ["[Navigation]", f"Current phase: {phase.name}{': ' if goal else ''}{goal}"]
        if past := [item for item in self.history if item.from_phase][-3:]:
            lines.append(f"Came from: {', '.join(f'{item.from_phase} (turn {item.turn})' for item in past)}")
        if missing := [need.label for need in phase.needs if not need.is_met(state)]:
            lines.append(f"Still needed: {', '.join(missing)}")
        if phase.terminal:
            lines.append("This is the final phase.")
        elif phase.transitions:
            lines.append("May go on to:")
            for way in phase.transitions:
                because = f": {way.because}" if way.because else ""
                requires = [need.label for need in self.phases[way.to].requires if not need.is_met(state)]
                first = f" (first needs {', '.join(requires)})" if requires else ""
                lines.append(f"-> {way.to}{because}{first}")
        return "\n".join(lines)

    def ways(self, state: State) -> list[Considered]:
        """Every way out of the current phase as it stands, also those behind the decisive one."""
        return [self._consider(index, way, state) for index, way in enumerate(self.current_phase.transitions)]

    def needs(self, state: State) -> list[dict[str, Any]]:
        """What the current phase has to find out, as JSON."""
        return [
            {"key": need.key, "label": need.label, "met": need.is_met(state), "by": state.written_by(need.key)}
            for need in self.current_phase.needs
        ]

    def explain(self, state: State, now: float) -> dict[str, Any]:
        """Everything about where the conversation stands, as JSON: every transition with its live explanation."""
        phase = self.current_phase
        ways = self.ways(state)
        decisive = next((item for item in ways if item.outcome in ("ready", "blocked")), None)
        return {
            "phase": phase.name,
            "entered": self.entered,
            "terminal": phase.terminal,
            "seconds_in_phase": self.seconds_in_phase(now),
            "needs": self.needs(state),
            "transitions": [item.to_json() for item in ways],
            "next": decisive.to if decisive is not None and decisive.outcome == "ready" else None,
            "tools": None if phase.tools is None else list(phase.tools),
            "path": [item.to_json() for item in self.history],
        }

    # -- keeping ---------------------------------------------------------------------------------------------------

    def to_json(self, now: float) -> dict[str, Any]:
        """For a snapshot; explanations of past transitions are left to the journal."""
        return {
            "current": self.current,
            "entered": self.entered,
            "seconds_in_phase": self.seconds_in_phase(now),
            "history": [item.to_json() for item in self.history],
        }

    def restore(self, data: Mapping[str, Any], now: float, turn: int = 0) -> PhaseTransition | None:
        """Go on where `to_json` stood, without entering anything; the record for it, None when nothing was entered.

        The record is not part of the history. Raises `AgentError` when the phase no longer exists.
        """
        name = data["current"]
        if name not in self.phases:
            raise AgentError(
                f"The kept conversation is in phase {name}, which this agent does not have",
                remedy="Start a new session",
                field="phase",
                value=name,
            )
        self.current = name
        self.entered = bool(data["entered"])
        self._since = now - float(data["seconds_in_phase"])
        self._instruction = ""
        self.history = deque((PhaseTransition.from_json(item) for item in data["history"]), HISTORY_LIMIT)
        if not self.entered:
            return None
        return PhaseTransition(name, name, turn, now, TransitionTrigger.restored())

    def _phase(self, name: str) -> Phase:
        phase = self.phases.get(name)
        if phase is None:
            raise AgentError(
                f"There is no phase {name}", remedy=f"Use one of {', '.join(self.phases)}", field="phase", value=name
            )
        return phase


def explained(guard: Guard, state: State) -> Explanation:
    """The guard's decision with its reasons. A guard that raises is false, and its problem is told."""
    problem = ""
    try:
        value = guard.holds(state)
    except Exception as error:  # an author's function: whatever it raises is reported
        value, problem = False, str(error)
    tree = guard.explain(state)
    # The reasons are found by a second look, in which a function may fail that only `holds` can satisfy.
    if tree.value is value and not problem:
        return tree
    return replace(tree, value=value, problem=problem)


def context_lines(gathered: object, phase: Phase) -> tuple[str, ...]:
    """What `on_enter_context` gave, as lines; raises `AgentError` when it is no text, list of texts or None."""
    items = [gathered] if isinstance(gathered, str) else [] if gathered is None else gathered
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise AgentError(
            f"The on_enter_context of phase {phase.name} ({phase.defined_at}) gave {gathered!r:.80}",
            remedy="Return a text, a list of texts or None",
        )
    return tuple(item for item in items if item.strip())


def first_line(text: str) -> str:
    """The first line that says something, cut to `GOAL_LIMIT` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= GOAL_LIMIT:
        return line
    return line[:GOAL_LIMIT].rpartition(" ")[0] + " …"
