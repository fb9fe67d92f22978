"""Computed values: order, recomputing, faults, explanations."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.state.computed import ComputedRegistry, ComputedVar
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.mutations import Origin, writing_as
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import key


class Diamond:
    """d of app:x; a and b of d; c of both; counts how often each is computed."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.registry = ComputedRegistry(
            [
                ComputedVar("c", self._of("c", lambda s: s["a"] + s["b"]), ["a", "derived:b"]),
                ComputedVar("a", self._of("a", lambda s: s["d"] + 10), ["d"]),
                ComputedVar("b", self._of("b", lambda s: 21), "d"),
                ComputedVar("d", self._of("d", lambda s: s["app:x"] // 2), "app:x"),
            ]
        )

    def _of(self, name: str, compute: Any) -> Any:
        def counted(state: State) -> Any:
            self.calls.append(name)
            return compute(state)

        return counted


def test_a_diamond_is_computed_in_the_order_of_its_dependencies() -> None:
    diamond = Diamond()
    state = State({"app:x": 2})
    assert diamond.registry.recompute(state).changed == ("d", "a", "b", "c")
    assert state.snapshot() == {"app:x": 2, "derived:d": 1, "derived:a": 11, "derived:b": 21, "derived:c": 32}
    assert diamond.registry.recompute(state).changed == ()


def test_only_affected_values_are_computed_up_to_unchanged_ones() -> None:
    diamond = Diamond()
    state = State({"app:x": 2, "app:y": 1})
    diamond.registry.recompute(state)
    diamond.calls.clear()
    assert diamond.registry.recompute_affected(state, ["app:y"]).changed == ()
    assert diamond.calls == []
    state.set("app:x", 3)
    assert diamond.registry.recompute_affected(state, ["app:x"]).changed == ()
    assert diamond.calls == ["d"]
    state.set("app:x", 4)
    assert diamond.registry.recompute_affected(state, {"app:x": (3, 4)}).changed == ("d", "a", "c")
    assert diamond.calls == ["d", "d", "a", "b", "c"]


def test_independent_values_keep_the_order_given() -> None:
    names = ["m", "z", "a", "k"]
    registry = ComputedRegistry(ComputedVar(name, lambda s: 1, "app:x") for name in names)
    assert [item.name for item in registry.variables] == names
    assert registry.observed_keys == {"app:x"}


@given(st.integers(2, 12).flatmap(lambda n: st.tuples(st.just(n), st.permutations(range(n)), st.data())))
def test_any_graph_is_computed_each_value_once_after_its_inputs(
    drawn: tuple[int, list[int], st.DataObject],
) -> None:
    count, order, data = drawn
    needs = {n: data.draw(st.lists(st.integers(0, n - 1), unique=True, max_size=3)) if n else [] for n in range(count)}
    seen: list[int] = []

    def compute(number: int) -> Any:
        def run(state: State) -> int:
            assert all(need in seen for need in needs[number])
            seen.append(number)
            return 1 + sum(int(state[f"v{need}"]) for need in needs[number])

        return run

    registry = ComputedRegistry(
        ComputedVar(f"v{n}", compute(n), [*(f"v{need}" for need in needs[n]), "app:x"]) for n in order
    )
    result = registry.recompute(State())
    assert sorted(seen) == list(range(count))
    assert len(result.changed) == count
    assert not result.faults


def test_none_removes_the_value() -> None:
    registry = ComputedRegistry([ComputedVar("double", lambda s: s.get("app:x") and s["app:x"] * 2, "app:x")])
    state = State({"app:x": 2})
    registry.recompute(state)
    assert state["double"] == 4
    state.remove("app:x")
    assert registry.recompute_affected(state, ["app:x"]).changed == ("double",)
    assert "double" not in state
    assert registry.recompute(state).changed == ()


def test_a_guard_is_computed_to_its_truth_from_its_own_keys() -> None:
    registry = ComputedRegistry([ComputedVar("angry", key("app:anger") > 0.7), ComputedVar("vip", key("user:vip"))])
    state = State({"app:anger": 0.8})
    registry.recompute(state)
    assert (state["angry"], state["vip"]) == (True, False)
    state.set("app:anger", 0.1)
    assert registry.recompute_affected(state, ["app:anger"]).changed == ("angry",)


def test_typed_keys_and_both_spellings_of_computed_names_are_dependencies() -> None:
    amount = StateKey("app:amount", int)
    registry = ComputedRegistry(
        [
            ComputedVar("total", lambda s: s["derived:net"] + 1, "net"),
            ComputedVar("derived:net", lambda s: s.get(amount, 0), amount),
            ComputedVar("gross", lambda s: s["net"] * 2, "derived:net"),
        ]
    )
    state = State({"app:amount": 5})
    result = registry.recompute(state)
    assert (result.changed, result.faults) == (("net", "total", "gross"), ())
    assert (state["total"], state["gross"]) == (6, 10)


def test_an_own_value_that_hides_a_computed_one_counts_as_its_change() -> None:
    registry = ComputedRegistry(
        [ComputedVar("net", lambda s: 1, "app:x"), ComputedVar("gross", lambda s: s["net"] * 2, "net")]
    )
    state = State()
    registry.recompute(state)
    changes = state.track()
    state.set("net", 10)
    assert registry.recompute_affected(state, changes.take()).changed == ("gross",)
    assert state["gross"] == 20


def test_the_writer_of_a_computed_value_is_named() -> None:
    registry = ComputedRegistry([ComputedVar("one", lambda s: 1, "app:x")])
    state = State()
    with writing_as(Origin("tool", "pay")):
        registry.recompute(state)
    assert state.written_by("one") == "computed one"


def test_a_cycle_is_named_from_end_to_end_with_places() -> None:
    with pytest.raises(AgentError) as caught:
        ComputedRegistry(
            [
                ComputedVar("x", lambda s: 1, ["a", "app:x"]),
                ComputedVar("a", lambda s: 1, "b"),
                ComputedVar("b", lambda s: 1, "derived:c"),
                ComputedVar("c", lambda s: 1, "a"),
                ComputedVar("me", lambda s: 1, "me"),
            ]
        )
    assert "a (test_computed.py:" in caught.value.message
    plain = _without_places(caught.value.message)
    assert "a -> b -> c -> a" in plain
    assert "me -> me" in plain
    assert "x ->" not in plain


def test_every_fault_is_listed_at_once() -> None:
    with pytest.raises(AgentError) as caught:
        ComputedRegistry(
            [
                ComputedVar("one", lambda s: 1, "app:x"),
                ComputedVar("one", lambda s: 1, "app:x"),
                ComputedVar("two", lambda s: 1, "derived:nothing"),
                ComputedVar("me", lambda s: 1, "me"),
            ]
        )
    plain = _without_places(caught.value.message)
    assert "2 computed values named one" in plain
    assert "two depends on derived:nothing, which nothing computes" in plain
    assert "me -> me" in plain


def _without_places(text: str) -> str:
    import re

    return re.sub(r" \([^)]*\)", "", text)


async def _later(state: State) -> int:
    return 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("", lambda s: 1, "app:x"), "cannot be named"),
        (("app:x", lambda s: 1, "app:x"), "cannot be named"),
        ((5, lambda s: 1, "app:x"), "cannot be named"),
        (("x", lambda s: 1), "depends on nothing"),
        (("x", 5, "app:x"), "cannot compute"),
        (("x", _later, "app:x"), "async"),
    ],
)
def test_a_computed_value_that_cannot_work_is_refused(arguments: Any, words: str) -> None:
    with pytest.raises(AgentError, match=words):
        ComputedVar(*arguments)


