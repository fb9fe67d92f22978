"""Promotion of extracted fields to state, with reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gemini_live_runtime.conversation.promotion import (
    FieldPromotion,
    MergePolicy,
    PromotionDecision,
    apply_decisions,
    promote,
    said_since_presented,
)
from gemini_live_runtime.conversation.transcript_turn import TranscriptTurn, TranscriptWindow
from gemini_live_runtime.errors import AgentError, StateError
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.mutations import Origin
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import key
from gemini_live_runtime.state.values import MISSING

keep_known, overwrite = FieldPromotion.keep_known, FieldPromotion.overwrite


def decide(result: dict[str, Any], *rules: FieldPromotion, **values: Any) -> list[PromotionDecision]:
    return promote(result, rules, State({name.replace("__", ":"): value for name, value in values.items()}), "Mood")


def only(result: dict[str, Any], rule: FieldPromotion, **values: Any) -> PromotionDecision:
    (decision,) = decide(result, rule, **values)
    return decision


def test_without_rules_each_field_overwrites_a_key_of_the_app_scope() -> None:
    state = State({"app:score": 1})
    apply_decisions(promote({"score": 2, "mood": "sad"}, (), state, "Mood"), state)
    assert state.snapshot() == {"app:score": 2, "app:mood": "sad"}


def test_a_null_never_erases() -> None:
    state = State({"app:mood": "sad"})
    (decision,) = promote({"mood": None}, (), state, "Mood")
    apply_decisions([decision], state)
    assert (decision.accepted, decision.reason) == (False, "it is null")
    assert state["app:mood"] == "sad"


def test_with_any_rule_fields_without_one_are_not_promoted() -> None:
    state = State()
    decisions = promote({"mood": "sad", "score": 3}, (overwrite("mood").to("user:mood"),), state, "Mood")
    apply_decisions(decisions, state)
    assert [decision.field for decision in decisions] == ["mood"]
    assert state.snapshot() == {"user:mood": "sad"}


def test_a_field_that_the_answer_left_out_gives_no_decision() -> None:
    assert decide({}, overwrite("mood")) == []


def test_keep_known_writes_only_while_the_key_has_no_value() -> None:
    rule = keep_known("plan")
    assert only({"plan": "gold"}, rule).reason == "it was not known"
    assert only({"plan": "gold"}, rule, app__plan=None).accepted
    refused = only({"plan": "gold"}, rule, app__plan="silver")
    assert (refused.accepted, refused.key, refused.reason) == (False, "app:plan", "app:plan is known already")


def test_overwrite_names_the_writer_of_the_old_value() -> None:
    state = State()
    with state.writing_as(Origin("operator")):
        state.set("app:plan", "silver")
    (decision,) = promote({"plan": "gold"}, [overwrite("plan")], state, "Plan")
    assert (decision.accepted, decision.reason) == (True, "it replaces the value of operator")
    assert only({"plan": "gold"}, overwrite("plan"), app__plan="gold").reason == "it equals the known value"


@pytest.mark.parametrize(("value", "accepted"), [(True, True), (False, False), (1, False), ("true", False)])
def test_true_only_takes_nothing_but_true(value: object, accepted: bool) -> None:
    assert only({"agreed": value}, FieldPromotion.true_only("agreed")).accepted is accepted


@pytest.mark.parametrize(("value", "accepted"), [("Ann", True), ("", False), ("  ", False), (3, False)])
def test_non_empty_takes_a_text_with_words(value: object, accepted: bool) -> None:
    assert only({"name": value}, FieldPromotion.non_empty("name")).accepted is accepted


def test_consent_counts_only_after_the_terms_were_presented() -> None:
    rule = FieldPromotion.true_only("agreed").after_presented("terms")
    before = only({"agreed": True}, rule)
    assert (before.accepted, before.reason) == (False, "terms was not presented yet")
    assert only({"agreed": True}, rule, session__presented__terms=True).accepted


def test_several_conditions_must_all_hold_and_the_first_that_does_not_is_the_reason() -> None:
    rule = overwrite("sum").when(key("app:open")).when(lambda value, state: value < 100)
    assert only({"sum": 5}, rule).reason == "it is taken only while app:open is true"
    refused = only({"sum": 500}, rule, app__open=True)
    assert refused.reason.startswith("lambda (test_promotion.py:")
    assert only({"sum": 50}, rule, app__open=True).accepted


def test_a_condition_that_raises_refuses_the_field_and_says_so() -> None:
    refused = only({"sum": "much"}, overwrite("sum").when(lambda value, state: value < 100))
    assert not refused.accepted
    assert "TypeError" in refused.reason
    guard = only({"sum": 1}, overwrite("sum").when(key("app:a").is_set() & (lambda state: 1 / 0)), app__a=1)
    assert "ZeroDivisionError" in guard.reason


def test_a_condition_that_takes_no_value_and_state_is_refused_at_once() -> None:
    with pytest.raises(AgentError, match=r"cannot be called with \(value, state\)"):
        overwrite("sum").when(lambda state: True)  # type: ignore[misc,arg-type]


def test_a_typed_key_takes_only_its_type_and_stores_the_converted_value() -> None:
    count = StateKey("user:count", int)
    accepted = only({"count": "3"}, overwrite("count").to(count))
    assert (accepted.accepted, accepted.value) == (True, 3)
    refused = only({"count": "many"}, overwrite("count").to(count))
    assert not refused.accepted
    assert "user:count cannot be 'many'" in refused.reason


def test_rules_see_fields_that_earlier_ones_accepted() -> None:
    first, second = decide({"a": 1, "b": 2}, overwrite("a").to("app:x"), keep_known("b").to("app:x"))
    assert first.accepted
    assert second.reason == "app:x is known already"


def test_deciding_writes_nothing_and_applying_is_the_extractors_doing() -> None:
    state = State()
    decisions = promote({"mood": "sad"}, (), state, "Mood")
    assert state.get_raw("app:mood") is MISSING
    apply_decisions(decisions, state)
    evidence = state.evidence("app:mood")
    assert evidence is not None
    assert (evidence.origin.kind, evidence.origin.name, evidence.origin.reason) == ("extractor", "Mood", "mood")


def test_applying_writes_all_or_nothing() -> None:
    state = State()
    with pytest.raises(StateError):
        apply_decisions(
            [PromotionDecision("a", "app:a", 1, True, ""), PromotionDecision("b", "nowhere:b", 1, True, "")], state
        )
    assert state.snapshot() == {}


@pytest.mark.parametrize("to", [overwrite("total").to, lambda target: FieldPromotion("total", target)])
def test_a_key_that_cannot_be_written_is_refused_where_the_rule_is_written(to: Callable[[Any], Any]) -> None:
    with pytest.raises(AgentError, match="computed"):
        to("derived:total")
    with pytest.raises(StateError, match="no known scope"):
        to("elsewhere:total")
    with pytest.raises(StateError, match="is a text"):
        to(MergePolicy.OVERWRITE)


def test_a_rule_knows_where_it_was_written() -> None:
    assert overwrite("a").to("app:b").when(True).defined_at.startswith("test_promotion.py:")


def _said(number: int, said_at: int, text: str = "yes") -> TranscriptTurn:
    return TranscriptTurn(
        number=number, by="voice", started_at=0.0, user=text, model=f"answer {number}", said_at=said_at
    )


def _presented_in_turn_2() -> tuple[State, int]:
    state = State({"app:before": 1})
    state.turn_number = 2
    state.set("session:presented:price", True)
    return state, state.sequence


CONSENT = FieldPromotion.true_only("agreed").after_presented("price")


@pytest.mark.parametrize(
    ("number", "since_mark", "accepted"),
    [(1, -1, False), (2, -1, False), (2, 0, False), (3, 0, True), (3, 5, True), (3, -1, False), (9, -1, False)],
)
def test_consent_counts_only_when_it_was_begun_after_the_presentation(
    number: int, since_mark: int, accepted: bool
) -> None:
    state, mark = _presented_in_turn_2()
    read = TranscriptWindow((_said(number, mark + since_mark),))
    (decision,) = promote({"agreed": True}, [CONSENT], state, "Mood", read)
    assert decision.accepted is accepted
    refusal = f"price was presented only after what was said in turn {number}"
    assert accepted or decision.reason == refusal


def test_consent_of_a_window_without_words_of_the_user_does_not_count() -> None:
    state, mark = _presented_in_turn_2()
    (decision,) = promote({"agreed": True}, [CONSENT], state, "Mood", TranscriptWindow((_said(3, mark, " "),)))
    assert (decision.accepted, decision.reason) == (False, "the user has said nothing since price was presented")


def test_what_is_read_for_consent_begins_after_the_newest_presentation() -> None:
    state, mark = _presented_in_turn_2()
    old, pending, blank, new = _said(1, mark - 1), _said(3, mark - 1), _said(4, -1, ""), _said(5, mark)
    window = TranscriptWindow((old, pending, blank, new), asked="before")
    since = said_since_presented(window, [CONSENT], state)
    assert ([turn.number for turn in since.turns], since.asked) == ([4, 5], "answer 3")
    assert said_since_presented(window, [overwrite("agreed")], state) is window
    assert said_since_presented(TranscriptWindow((old, blank)), [CONSENT], state).turns == (old, blank)


def test_a_condition_of_ones_own_cannot_write() -> None:
    state = State()
    rule = FieldPromotion.overwrite("x").when(lambda value, state: state.set("app:other", 1) or True)
    (decision,) = promote({"x": 1}, [rule], state, "Mood")
    assert not decision.accepted
    assert "cannot be written here" in decision.reason
