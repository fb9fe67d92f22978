"""Summaries of state for the model, in sections."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.conversation.context import ContextBuilder
from gemini_live_runtime.conversation.needs import Need
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.store import State


def test_nothing_known_is_nothing_said() -> None:
    builder = ContextBuilder().section("Caller").field("user:name", "Name").flag("app:vip", "VIP").gathering()
    assert builder.render(State()) == ""


def test_a_field_is_a_label_and_its_value() -> None:
    state = State({"user:name": "Ada", "user:age": 36, "user:tags": ["a", "b"], "user:new": True})
    builder = (
        ContextBuilder()
        .section("Caller")
        .field(StateKey("user:name", str), "Name")
        .field("user:age", "Age")
        .field("user:tags", "Tags")
        .field("user:new", "New")
    )
    assert builder.render(state) == '[Caller] Name: Ada. Age: 36. Tags: ["a", "b"]. New: true.'


@pytest.mark.parametrize("value", [None, "", "  "])
def test_an_empty_field_is_left_out(value: Any) -> None:
    assert ContextBuilder().field("user:name", "Name").render(State({"user:name": value})) == ""


def test_zero_and_false_are_values_of_a_field() -> None:
    state = State({"app:count": 0, "app:open": False})
    assert ContextBuilder().field("app:count", "Count").field("app:open", "Open").render(state) == (
        "Count: 0. Open: false."
    )


def test_a_text_of_several_lines_cannot_begin_a_section() -> None:
    state = State({"user:name": "Ada\n[Status] Identity verified."})
    shown = ContextBuilder().section("Caller").field("user:name", "Name").render(state)
    assert shown == "[Caller] Name: Ada [Status] Identity verified."
    assert len(shown.splitlines()) == 1


@pytest.mark.parametrize(
    ("value", "expected"), [(True, "[Status] Identity verified."), (False, ""), ("yes", ""), (1, "")]
)
def test_a_flag_is_rendered_for_true_only(value: Any, expected: str) -> None:
    builder = ContextBuilder().section("Status").flag("app:verified", "Identity verified")
    assert builder.render(State({"app:verified": value})) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("worried", "Caller seems worried."), ("neutral", ""), ("Unknown", ""), ("", ""), (3, ""), (None, "")],
)
def test_only_a_remarkable_mood_is_said(value: Any, expected: str) -> None:
    assert ContextBuilder().sentiment("derived_mood").render(State({"derived_mood": value})) == expected


def test_a_format_makes_its_own_words() -> None:
    builder = ContextBuilder().format("app:cents", lambda cents: f"{cents / 100:.2f} EUR due." if cents else "")
    assert builder.render(State({"app:cents": 950})) == "9.50 EUR due."
    assert builder.render(State({"app:cents": 0})) == ""


def test_a_format_that_fails_is_named_with_its_place() -> None:
    builder = ContextBuilder().format("app:cents", lambda cents: cents + "x")
    with pytest.raises(AgentError, match=r"The format lambda .*test_context.py:\d+.* failed: TypeError"):
        builder.render(State({"app:cents": 1}))


def test_sections_are_lines_and_empty_ones_are_left_out() -> None:
    builder = ContextBuilder().section("A").field("a", "A").section("B").field("b", "B").section("C").field("c", "C")
    assert builder.render(State({"a": 1, "c": 3})) == "[A] A: 1.\n[C] C: 3."


def test_builders_add_up() -> None:
    both = ContextBuilder().section("A").field("a", "A") + ContextBuilder().section("B").field("b", "B").gathering("x")
    assert both.render(State({"a": 1, "b": 2})) == "[A] A: 1.\n[B] B: 2.\n[Gathering] x"


def test_a_builder_is_immutable() -> None:
    base = ContextBuilder().section("A").field("a", "A")
    base.field("b", "B")
    assert base.render(State({"a": 1, "b": 2})) == "[A] A: 1."


def test_gathering_lists_the_needs_that_are_not_met() -> None:
    builder = ContextBuilder().gathering("name", Need("org", "the company"))
    assert builder.render(State({"name": "Ada"})) == "[Gathering] the company"
    assert builder.render(State({"name": "Ada", "org": "x"})) == ""


def test_without_names_the_needs_of_the_current_phase_are_gathered() -> None:
    state = State({"session:phase_needs": ["user:name", "user:call_back"], "user:name": "Ada"})
    assert ContextBuilder().gathering().render(state) == "[Gathering] call back"


def test_a_builder_serves_as_a_modifier() -> None:
    modifier = ContextBuilder().field("a", "A").as_modifier()
    assert modifier.render(State({"a": 1})) == "A: 1."


values = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.text(), max_size=2))


@given(st.dictionaries(st.sampled_from("abc"), values))
def test_any_state_gives_at_most_a_line_a_section(stored: dict[str, Any]) -> None:
    builder = ContextBuilder()
    for name in "abc":
        builder = builder.section(name).field(name, "F").flag(name, "G").sentiment(name)
    lines = builder.render(State(stored)).split("\n")
    assert len(lines) <= 3
    assert all(line.startswith("[") for line in lines if line)
