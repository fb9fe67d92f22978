"""Promotion: which extracted fields become state, each decision with its reason."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as _field
from enum import Enum
from typing import Any

from gemini_live_runtime.conversation.phases import PRESENTED
from gemini_live_runtime.errors import AgentError, GuardError, StateError, caller_place
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.guards import Guard, as_guard
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import Term, key
from gemini_live_runtime.text import sanitise_line

MAX_REASON = 200
"""Characters of what an error adds to a reason."""


class MergePolicy(Enum):
    """What happens when the key has a value already; null counts as none."""

    KEEP_KNOWN = "keep known"
    OVERWRITE = "overwrite"


Accept = Callable[[Any, State], Any]
"""A condition on (value, state)."""


@dataclass(frozen=True, slots=True)
class _Condition:
    """`holds` decides; `refusal` says why not."""

    holds: Accept
    refusal: str


@dataclass(frozen=True, slots=True, eq=False)
class FieldPromotion:
    """A rule: the extracted field `field` may become the state key `target` ("" is `app:<field>`).

    Build it with `keep_known`, `overwrite`, `true_only` or `non_empty`, refine it with `to`, `when` and
    `after_presented`, each of which gives a new rule.
    """

    field: str
    target: str | StateKey[Any] = ""
    merge: MergePolicy = MergePolicy.KEEP_KNOWN
    conditions: tuple[_Condition, ...] = ()
    defined_at: str = _field(default_factory=caller_place, repr=False, kw_only=True)

    @property
    def key(self) -> str:
        """The key that is written."""
        return self.target.key if isinstance(self.target, StateKey) else self.target or f"app:{self.field}"

    @classmethod
    def keep_known(cls, field: str) -> FieldPromotion:
        """Write the field only while the key has no value."""
        return cls(field)

    @classmethod
    def overwrite(cls, field: str) -> FieldPromotion:
        """Write the field whatever the key holds."""
        return cls(field, merge=MergePolicy.OVERWRITE)

    @classmethod
    def true_only(cls, field: str) -> FieldPromotion:
        """Write the field when it is true: what was once confirmed is not taken back by a later reading."""
        condition = _Condition(lambda value, _: value is True, "it is not true")
        return cls(field, merge=MergePolicy.OVERWRITE, conditions=(condition,))

    @classmethod
    def non_empty(cls, field: str) -> FieldPromotion:
        """Write the field when it is a text that is not blank."""
        condition = _Condition(_has_words, "it is no text, or blank")
        return cls(field, merge=MergePolicy.OVERWRITE, conditions=(condition,))

    def to(self, target: str | StateKey[Any]) -> FieldPromotion:
        """Write to this key; with a `StateKey` only values of its type. Raises `StateError` for an unusable key."""
        if isinstance(target, str):
            check_key(target)
        name = target.key if isinstance(target, StateKey) else target
        if name.startswith("derived:"):
            raise AgentError(
                f"The field {self.field} cannot be promoted to {name}, which is computed",
                remedy="Promote it to a key that the computation reads",
                field="to",
                value=name,
            )
        return replace(self, target=target)

    def when(self, condition: Guard | Term | bool | Accept) -> FieldPromotion:
        """Write only while this holds too: a guard over state, or a function of (value, state).

        Guards see what this extraction has written so far. A function that raises refuses the field.
        """
        if isinstance(condition, Guard | Term | bool):
            guard = as_guard(condition)
            added = _Condition(lambda _, state: guard.holds(state), f"{guard.text} does not hold")
        else:
            _check_arity(self.field, condition)
            added = _Condition(condition, f"{function_name(condition)} says no")
        return replace(self, conditions=(*self.conditions, added))

    def after_presented(self, concept: str) -> FieldPromotion:
        """Write only once `session:presented:<concept>` is true: nobody agrees to what was not presented."""
        presented = key(f"{PRESENTED}{concept}").is_true()
        condition = _Condition(lambda _, state: presented.holds(state), f"{concept} was not presented yet")
        return replace(self, conditions=(*self.conditions, condition))


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of a field: `accepted`, or why not. `key` is where it goes, or would have gone."""

    field: str
    key: str
    value: Any
    accepted: bool
    reason: str
    extractor: str = ""


def promote(result: Mapping[str, Any], rules: Sequence[FieldPromotion], state: State, extractor: str) -> list[Decision]:
    """What `rules` make of an extracted object, in their order; writes nothing.

    A field that is absent gives no decision; null never erases. Rules see what those before them accepted. Without any
    rule each field goes to `app:<field>`, over what is there. `result` holds JSON values.
    """
    trial = state.fork()
    rules = rules or [FieldPromotion.overwrite(name) for name in result]
    return [_decide(result[rule.field], rule, trial, extractor) for rule in rules if rule.field in result]


def apply(decisions: Sequence[Decision], state: State) -> None:
    """Write what was accepted, together, as the extractor's; raises `StateError`, then nothing was written."""
    with state.transaction() as transaction:
        for decision in decisions:
            if decision.accepted:
                with state.writing_as(Origin("extractor", decision.extractor, decision.field)):
                    transaction.set(decision.key, decision.value)


def _has_words(value: Any, _: State) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _decide(value: Any, rule: FieldPromotion, trial: State, extractor: str) -> Decision:
    reason = _refusal(value, rule, trial)
    accepted = not reason
    if accepted:
        old = trial.get_raw(rule.key)
        known = trial.contains(rule.key) and old is not None
        by = trial.written_by(rule.key)
        try:
            trial.set(rule.target if isinstance(rule.target, StateKey) else rule.key, value)
        except StateError as error:
            accepted, reason = False, sanitise_line(str(error), MAX_REASON)
        else:
            value = trial.get(rule.key) if isinstance(rule.target, str) else trial.get_raw(rule.key)
            if not known:
                reason = "it was not known"
            elif same_value(old, value):
                reason = "it is what is known"
            else:
                reason = f"it replaces what {by} wrote" if by else "it replaces what was known"
    return Decision(rule.field, rule.key, value, accepted, reason, extractor)


def _refusal(value: Any, rule: FieldPromotion, trial: State) -> str:
    if value is None:
        return "it is null, which says nothing"
    for condition in rule.conditions:
        try:
            if not condition.holds(value, trial):
                return condition.refusal
        except GuardError as error:
            return sanitise_line(str(error), MAX_REASON)
        except (Exception, SystemExit) as error:
            return sanitise_line(f"a condition failed: {type(error).__name__}: {error}", MAX_REASON)
    if rule.merge is MergePolicy.KEEP_KNOWN and trial.contains(rule.key) and trial.get_raw(rule.key) is not None:
        return f"{rule.key} is known already"
    return ""


def _check_arity(name: str, condition: Accept) -> None:
    try:
        inspect.signature(condition).bind(None, None)
    except TypeError:
        raise AgentError(
            f"The condition on the field {name} cannot be called with a value and the state",
            remedy="Give a guard, or a function of (value, state)",
            field="when",
            value=function_name(condition) if callable(condition) else condition,
        ) from None
    except ValueError:
        pass  # Built-in functions tell no signature.