def test_a_function_that_raises_removes_its_value_and_the_others_go_on() -> None:
    def risk(state: State) -> float:
        return 1 / state["app:x"]  # type: ignore[no-any-return]

    registry = ComputedRegistry(
        [ComputedVar("risk", risk, "app:x"), ComputedVar("bad", lambda s: object(), "app:x"), _one()]
    )
    state = State({"app:x": 2})
    registry.recompute(state)
    assert state["risk"] == 0.5
    state.set("app:x", 0)
    result = registry.recompute(state)
    assert result.changed == ("risk",)
    assert "risk" not in state
    assert state["one"] == 1
    first, second = result.faults
    assert (first.name, first.problem) == ("risk", "risk failed: ZeroDivisionError: division by zero")
    assert isinstance(first.error, ZeroDivisionError)
    assert first.defined_at.startswith("test_computed.py:")
    assert "object" in second.problem


def _one() -> ComputedVar:
    return ComputedVar("one", lambda s: 1, "app:x")


def test_a_function_inside_a_guard_that_raises_is_a_fault_too() -> None:
    guard = (key("app:x") == 1) & (lambda s: s["app:nothing"])
    registry = ComputedRegistry([ComputedVar("g", guard, "app:nothing")])
    (fault,) = registry.recompute(State({"app:x": 1})).faults
    assert isinstance(fault.error, KeyError)


def test_reading_a_key_that_is_not_listed_is_reported_once() -> None:
    registry = ComputedRegistry([ComputedVar("sum", lambda s: s["app:x"] + s.get("app:y", 0), "app:x")])
    state = State({"app:x": 1})
    (fault,) = registry.recompute(state).faults
    assert (fault.name, fault.key, fault.error) == ("sum", "app:y", None)
    assert "app:y, which depends_on does not list" in fault.problem
    assert registry.recompute(state).faults == ()
    assert state["sum"] == 1


def test_a_function_may_not_write() -> None:
    registry = ComputedRegistry([ComputedVar("bad", lambda s: s.set("app:y", 1), "app:x")])
    state = State()
    (fault,) = registry.recompute(state).faults
    assert "may only read" in fault.problem
    assert state.snapshot() == {}


def test_an_explanation_shows_the_inputs_and_writes_nothing() -> None:
    registry = ComputedRegistry(
        [
            ComputedVar("sum", lambda s: s["app:x"] + 1, ["app:x", "app:unread"]),
            ComputedVar("big", key("sum") > 1),
            ComputedVar("bad", lambda s: s["app:none"], "app:none"),
        ]
    )
    with writing_as(Origin("tool", "pay")):
        state = State({"app:x": 1})
    tree = registry.explain("sum", state)
    assert (tree.text, tree.value) == ("sum from app:x, app:unread", 2)
    assert [(read.key, read.value, read.present, read.by) for read in tree.reads] == [
        ("app:x", 1, True, "tool pay"),
        ("app:unread", None, False, ""),
    ]
    assert state.snapshot() == {"app:x": 1}
    registry.recompute(state)
    assert next(registry.explain("derived:big", state).all_reads()).by == "computed sum"
    assert registry.explain("bad", state).problem.startswith("it failed: NotSetError")
    with pytest.raises(KeyError):
        registry.explain("none", state)
