"""Promote extracted fields to state by rules, each decision with its reason.

Rules are tried in order on an overlay of the state, so each sees the fields that earlier rules accepted. The session
then writes all accepted fields in one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as _field
from enum import Enum
from typing import Any

from gemini_live_runtime.author_code import USER_ERRORS, error_text, exact_text
from gemini_live_runtime.choices import as_member
from gemini_live_runtime.conversation.phases import PRESENTED
from gemini_live_runtime.conversation.transcript_turn import TranscriptTurn, TranscriptWindow
from gemini_live_runtime.errors import AgentError, GuardError, StateError, caller_place
from gemini_live_runtime.json_values import same_value
from gemini_live_runtime.records import record
from gemini_live_runtime.state.functions import check_decides, check_name, function_name
from gemini_live_runtime.state.guards import Guard, as_guard
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.mutations import Mutation, Origin, decision_of
from gemini_live_runtime.state.reading import Readable
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import Term, key
from gemini_live_runtime.state.values import copy_value
from gemini_live_runtime.text import sanitise_line

MAX_REASON = 200
"""Characters of an error in a reason."""


class MergePolicy(Enum):
    """Treatment of a key that has a value; null counts as none."""

    KEEP_KNOWN = "keep known"
    OVERWRITE = "overwrite"


Accept = Callable[[Any, State], Any]
"""A condition on (value, state); the state can only be read."""


@record
class _Condition:
    """A condition with the reason for a refusal.

    A `concept` has to be presented before the user began to say the words that were read. `keys` are those that a guard
    reads.
    """

    holds: Callable[[Any, Readable], Any]
    refusal: str
    concept: str = ""
    keys: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class FieldPromotion:
    """A rule by which the extracted field `field` becomes the state key `target`.

    `target` "" is `app:<field>`. Build a rule with `keep_known`, `overwrite`, `true_only` or `non_empty`, refine it
    with `to`, `when` and `after_presented`, each of which returns a new rule.
    """

    field: str
    target: str | StateKey[Any] = ""
    merge: MergePolicy = MergePolicy.KEEP_KNOWN
    conditions: tuple[_Condition, ...] = ()
    defined_at: str = _field(default_factory=caller_place, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        merge = as_member(MergePolicy, self.merge)
        if not isinstance(merge, MergePolicy):
            raise AgentError(
                f"The field {self.field} cannot be merged by {self.merge!r:.60}",
                remedy=f"Use one of {', '.join(member.name.lower() for member in MergePolicy)}",
                field="merge",
                value=self.merge,
            )
        check_name("The field of a promotion", self.field, field="field")
        object.__setattr__(self, "merge", merge)
        object.__setattr__(self, "field", exact_text(self.field))
        if isinstance(self.target, StateKey) or self.target:
            object.__setattr__(self, "target", self._checked(self.target))

    @property
    def key(self) -> str:
        """Key to write."""
        return self.target.key if isinstance(self.target, StateKey) else self.target or f"app:{self.field}"

    @property
    def read_keys(self) -> frozenset[str]:
        """Keys that the guards of `when` read."""
        return frozenset(key for condition in self.conditions for key in condition.keys)

    @classmethod
    def keep_known(cls, field: str) -> FieldPromotion:
        """Write the field only while the key has no value."""
        return cls(field)

    @classmethod
    def overwrite(cls, field: str) -> FieldPromotion:
        """Write the field over any value."""
        return cls(field, merge=MergePolicy.OVERWRITE)

    @classmethod
    def true_only(cls, field: str) -> FieldPromotion:
        """Write the field when it is true.

        So a later reading does not take back a confirmation.
        """
        condition = _Condition(lambda value, _: value is True, "only true is written")
        return cls(field, merge=MergePolicy.OVERWRITE, conditions=(condition,))

    @classmethod
    def non_empty(cls, field: str) -> FieldPromotion:
        """Write the field when it is a text that is not blank."""
        condition = _Condition(_has_words, "it is not a text, or blank")
        return cls(field, merge=MergePolicy.OVERWRITE, conditions=(condition,))

    def to(self, target: str | StateKey[Any]) -> FieldPromotion:
        """Write to this key; with a `StateKey` only values of its type.

        Raises `StateError` for an invalid key and `AgentError` for a computed one.
        """
        return replace(self, target=self._checked(target))

    def _checked(self, target: str | StateKey[Any]) -> str | StateKey[Any]:
        if not isinstance(target, StateKey):
            target = check_key(target)
        name = target.key if isinstance(target, StateKey) else target
        if name.startswith("derived:"):
            raise AgentError(
                f"The field {self.field} cannot be promoted to {name}, which is computed",
                remedy="Promote it to a key that the computation reads",
                field="to",
                value=name,
            )
        return target

    def when(self, condition: Guard | Term | bool | Accept) -> FieldPromotion:
        """Write only while this holds as well: a guard, or a function of (value, state).

        Guards see the fields that this extraction has written so far. A function that raises refuses the field.
        """
        if isinstance(condition, Guard | Term | bool):
            guard = as_guard(condition)
            added = _Condition(
                lambda _, state: guard.holds(state), f"it is taken only while {guard.text}", keys=frozenset(guard.keys)
            )
        else:
            if not callable(condition):
                raise AgentError(
                    f"The condition on the field {self.field} cannot be {condition!r:.60}",
                    remedy="Give a guard, or a function of (value, state)",
                    field="when",
                    value=condition,
                )
            check_decides(f"The condition on the field {self.field}", condition, "(value, state)")
            accept = condition
            added = _Condition(
                lambda value, state: decision_of(accept, copy_value(value), state.read_only()),
                f"{function_name(condition)} returned false",
            )
        return replace(self, conditions=(*self.conditions, added))

    def after_presented(self, concept: str) -> FieldPromotion:
        """Write only what was said after a phase presented `concept` last.

        Each entry of such a phase renews `session:presented:<concept>`. A user cannot agree to something before it was
        presented. All of the user's words that were read have to be of later turns than the presentation, and begun
        after it, however late they or the extraction arrive. So once the user has said something since, the extractor
        reads nothing earlier (`said_since_presented`).
        """
        check_name("What a phase presents", concept, field="concept")
        concept = exact_text(concept)
        presented = key(f"{PRESENTED}{concept}").is_true()
        condition = _Condition(
            lambda _, state: presented.holds(state), f"{concept} was not presented yet", concept=concept
        )
        return replace(self, conditions=(*self.conditions, condition))


@record
class PromotionDecision:
    """Decision on a field with its reason; `key` is the target, also if refused."""

    field: str
    key: str
    value: Any
    accepted: bool
    reason: str
    extractor: str = ""


def promote(
    result: Mapping[str, Any],
    rules: Sequence[FieldPromotion],
    state: State,
    extractor: str,
    read: TranscriptWindow | None = None,
) -> list[PromotionDecision]:
    """Apply `rules` to an extracted object of JSON values and return the decisions.

    `read` is what the object was extracted from; only presentations before it count. None counts all of them.
    It writes nothing. An absent field gives no decision; null never erases a value. Rules see the fields that earlier
    ones accepted. Without any rule, each field goes to `app:<field>`, over any value.
    """
    trial = state.fork()
    rules = rules or [FieldPromotion.overwrite(name) for name in result]
    return [_decide(result[rule.field], rule, trial, extractor, read) for rule in rules if rule.field in result]


def said_since_presented(window: TranscriptWindow, rules: Sequence[FieldPromotion], state: State) -> TranscriptWindow:
    """Return the turns since the newest presentation that `rules` wait for.

    Returns all of `window` when there was no presentation, or the user has said nothing since. An older "yes" that was
    read together with newer words would count as said with them.
    """
    concepts = {condition.concept for rule in rules for condition in rule.conditions if condition.concept}
    marks = [mark for concept in concepts if (mark := state.evidence(f"{PRESENTED}{concept}")) is not None]
    if not marks:
        return window
    newest = max(marks, key=lambda mark: mark.sequence)
    first = len(window.turns)
    while first and (not window.turns[first - 1].user.strip() or _is_after(window.turns[first - 1], newest)):
        first -= 1
    since = window.without_first(first)
    return since if since.last_user else window


def apply_decisions(decisions: Sequence[PromotionDecision], state: State) -> None:
    """Write all accepted fields in the extractor's name, or raise `StateError`."""
    with state.transaction() as transaction:
        for decision in decisions:
            if decision.accepted:
                with state.writing_as(Origin("extractor", decision.extractor, decision.field)):
                    transaction.set(decision.key, decision.value)


