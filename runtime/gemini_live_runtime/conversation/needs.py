"""Track the needs of a phase, and repair a conversation that does not fill them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from gemini_live_runtime.author_code import exact_text
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import frozen_record
from gemini_live_runtime.state.functions import check_words
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.protocols import Reader
from gemini_live_runtime.state.scopes import as_key
from gemini_live_runtime.state.terms import Term
from gemini_live_runtime.state.values import MISSING


@dataclass(frozen=True, slots=True, init=False)
class Need:
    """A state key to fill, with a label for the model and for people."""

    key: str
    label: str

    def __init__(self, key: str | Term, label: str = "") -> None:
        """Default the label to a `StateKey`'s description, else to the key's words."""
        name = key.key if isinstance(key, Term) else as_key(key)
        check_words(f"The label of {name}", label, field="label")
        described = key.description if isinstance(key, StateKey) else ""
        object.__setattr__(self, "key", name)
        object.__setattr__(self, "label", exact_text(label) or described or key_words(name))

    def is_met(self, reader: Reader) -> bool:
        """Return True when the key is set and not null."""
        return is_filled(reader, self.key)


NeedLike: TypeAlias = str | Term | Need


def as_needs(values: NeedLike | Iterable[NeedLike]) -> tuple[Need, ...]:
    """Return one need or several as a tuple of needs."""
    listed: Iterable[NeedLike] = (values,) if isinstance(values, str | Term | Need) else values
    return tuple(value if isinstance(value, Need) else Need(value) for value in listed)


def key_words(key: str) -> str:
    """Return a key as words: "callback number" for `user:callback_number`."""
    return key.rpartition(":")[2].replace("_", " ")


def is_filled(reader: Reader, key: str) -> bool:
    """Return True when the key is set and not null."""
    value = reader._raw(key)
    return value is not MISSING and value is not None


@frozen_record(kw_only=True)
class RepairConfig:
    """Numbers of turns without progress after which to nudge the model or escalate.

    Both are at least 1. Raises `AgentError` for numbers that are not in this order.
    """

    nudge_after: int = 3
    escalate_after: int = 6

    def __post_init__(self) -> None:
        whole = type(self.nudge_after) is int and type(self.escalate_after) is int
        if not (whole and 1 <= self.nudge_after <= self.escalate_after):
            raise AgentError(
                f"Repair cannot nudge after {self.nudge_after!r} and escalate after {self.escalate_after!r} turns",
                remedy="Give whole numbers, 1 <= nudge_after <= escalate_after",
                field="escalate_after",
                value=self.escalate_after,
            )


@frozen_record
class RepairAction:
    """Action of this turn.

    `attempt` counts the nudges since the last progress, from 1; `turns` counts the turns.
    """

    kind: Literal["none", "nudge", "escalate"] = "none"
    unfulfilled: tuple[Need, ...] = ()
    attempt: int = 0
    turns: int = 0

    @property
    def keys(self) -> list[str]:
        """Keys that are missing."""
        return [need.key for need in self.unfulfilled]

    @property
    def text(self) -> str:
        """Line for the model, different at each attempt; "" without a nudge."""
        if self.kind != "nudge":
            return ""
        missing = ", ".join(need.label for need in self.unfulfilled)
        since = "" if self.attempt == 1 else f" after {self.turns} turns"
        return f"[Still needed{since}] {missing}. Ask for this next."


NO_REPAIR = RepairAction()


class NeedsFulfillment:
    """Counter of the turns in which no need of a phase was filled.

    A turn in which a need is newly filled is progress and resets the count. Escalation comes once, until there is
    progress or another phase.
    """

    __slots__ = ("_escalated", "_missing", "_phase", "_turns", "config")

    def __init__(self, config: RepairConfig | None = None) -> None:
        self.config = config or RepairConfig()
        self.reset()

    @property
    def escalated(self) -> bool:
        """True after an escalation, until there is progress or another phase."""
        return self._escalated

    @property
    def turns_without_progress(self) -> int:
        """Turns since the phase began or a need was filled."""
        return self._turns

    def reset(self, phase: str = "") -> None:
        """Reset the count when a phase is entered."""
        self._phase = phase
        self._turns = 0
        self._missing: frozenset[str] = frozenset()
        self._escalated = False

    def evaluate(self, phase: str, needs: Iterable[NeedLike], reader: Reader) -> RepairAction:
        """Count a turn and return the action for the needs of the current phase."""
        if phase != self._phase:
            self.reset(phase)
        unfulfilled = tuple(need for need in as_needs(needs) if not need.is_met(reader))
        missing = frozenset(need.key for need in unfulfilled)
        # Progress is a need filled since the last turn; needs that appear meanwhile do not undo it.
        progress = bool(self._missing - missing)
        self._missing = missing
        if progress or not missing:
            self._turns = 0
            self._escalated = False
            return NO_REPAIR
        self._turns += 1
        if self._turns >= self.config.escalate_after:
            if self._escalated:
                return NO_REPAIR
            self._escalated = True
            return RepairAction("escalate", unfulfilled, turns=self._turns)
        if self._turns >= self.config.nudge_after:
            return RepairAction("nudge", unfulfilled, self._turns - self.config.nudge_after + 1, self._turns)
        return NO_REPAIR

    def to_json(self) -> dict[str, Any]:
        """Return the count for a snapshot."""
        return {
            "phase": self._phase,
            "turns": self._turns,
            "missing": sorted(self._missing),
            "escalated": self._escalated,
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Restore the count of `to_json`."""
        self.reset(str(data["phase"]))
        self._turns = int(data["turns"])
        self._missing = frozenset(data["missing"])
        self._escalated = bool(data["escalated"])
