"""Guards: decisions, explanations, and that both agree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from state_support import KEYS, VALUES, equal, guards

from gemini_live_runtime.errors import GuardError, StateError
from gemini_live_runtime.state.explanation import Explanation
from gemini_live_runtime.state.guards import Function, Guard, Not, as_guard
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import called_ok, key
from gemini_live_runtime.state.values import MISSING

STATES = st.dictionaries(st.sampled_from(KEYS[:5]), VALUES, max_size=5)


@given(guards(), STATES)
def test_the_explanation_decides_as_the_guard_does(guard: Guard, values: dict[str, Any]) -> None:
    state = State(values)
    tree = guard.explain(state)
    assert tree.value is guard.holds(state)
    assert {read.key for read in tree.all_reads()} == guard.keys
    for read in tree.all_reads():
        assert read.present is (read.key in values)
        assert equal(read.value, values.get(read.key))


@given(guards(), guards(), STATES)
def test_combinations_follow_their_truth_tables(a: Guard, b: Guard, values: dict[str, Any]) -> None:
    state = State(values)
    left, right = a.holds(state), b.holds(state)
    assert (a & b).holds(state) is (left and right)
    assert (a | b).holds(state) is (left or right)
    assert (~a).holds(state) is (not left)
    assert (~~a).holds(state) is left
    assert (a & b).keys == a.keys | b.keys


@given(guards(), STATES)
def test_a_text_names_every_key_and_the_tree_is_json(guard: Guard, values: dict[str, Any]) -> None:
    tree = guard.explain(State(values)).to_json()
    assert tree["text"] == guard.text
    assert all(name in guard.text for name in guard.keys)
    assert State({"app:tree": tree})["app:tree"] == tree


@given(VALUES, st.sampled_from(KEYS[:5]), STATES)
def test_equality_is_that_of_json_with_missing_as_null(value: Any, name: str, values: dict[str, Any]) -> None:
    state = State(values)
    expected = equal(values.get(name), value)
    assert (key(name) == value).holds(state) is expected
    assert (key(name) != value).holds(state) is not expected
    assert key(name).one_of(value).holds(state) is expected


@pytest.mark.parametrize(
    ("value", "limit", "below", "above"),
    [
        (1, 2, True, False),
        (2, 2, False, False),
        (2.5, 2, False, True),
        ("a", "b", True, False),
        ("1", 2, False, False),
        (True, 2, False, False),
        (None, 2, False, False),
        ([1], 2, False, False),
        (5, "5", False, False),
        (MISSING, 2, False, False),
    ],
)
def test_an_ordering_between_values_that_have_none_is_false(value: Any, limit: Any, below: bool, above: bool) -> None:
    state = State({} if value is MISSING else {"app:x": value})
    term = key("app:x")
    assert ((term < limit).holds(state), (term > limit).holds(state)) == (below, above)
    equal_too = value is not MISSING and type(value) is type(limit) and value == limit
    assert (term <= limit).holds(state) is (below or equal_too)
    assert (term >= limit).holds(state) is (above or equal_too)


def test_an_ordering_explains_why_it_has_no_answer() -> None:
    assert (key("app:x") > 2).explain(State()).problem == "app:x is missing"
    assert (key("app:x") > 2).explain(State({"app:x": "3"})).problem == 'app:x is "3", which has no order with 2'
    assert (key("app:x") > 2).explain(State({"app:x": 1})).problem == ""


@pytest.mark.parametrize(
    ("guard", "text"),
    [
        (key("app:plan") == "gold", 'app:plan == "gold"'),
        (key("app:paid") == None, "app:paid == null"),  # noqa: E711
        (key("app:paid") != True, "app:paid != true"),  # noqa: E712
        (key("app:anger") > 0.7, "app:anger > 0.7"),
        (key("user:name").is_set(), "user:name is set"),
        (key("user:name").is_missing(), "user:name is missing"),
        (key("app:x").one_of("a", 1), 'app:x is one of "a", 1'),
        (key("app:x").contains("a"), 'app:x contains "a"'),
        (called_ok("pay"), "session:called_ok:pay counts a success"),
        (key("app:a") & key("app:b"), "app:a is true and app:b is true"),
        ((key("a") | key("b")) & ~key("c"), "(a is true or b is true) and not (c is true)"),
        (as_guard(True), "always"),
    ],
)
def test_guards_read_as_they_are_written(guard: Guard, text: str) -> None:
    assert guard.text == text
    assert repr(guard) == f"<guard {text}>"


def test_a_called_tool_counts_only_when_it_succeeded() -> None:
    guard = called_ok("pay")
    assert not guard.holds(State())
    assert not guard.holds(State({"session:called_ok:pay": 0}))
    assert guard.holds(State({"session:called_ok:pay": 2}))


def test_contains_looks_into_lists_objects_and_texts() -> None:
    state = State({"app:list": [1, "a"], "app:object": {"a": 1}, "app:text": "abc", "app:n": 5})
    for name, held in (("list", True), ("object", True), ("text", True), ("n", False), ("none", False)):
        assert key(f"app:{name}").contains("a").holds(state) is held
    assert not key("app:list").contains(True).holds(state)


def test_a_typed_key_is_used_like_any_other() -> None:
    plan = StateKey("app:plan", str)
    assert (plan == "gold").holds(State({"app:plan": "gold"}))


@pytest.mark.parametrize("guard", [key("a") == 1, key("a"), key("a") & key("b"), ~key("a")])
def test_a_guard_has_no_truth_of_its_own(guard: Any) -> None:
    with pytest.raises(TypeError, match=r"&, \| and ~"):
        bool(guard)
    with pytest.raises(TypeError):
        _ = guard and True


def test_two_keys_cannot_be_compared_with_each_other() -> None:
    with pytest.raises(TypeError, match="compared with a value"):
        _ = key("app:a") == key("app:b")
    with pytest.raises(TypeError, match="compared with a value"):
        _ = key("app:a") != (key("app:b") == 1)


def test_a_key_with_an_unknown_scope_is_refused_where_it_is_written() -> None:
    with pytest.raises(StateError, match="no known scope"):
        key("ap:plan")


def test_a_limit_without_an_order_is_refused() -> None:
    with pytest.raises(TypeError, match="order"):
        _ = key("app:x") > [1]  # type: ignore[operator]


async def _later(state: State) -> bool:
    return True


def test_an_async_function_cannot_be_a_guard() -> None:
    with pytest.raises(TypeError, match="async"):
        as_guard(_later)
    with pytest.raises(TypeError, match="async"):
        _ = key("a") & _later
    with pytest.raises(TypeError, match="is not a guard"):
        as_guard(5)  # type: ignore[arg-type]


AMOUNT: StateKey[int] = StateKey("app:amount", int, default=7)


def _reads_every_way(state: State) -> bool:
    assert state.turn_number == 4
    assert state.try_get(AMOUNT) == 5
    assert state[AMOUNT] == 5
    assert state.get(StateKey("app:none", int, default=7)) == 7
    assert state.get("app:none", 3) == 3
    assert state.app.get("name") == "Ann"
    assert "name" in state.app
    assert state["risk"] == 1
    return "app:never" not in state and state.app.keys() == ["amount", "name"]


def test_a_function_is_explained_by_the_keys_it_reads_in_every_way_of_reading() -> None:
    with writing_as(Origin("tool", "pay")):
        state = State({"app:amount": 5, "app:name": "Ann"})
    state.set_derived("risk", 1)
    state.turn_number = 4
    guard = as_guard(_reads_every_way)
    assert guard.holds(state)
    tree = guard.explain(state)
    assert (tree.text, tree.value, tree.problem) == ("_reads_every_way", True, "")
    assert [read.key for read in tree.reads][:5] == ["app:amount", "app:none", "app:name", "risk", "app:never"]
    assert tree.reads[0].by == "tool pay"
    assert not tree.reads[1].present


def test_a_function_that_writes_while_it_is_explained_fails_with_a_sentence() -> None:
    tree = as_guard(lambda state: state.set("app:x", 1)).explain(State())
    assert not tree.value
    assert "may only read" in tree.problem


def _fails(state: State) -> bool:
    return bool(state["app:nothing"])


def test_a_function_that_raises_is_named() -> None:
    with pytest.raises(GuardError, match="The guard _fails failed: NotSetError"):
        as_guard(_fails).holds(State())
    tree = as_guard(_fails).explain(State())
    assert not tree.value
    assert tree.problem.startswith("it failed: NotSetError")
    assert as_guard(lambda state: 1 / 0).text.startswith("lambda (test_guards.py:")


YES, NO, BAD = as_guard(True), as_guard(False), Function(_fails)


@pytest.mark.parametrize(
    "guard",
    [BAD, ~BAD, BAD & YES, ~(BAD & YES), YES & BAD, BAD | YES, Not(Not(BAD)), NO | BAD, ~(NO | BAD), (NO | BAD) & YES],
)
def test_neither_a_failed_decision_nor_its_opposite_is_true(guard: Guard) -> None:
    tree: Explanation = guard.explain(State())
    assert (tree.value, tree.failed) == (False, True)
    with pytest.raises(GuardError):
        guard.holds(State())


@pytest.mark.parametrize(("guard", "value"), [(YES | BAD, True), (NO & BAD, False), (~(NO & BAD), True)])
def test_a_decision_before_the_fault_is_kept(guard: Guard, value: bool) -> None:
    tree = guard.explain(State())
    assert (tree.value, tree.failed) == (value, False)
    assert guard.holds(State()) is value


def test_a_plain_function_combines_from_either_side() -> None:
    state = State({"app:x": 1})
    one = key("app:x") == 1
    assert (one & (lambda state: True)).holds(state)
    assert not ((lambda state: False) & one).holds(state)
    assert ((lambda state: False) | one).holds(state)
    assert (True & one).holds(state)