def _has_words(value: Any, _: Readable) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _decide(
    value: Any, rule: FieldPromotion, trial: State, extractor: str, read: TranscriptWindow | None
) -> PromotionDecision:
    reason = _refusal(value, rule, trial, read)
    accepted = not reason
    if accepted:
        # Read before the write, which the reason compares with.
        old = trial.get_raw(rule.key)
        known = trial.contains(rule.key) and old is not None
        by = trial.written_by(rule.key)
        try:
            trial.set(rule.target if isinstance(rule.target, StateKey) else rule.key, value)
        except StateError as error:
            accepted, reason = False, sanitise_line(str(error), MAX_REASON)
        else:
            # The value as stored: its type may have converted it.
            value = trial.get(rule.key) if isinstance(rule.target, str) else trial.get_raw(rule.key)
            if not known:
                reason = "it was not known"
            elif same_value(old, value):
                reason = "it equals the known value"
            else:
                reason = f"it replaces the value of {by}" if by else "it replaces the known value"
    return PromotionDecision(rule.field, rule.key, value, accepted, reason, extractor)


def _refusal(value: Any, rule: FieldPromotion, trial: State, read: TranscriptWindow | None) -> str:
    if value is None:
        return "it is null"
    for condition in rule.conditions:
        try:
            if not condition.holds(value, trial):
                return condition.refusal
            if condition.concept and read is not None and (early := _said_too_early(condition.concept, trial, read)):
                return early
        except GuardError as error:
            return sanitise_line(str(error), MAX_REASON)
        except USER_ERRORS as error:
            return sanitise_line(f"a condition failed: {error_text(error)}", MAX_REASON)
    if rule.merge is MergePolicy.KEEP_KNOWN and trial.contains(rule.key) and trial.get_raw(rule.key) is not None:
        return f"{rule.key} is known already"
    return ""


def _said_too_early(concept: str, state: State, read: TranscriptWindow) -> str:
    """Return why what was read is no answer to the presentation of `concept`, or ""."""
    mark = state.evidence(f"{PRESENTED}{concept}")
    spoken = [turn for turn in read.turns if turn.user.strip()]
    if mark is None or (spoken and all(_is_after(turn, mark) for turn in spoken)):
        return ""
    early = [turn.number for turn in spoken if not _is_after(turn, mark)]
    if not early:
        return f"the user has said nothing since {concept} was presented"
    return f"{concept} was presented only after what was said in turn {early[-1]}"


def _is_after(turn: TranscriptTurn, mark: Mutation) -> bool:
    """Return True when the user said what is in `turn` after `mark` was written."""
    # The turn alone does not tell: words may come long after they were said or typed, and open a turn only then.
    return turn.number > mark.turn and turn.said_at >= mark.sequence
