"""Moving between phases as data: why, whether, the steps of it, and the record that stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from gemini_live_runtime.conversation.phases import ContextHook, Hook, Phase, PhasePreparation
from gemini_live_runtime.state.explanation import Explanation

TriggerKind = Literal["initial", "guard", "programmatic", "operator", "restored"]
Outcome = Literal["ready", "blocked", "guard is false", "target's guard is false", "requirement missing"]


@dataclass(frozen=True, slots=True)
class TransitionTrigger:
    """What set a transition off. `index` is that of the transition whose guard held; `source` is who asked for it."""

    kind: TriggerKind
    index: int | None = None
    source: str = ""
    reason: str = ""

    @classmethod
    def initial(cls) -> TransitionTrigger:
        """The conversation begins."""
        return cls("initial")

    @classmethod
    def guard(cls, index: int) -> TransitionTrigger:
        """A transition's guard held."""
        return cls("guard", index)

    @classmethod
    def programmatic(cls, source: str, reason: str = "") -> TransitionTrigger:
        """The agent's code asked for it."""
        return cls("programmatic", source=source, reason=reason)

    @classmethod
    def operator(cls, reason: str = "") -> TransitionTrigger:
        """The operator moved the conversation."""
        return cls("operator", source="operator", reason=reason)

    @classmethod
    def restored(cls) -> TransitionTrigger:
        """A kept session goes on where it stood."""
        return cls("restored")

    def to_json(self) -> dict[str, Any]:
        """As JSON, without what is empty."""
        tree: dict[str, Any] = {"kind": self.kind}
        if self.index is not None:
            tree["index"] = self.index
        if self.source:
            tree["source"] = self.source
        if self.reason:
            tree["reason"] = self.reason
        return tree


@dataclass(frozen=True, slots=True)
class PhaseTransition:
    """A transition that was made: its turn, its time `at` (seconds, monotonic), and how long the old phase lasted.

    `from_phase` is "" for the first. `explanation` is the decision's, None where no guard was asked.
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
        """As JSON, without the explanation."""
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
        """Read `to_json`; raises `KeyError` or `TypeError` for anything else."""
        return cls(
            data["from"],
            data["to"],
            data["turn"],
            data["at"],
            TransitionTrigger(**data["trigger"]),
            data["because"],
            seconds_in_phase=data["seconds_in_phase"],
        )


@dataclass(frozen=True, slots=True)
class Considered:
    """One transition that was looked at. `missing` are the keys its target requires that are not set."""

    index: int
    to: str
    because: str
    outcome: Outcome
    guard: Explanation
    target_guard: Explanation | None = None
    missing: tuple[str, ...] = ()

    @property
    def explanation(self) -> Explanation:
        """The decision on this transition as one tree."""
        parts = (self.guard,) if self.target_guard is None else (self.guard, self.target_guard)
        problem = f"{self.to} requires {', '.join(self.missing)}" if self.missing else ""
        return Explanation(f"to {self.to}", self.outcome == "ready", children=parts, problem=problem)

    def to_json(self) -> dict[str, Any]:
        """As JSON, without what is empty."""
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


@dataclass(frozen=True, slots=True)
class TransitionEvaluation:
    """What the current phase's transitions decide now.

    `ready`: go to `target`. `blocked`: run `preparations`, which may fill `missing`, and evaluate again. `none`: stay.
    `considered` holds every transition that was looked at, in order; those after the decisive one were not.
    """

    kind: Literal["ready", "blocked", "none"]
    phase: str
    considered: tuple[Considered, ...] = ()
    preparations: tuple[PhasePreparation, ...] = ()

    @property
    def chosen(self) -> Considered | None:
        """The decisive transition, None when none is."""
        return None if self.kind == "none" else self.considered[-1]

    @property
    def target(self) -> str:
        """Where it leads; "" for nowhere."""
        return "" if self.kind == "none" else self.considered[-1].to

    @property
    def index(self) -> int | None:
        """The decisive transition's place in the phase."""
        return None if self.kind == "none" else self.considered[-1].index

    @property
    def missing(self) -> tuple[str, ...]:
        """Keys the target requires that are not set."""
        return () if self.kind == "none" else self.considered[-1].missing

    @property
    def explanation(self) -> Explanation:
        """The whole decision as one tree."""
        children = tuple(item.explanation for item in self.considered)
        return Explanation(f"leave {self.phase}", self.kind == "ready", children=children)

    def to_json(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "kind": self.kind,
            "phase": self.phase,
            "target": self.target,
            "considered": [item.to_json() for item in self.considered],
            "preparations": [item.name for item in self.preparations],
        }


@dataclass(frozen=True, slots=True)
class RunExit:
    """Run the old phase's `on_exit`."""

    phase: Phase
    run: Hook


@dataclass(frozen=True, slots=True)
class MakeCurrent:
    """Call `machine.commit(plan, now)`: from here on the new phase is the current one."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class ClearKeys:
    """Remove these keys."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NotePresented:
    """Set these keys to true."""

    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RunEnter:
    """Run the new phase's `on_enter`."""

    phase: Phase
    run: Hook


@dataclass(frozen=True, slots=True)
class ResolveInstruction:
    """Call `machine.resolve(state)`, and `machine.describe_navigation(state)` before modifiers are rendered."""

    phase: Phase


@dataclass(frozen=True, slots=True)
class GatherContext:
    """Take the text, or run the function with the state and the transcript's last turns."""

    phase: Phase
    source: str | ContextHook


Step: TypeAlias = RunExit | MakeCurrent | ClearKeys | NotePresented | RunEnter | ResolveInstruction | GatherContext


@dataclass(frozen=True, slots=True)
class TransitionPlan:
    """What is to be done for a transition, in order; a step that fails stops nothing. `from_phase` may be ""."""

    from_phase: str
    to_phase: Phase
    trigger: TransitionTrigger
    turn: int
    steps: tuple[Step, ...]
    because: str = ""
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True)
class TransitionResult:
    """A finished transition: the phase's instruction, lines of context for the model, and whether it speaks first."""

    transition: PhaseTransition
    instruction: str
    context: tuple[str, ...] = ()
    prompt: bool = False
