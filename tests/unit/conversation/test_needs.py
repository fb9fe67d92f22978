"""Repair of open needs: nudges, then escalation, and progress resets the count."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.conversation.needs import Need, NeedLike, NeedsFulfillment, RepairConfig
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.store import State

NEEDS = ("user:name", "user:date")


def kinds(needs: NeedsFulfillment, state: State, turns: int, phase: str = "p") -> list[str]:
    return [needs.evaluate(phase, NEEDS, state).kind for _ in range(turns)]


def test_by_default_the_third_turn_is_nudged_and_the_sixth_escalated() -> None:
    assert kinds(NeedsFulfillment(), State(), 6) == ["none", "none", "nudge", "nudge", "nudge", "escalate"]


def test_the_first_nudge_is_attempt_one() -> None:
    needs = NeedsFulfillment()
    attempts = [needs.evaluate("p", NEEDS, State()).attempt for _ in range(5)]
    assert attempts == [0, 0, 1, 2, 3]


def test_a_config_may_nudge_at_once() -> None:
    needs = NeedsFulfillment(RepairConfig(nudge_after=1, escalate_after=2))
    assert kinds(needs, State(), 2) == ["nudge", "escalate"]


@pytest.mark.parametrize(("nudge", "escalate"), [(0, 3), (4, 3), (-1, -1)])
def test_a_config_out_of_order_is_refused(nudge: int, escalate: int) -> None:
    with pytest.raises(AgentError, match="Repair cannot nudge after"):
        RepairConfig(nudge_after=nudge, escalate_after=escalate)


def test_it_escalates_once() -> None:
    assert kinds(NeedsFulfillment(), State(), 9)[5:] == ["escalate", "none", "none", "none"]


def test_one_need_filled_of_two_is_progress() -> None:
    needs, state = NeedsFulfillment(), State()
    kinds(needs, state, 2)
    state.set("user:name", "Ada")
    assert kinds(needs, state, 4) == ["none", "none", "none", "nudge"]


def test_after_an_escalation_progress_allows_another() -> None:
    needs, state = NeedsFulfillment(), State()
    kinds(needs, state, 6)
    assert needs.escalated
    state.set("user:name", "Ada")
    assert kinds(needs, state, 7)[0] == "none"
    assert needs.escalated


def test_progress_ends_the_escalation() -> None:
    needs, state = NeedsFulfillment(), State()
    kinds(needs, state, 6)
    state.set("user:name", "Ada")
    needs.evaluate("p", NEEDS, state)
    assert not needs.escalated


def test_a_need_that_is_emptied_again_is_no_progress() -> None:
    needs, state = NeedsFulfillment(), State({"user:name": "Ada"})
    kinds(needs, state, 2)
    state.remove("user:name")
    assert needs.evaluate("p", NEEDS, state).kind == "nudge"


def test_filled_and_emptied_the_count_has_begun_anew() -> None:
    needs, state = NeedsFulfillment(), State()
    kinds(needs, state, 2)
    state.set("user:name", "Ada")
    state.set("user:date", "today")
    kinds(needs, state, 1)
    state.remove("user:name")
    assert kinds(needs, state, 2) == ["none", "none"]


def test_null_fills_nothing() -> None:
    state = State({"user:name": None, "user:date": "today"})
    needs = NeedsFulfillment(RepairConfig(nudge_after=1))
    assert needs.evaluate("p", NEEDS, state).keys == ["user:name"]


def test_false_and_zero_and_an_empty_text_are_values() -> None:
    state = State({"user:name": "", "user:date": 0})
    assert kinds(NeedsFulfillment(RepairConfig(nudge_after=1)), state, 1) == ["none"]


def test_a_computed_value_fills_a_need() -> None:
    state = State()
    state.set_derived("risk", 0.5)
    assert Need("risk").is_met(state)


def test_another_phase_begins_the_count_anew() -> None:
    needs = NeedsFulfillment()
    kinds(needs, State(), 2, "p")
    assert kinds(needs, State(), 3, "q") == ["none", "none", "nudge"]


def test_a_phase_that_is_entered_again_begins_the_count_anew() -> None:
    needs = NeedsFulfillment()
    kinds(needs, State(), 2)
    needs.reset("p")
    assert kinds(needs, State(), 3) == ["none", "none", "nudge"]


def test_without_needs_there_is_nothing_to_repair() -> None:
    needs = NeedsFulfillment(RepairConfig(nudge_after=1))
    assert needs.evaluate("p", (), State()).kind == "none"


def test_a_nudge_names_the_missing_in_words_and_each_attempt_differs() -> None:
    needs = NeedsFulfillment(RepairConfig(nudge_after=1))
    wanted: tuple[NeedLike, ...] = (
        Need("user:name", "the caller's name"),
        StateKey("user:d", str, description="the day"),
        "app:call_back",
    )
    first, second = (needs.evaluate("p", wanted, State()).text for _ in range(2))
    assert first == "[Still needed] the caller's name, the day, call back. Ask for this next."
    assert second != first


def test_only_a_nudge_has_a_text() -> None:
    needs = NeedsFulfillment(RepairConfig(nudge_after=1, escalate_after=1))
    assert needs.evaluate("p", NEEDS, State()).text == ""


def test_a_kept_count_goes_on() -> None:
    needs = NeedsFulfillment()
    kinds(needs, State(), 2)
    again = NeedsFulfillment()
    again.restore(json.loads(json.dumps(needs.to_json())))
    assert kinds(again, State(), 1) == ["nudge"]
    assert again.turns_without_progress == 3


@given(st.integers(1, 4), st.integers(0, 4), st.lists(st.sets(st.sampled_from("abc")), max_size=25))
def test_the_action_depends_on_the_turns_since_progress_alone(
    nudge_after: int, more: int, filled_each_turn: list[set[str]]
) -> None:
    config = RepairConfig(nudge_after=nudge_after, escalate_after=nudge_after + more)
    needs, state = NeedsFulfillment(config), State()
    before: set[str] | None = None
    turns = 0
    for filled in filled_each_turn:
        for name in "abc":
            state.set(name, 1 if name in filled else None)
        action = needs.evaluate("p", tuple("abc"), state)
        progress = before is not None and bool(filled - before)
        before = filled
        turns = 0 if progress or len(filled) == 3 else turns + 1
        expected = "none"
        if nudge_after <= turns < config.escalate_after:
            expected = "nudge"
        elif turns == config.escalate_after:
            expected = "escalate"
        assert action.kind == expected
        assert needs.escalated is (turns >= config.escalate_after)
