"""Describe transitions between phases: trigger, evaluation, plan and record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from gemini_live_runtime.conversation.phases import ContextHook, Hook, Phase, PhasePreparation
from gemini_live_runtime.records import frozen_record, record
from gemini_live_runtime.state.explanation import Explanation

TriggerKind = Literal["initial", "guard", "programmatic", "operator", "restored"]
Outcome = Literal["ready", "blocked", "guard is false", "target's guard is false", "requirement missing"]


@frozen_record
class TransitionTrigger:
    """Cause of a transition.

    `index` is that of the transition whose guard held; `source` names the code that requested it.
    """

    kind: TriggerKind
    index: int | None = None
    source: str = ""
    reason: str = ""

    @classmethod
    def initial(cls) -> TransitionTrigger:
        """Return the trigger of the first phase."""
        return cls("initial")

    @classmethod
    def guard(cls, index: int) -> TransitionTrigger:
        """Return the trigger of a transition whose guard held."""
        return cls("guard", index)

    @classmethod
    def programmatic(cls, source: str, reason: str = "") -> TransitionTrigger:
        """Return the trigger of a request by the agent's code."""
        return cls("programmatic", source=source, reason=reason)

    @classmethod
    def operator(cls, reason: str = "") -> TransitionTrigger:
        """Return the trigger of a request by the operator."""
        return cls("operator", source="operator", reason=reason)

    @classmethod
    def restored(cls) -> TransitionTrigger:
        """Return the trigger of a session that was restored."""
        return cls("restored")

    def to_json(self) -> dict[str, Any]:
        """Return JSON without empty fields."""
        tree: dict[str, Any] = {"kind": self.kind}
        if self.index is not None:
            tree["index"] = self.index
        if self.source:
            tree["source"] = self.source
        if self.reason:
            tree["reason"] = self.reason
        return tree


@frozen_record
class PhaseTransition:
    """Record of a transition.

    `at` is its time in monotonic seconds, `seconds_in_phase` the duration of the old phase. `from_phase` is "" for the
    first. `explanation` is that of the guard, None when no guard decided.
    """

    from_phase: str
    to_phase: str
    turn: int
    at: float
    trigger: TransitionTrigger
    because: str = ""
    explanation: Explanation | None = None
    seconds_in_phase: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return JSON without the explanation."""
        return {
            "from": self.from_phase,
            "to": self.to_phase,
            "turn": self.turn,
            "at": self.at,
            "trigger": self.trigger.to_json(),
            "because": self.because,
            "seconds_in_phase": self.seconds_in_phase,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PhaseTransition:
        """Read the result of `to_json`; raise `KeyError` or `TypeError` otherwise."""
        return cls(
            data["from"],
            data["to"],
            data["turn"],
            data["at"],
            TransitionTrigger(**data["trigger"]),
            data["because"],
            seconds_in_phase=data["seconds_in_phase"],
        )


@record
class ConsideredTransition:
    """A transition that was evaluated.

    `missing` are the keys that its target requires and that are not set.
    """

    index: int
    to: str
    because: str
    outcome: Outcome
    guard: Explanation
    target_guard: Explanation | None = None
    missing: tuple[str, ...] = ()

    @property
    def explanation(self) -> Explanation:
        """Decision on this transition as one tree."""
        parts = (self.guard,) if self.target_guard is None else (self.guard, self.target_guard)
        problem = f"{self.to} requires {', '.join(self.missing)}" if self.missing else ""
        return Explanation(f"to {self.to}", self.outcome == "ready", children=parts, problem=problem)

    def to_json(self) -> dict[str, Any]:
        """Return JSON without empty fields."""
        tree: dict[str, Any] = {
            "index": self.index,
            "to": self.to,
            "because": self.because,
            "outcome": self.outcome,
            "guard": self.guard.to_json(),
        }
        if self.target_guard is not None:
            tree["target_guard"] = self.target_guard.to_json()
        if self.missing:
            tree["missing"] = list(self.missing)
        return tree


@frozen_record
class TransitionEvaluation:
    """Decision of the current phase's transitions.

    `ready`: go to `target`. `blocked`: run `preparations`, which may fill `missing`, and evaluate again. `none`: stay.
    `considered` holds every transition that was evaluated, in order, up to the decisive one.
    """

    kind: Literal["ready", "blocked", "none"]
    phase: str
    considered: tuple[ConsideredTransition, ...] = ()
    preparations: tuple[PhasePreparation, ...] = ()

    @property
    def chosen(self) -> ConsideredTransition | None:
        """Decisive transition, or None."""
        return None if self.kind == "none" else self.considered[-1]

    @property
    def target(self) -> str:
        """Target of the decisive transition, or ""."""
        return "" if self.kind == "none" else self.considered[-1].to

    @property
    def index(self) -> int | None:
        """Index of the decisive transition in the phase, or None."""
        return None if self.kind == "none" else self.considered[-1].index

    @property
    def missing(self) -> tuple[str, ...]:
        """Keys that the target requires and that are not set."""
        return () if self.kind == "none" else self.considered[-1].missing

    @property
    def explanation(self) -> Explanation:
        """Whole decision as one tree."""
        children = tuple(item.explanation for item in self.considered)
        return Explanation(f"leave {self.phase}", self.kind == "ready", children=children)

    def to_json(self) -> dict[str, Any]:
        """Return JSON."""
        return {
            "kind": self.kind,
            "phase": self.phase,
            "target": self.target,
            "considered": [item.to_json() for item in self.considered],
            "preparations": [item.name for item in self.preparations],
        }


@record
class RunExit:
    """Step: run the old phase's `on_exit`."""

    phase: Phase
    run: Hook


@record
class MakeCurrent:
    """Step: call `machine.commit(plan, now)`, which makes the new phase current."""

    phase: Phase


@record
class ClearKeys:
    """Step: remove these keys."""

    keys: tuple[str, ...]


@record
class MarkPresented:
    """Step: set these keys to true."""

    keys: tuple[str, ...]


@record
class RunEnter:
    """Step: run the new phase's `on_enter`."""

    phase: Phase
    run: Hook


@record
class ResolveInstruction:
    """Step: call `machine.resolve(state)`.

    Call `machine.describe_navigation(state)` before modifiers are rendered, since they may read it.
    """

    phase: Phase


@record
class GatherContext:
    """Step: take the text, or call the function of state and last turns for it."""

    phase: Phase
    source: str | ContextHook


Step: TypeAlias = RunExit | MakeCurrent | ClearKeys | MarkPresented | RunEnter | ResolveInstruction | GatherContext


@record
class TransitionPlan:
    """Steps of a transition, in order; later steps run also when one fails.

    `from_phase` is "" for the first transition.
    """

    from_phase: str
    to_phase: Phase
    trigger: TransitionTrigger
    turn: int
    steps: tuple[Step, ...]
    because: str = ""
    explanation: Explanation | None = None


@frozen_record
class TransitionResult:
    """A finished transition with the instruction and context for the model.

    With `prompt`, the model speaks first.
    """

    transition: PhaseTransition
    instruction: str
    context: tuple[str, ...] = ()
    prompt: bool = False
