"""Decide which phase a conversation is in and which transition to take.

The machine decides; the session runs the authors' hooks. A transition is evaluated, planned, carried out and committed:

1. `evaluate` picks the first transition whose guard holds and whose target may be entered.
2. `follow` or `transition_to` returns a `TransitionPlan` with the steps in order.
3. The session runs the steps. At `MakeCurrent`, after the old phase's `on_exit`, it calls `commit`.

Nothing changes before `commit`, so a plan can be abandoned or previewed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from gemini_live_runtime.author_code import USER_ERRORS, plain_text
from gemini_live_runtime.conversation.phase_check import check_structure, raise_faults
from gemini_live_runtime.conversation.phases import Phase, Transition
from gemini_live_runtime.conversation.transitions import (
    ClearKeys,
    ConsideredTransition,
    GatherContext,
    MakeCurrent,
    MarkPresented,
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
from gemini_live_runtime.records import record
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.guards import Guard
from gemini_live_runtime.state.store import State

MAX_HISTORY = 100
"""Transitions in the history; the oldest is dropped."""

MAX_GOAL = 200
"""Characters of an instruction's first line in the navigation text."""


@record
class ResolvedInstruction:
    """Text of a phase's instruction; with an `error`, the last one that was resolved."""

    text: str
    error: AgentError | None = None


class PhaseMachine:
    """The phases of a conversation and the current one.

    Raises `AgentError` naming every fault of phases that cannot be used. Until the initial phase is entered, nothing
    is evaluated. Not thread-safe.
    """

    def __init__(self, phases: Iterable[Phase], initial: str) -> None:
        phases = tuple(phases)
        raise_faults(check_structure(phases, initial))
        self.phases: dict[str, Phase] = {phase.name: phase for phase in phases}
        self.initial = initial
        self.current = initial
        self.entered = False
        self.history: deque[PhaseTransition] = deque(maxlen=MAX_HISTORY)
        self._since = 0.0
        self._instruction = ""

    def copy(self) -> PhaseMachine:
        """Return an independent machine in the same phase with the same history."""
        other = copy(self)
        other.history = deque(self.history, MAX_HISTORY)
        return other

    @property
    def current_phase(self) -> Phase:
        """Phase that the conversation is in."""
        return self.phases[self.current]

    def seconds_in_phase(self, now: float) -> float:
        """Return the seconds since the current phase was entered."""
        return max(0.0, now - self._since) if self.entered else 0.0

    def tools_allowed(self) -> tuple[str, ...] | None:
        """Return the names of the tools that the model may use now, or None for all."""
        return self.current_phase.tools

    def allows(self, tool: str) -> bool:
        """Return True when the model may use this tool now."""
        allowed = self.current_phase.tools
        return allowed is None or tool in allowed

    # -- deciding --------------------------------------------------------------------------------------------------

    def may_leave(self, state: State) -> bool:
        """Return True when a guard holds or raises: a quick test before `evaluate`."""
        if self.entered:
            for transition in self.current_phase.transitions:
                try:
                    if transition.when.holds(state):
                        return True
                except USER_ERRORS:  # An author's function failed: `evaluate` reports it.
                    return True
        return False

    def evaluate(self, state: State, *, prepared: Collection[str] = ()) -> TransitionEvaluation:
        """Return the transition to take now; change nothing.

        The first one decides whose guard holds and whose target may be entered. A target that misses a required key
        blocks if it has preparations for it and is not among the `prepared`; otherwise it is passed over.
        """
        considered: list[ConsideredTransition] = []
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

    def _consider(
        self, index: int, transition: Transition, state: State, prepared: Collection[str] = ()
    ) -> ConsideredTransition:
        target = self.phases[transition.to]
        guard = explain_guard(transition.when, state)
        target_guard = None
        missing: tuple[str, ...] = ()
        outcome: Outcome = "guard is false"
        if guard.value:
            outcome = "ready"
            target_guard = None if target.guard is None else explain_guard(target.guard, state)
            missing = self.missing(transition.to, state)
            if target_guard is not None and not target_guard.value:
                outcome = "target's guard is false"
            elif missing:
                # Prepared once and still missing a key: preparing again would repeat without end.
                can_prepare = transition.to not in prepared and target.preparations_for(missing)
                outcome = "blocked" if can_prepare else "requirement missing"
        return ConsideredTransition(index, transition.to, transition.because, outcome, guard, target_guard, missing)

    def missing(self, name: str, state: State) -> tuple[str, ...]:
        """Return the keys that phase `name` requires and that are not set."""
        return tuple(need.key for need in self._phase(name).requires if not need.is_met(state))

    # -- moving ----------------------------------------------------------------------------------------------------

    def enter_initial(self, turn: int = 0) -> TransitionPlan:
        """Plan the entry into the initial phase."""
        return self.begin(self.initial, TransitionTrigger.initial(), turn=turn)

    def follow(self, evaluation: TransitionEvaluation, turn: int) -> TransitionPlan:
        """Plan the transition of an evaluation that is ready."""
        chosen = evaluation.chosen
        if chosen is None or evaluation.kind != "ready":
            raise AgentError(f"The phase {evaluation.phase} is not ready to be left")
        trigger = TransitionTrigger.guard(chosen.index)
        return self.begin(chosen.to, trigger, turn=turn, because=chosen.because, explanation=chosen.explanation)

    def transition_to(
        self, name: str, *, turn: int, source: str = "", reason: str = "", by_operator: bool = False
    ) -> TransitionPlan:
        """Plan a transition that code or the operator requests.

        Guards and `missing` keys do not matter. Raises `AgentError` for an unknown phase, the current one, and for
        leaving a terminal phase, which only the operator may do.
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
        """Plan the steps of a transition; raise as `transition_to` does."""
        self.check_target(target, by_operator=trigger.kind == "operator")
        new = self._phase(target)
        old = self.current_phase if self.entered else None
        # `on_exit` still sees the old phase. Keys are cleared before `on_enter`, which may set them. The instruction
        # and the context come last: they may read what `on_enter` wrote.
        steps: list[Step] = []
        if old is not None and old.on_exit is not None:
            steps.append(RunExit(old, old.on_exit))
        steps.append(MakeCurrent(new))
        if new.clear_on_enter:
            steps.append(ClearKeys(new.clear_on_enter))
        if new.presents:
            steps.append(MarkPresented(new.presented_keys))
        if new.on_enter is not None:
            steps.append(RunEnter(new, new.on_enter))
        steps.append(ResolveInstruction(new))
        if new.on_enter_context is not None:
            steps.append(GatherContext(new, new.on_enter_context))
        from_phase = "" if old is None else old.name
        return TransitionPlan(from_phase, new, trigger, turn, tuple(steps), because, explanation)

    def check_target(self, target: str, *, by_operator: bool = False) -> None:
        """Raise `AgentError` when guards aside the conversation cannot go to `target`.

        It cannot go to an unknown phase, to the current one, or out of a terminal one, which only the operator may.
        """
        new = self._phase(target)
        old = self.current_phase if self.entered else None
        if old is None and target != self.initial:
            raise AgentError(f"The conversation begins with {self.initial}, not {target}", field="phase", value=target)
        if old is new:
            raise AgentError(f"The conversation is in phase {target} already", field="phase", value=target)
        if not by_operator:
            self.check_leavable(target)

    def check_leavable(self, target: str) -> None:
        """Raise `AgentError` for a move to `target` out of a terminal phase."""
        if self.entered and self.current_phase.terminal:
            raise AgentError(f"The phase {self.current} is terminal and cannot be left", field="phase", value=target)

    def check_known(self, name: str) -> None:
        """Raise `AgentError` for a phase that the agent does not have."""
        self._phase(name)

    def commit(self, plan: TransitionPlan, now: float) -> PhaseTransition:
        """Make the plan's phase the current one and record it.

        `now` is in monotonic seconds. Raises `AgentError` when another transition was committed since the plan was
        made.
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
        """Resolve the current phase's instruction, without modifiers; return errors."""
        fault = None
        try:
            self._instruction = self.current_phase.instruction.resolve(state)
        except AgentError as error:
            fault = error
        return ResolvedInstruction(self._instruction, fault)

    def result(self, transition: PhaseTransition, gathered: object = None) -> TransitionResult:
        """Return the instruction and context for the model after `transition`.

        `gathered` is the result of `GatherContext`. Raises `AgentError` unless it is a text, a list of texts or None.
        """
        phase = self._phase(transition.to_phase)
        prompt = phase.prompt_on_enter
        lines = (*context_lines(gathered, phase), *((prompt,) if isinstance(prompt, str) and prompt.strip() else ()))
        return TransitionResult(transition, self._instruction, lines, bool(prompt))

    # -- describing ------------------------------------------------------------------------------------------------

    def describe_navigation(self, state: State) -> str:
        """Describe the current phase and its transitions in lines for the model."""
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
            for transition in phase.transitions:
                because = f": {transition.because}" if transition.because else ""
                requires = [need.label for need in self.phases[transition.to].requires if not need.is_met(state)]
                first = f" (first needs {', '.join(requires)})" if requires else ""
                lines.append(f"-> {transition.to}{because}{first}")
        return "\n".join(lines)

    def consider_transitions(self, state: State) -> list[ConsideredTransition]:
        """Return the status of all of the phase's transitions, also after a decisive one."""
        transitions = self.current_phase.transitions
        return [self._consider(index, transition, state) for index, transition in enumerate(transitions)]

    def needs(self, state: State) -> list[dict[str, Any]]:
        """Return the needs of the current phase as JSON."""
        return [
            {"key": need.key, "label": need.label, "met": need.is_met(state), "by": state.written_by(need.key)}
            for need in self.current_phase.needs
        ]

    def explain(self, state: State, now: float) -> dict[str, Any]:
        """Return phase, needs, explained transitions, tools and history as JSON."""
        phase = self.current_phase
        transitions = self.consider_transitions(state)
        decisive = next((item for item in transitions if item.outcome in ("ready", "blocked")), None)
        return {
            "phase": phase.name,
            "entered": self.entered,
            "terminal": phase.terminal,
            "seconds_in_phase": self.seconds_in_phase(now),
            "needs": self.needs(state),
            "transitions": [item.to_json() for item in transitions],
            "next": decisive.to if decisive is not None and decisive.outcome == "ready" else None,
            "tools": None if phase.tools is None else list(phase.tools),
            "path": [item.to_json() for item in self.history],
        }

    # -- saving ----------------------------------------------------------------------------------------------------

    def to_json(self, now: float) -> dict[str, Any]:
        """Return a snapshot; only the journal has explanations of past transitions."""
        return {
            "current": self.current,
            "entered": self.entered,
            "seconds_in_phase": self.seconds_in_phase(now),
            "history": [item.to_json() for item in self.history],
        }

    def restore(self, data: Mapping[str, Any], now: float, turn: int = 0) -> PhaseTransition | None:
        """Restore a snapshot without entering its phase; return a record of it, or None.

        The record is not part of the history; it is None when no phase was entered. Raises `AgentError` when the
        phase no longer exists.
        """
        name = data["current"]
        if name not in self.phases:
            raise AgentError(
                f"The saved conversation is in phase {name}, which this agent does not have",
                remedy="Start a new session",
                field="phase",
                value=name,
            )
        self.current = name
        self.entered = bool(data["entered"])
        self._since = now - float(data["seconds_in_phase"])
        self._instruction = ""
        self.history = deque((PhaseTransition.from_json(item) for item in data["history"]), MAX_HISTORY)
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


def explain_guard(guard: Guard, state: State) -> Explanation:
    """Explain a guard's decision; one that raises is false, with its error as problem."""
    problem = ""
    try:
        value = guard.holds(state)
    except USER_ERRORS as error:  # An author's function may raise anything.
        value, problem = False, str(error)
    tree = guard.explain(state)
    # `explain` runs functions a second time, through a recorder, and may come to another result. `holds` decides.
    if tree.value is value and not problem:
        return tree
    return replace(tree, value=value, problem=problem)


def context_lines(gathered: object, phase: Phase) -> tuple[str, ...]:
    """Return the result of `on_enter_context` as lines; raise `AgentError`."""
    items = [gathered] if isinstance(gathered, str) else [] if gathered is None else gathered
    if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
        raise AgentError(
            f"The on_enter_context of phase {phase.name} ({phase.defined_at}) gave {gathered!r:.80}",
            remedy="Return a text, a list of texts or None",
        )
    return tuple(item for item in map(plain_text, items) if item.strip())


def first_line(text: str) -> str:
    """Return the first line that is not blank, cut to `MAX_GOAL` characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= MAX_GOAL:
        return line
    return line[:MAX_GOAL].rpartition(" ")[0] + " …"
