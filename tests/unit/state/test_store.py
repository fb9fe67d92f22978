"""The state store: reading, writing, scopes, and what is copied."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, StrEnum
from typing import Any

import pytest
from pydantic import BaseModel
from tests.unit.state.state_support import kept_mutations

from gemini_live_runtime.errors import StateError
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import key
from gemini_live_runtime.state.values import MISSING


def test_a_bare_name_falls_back_to_derived_in_get_contains_and_keys_alike() -> None:
    state = State()
    state.set_derived("risk", 0.85)
    assert state.get("risk") == 0.85
    assert "risk" in state
    assert state["risk"] == 0.85
    assert state.keys() == ["derived:risk", "risk"]
    assert state.get("app:risk") is None
    assert "app:risk" not in state
    state.set("risk", 0.1)
    assert state["risk"] == 0.1
    state.remove("risk")
    assert state["risk"] == 0.85


def test_derived_values_cannot_be_written_or_removed_even_once_they_exist() -> None:
    state = State()
    with pytest.raises(StateError, match="computed"):
        state.set("derived:risk", 1)
    state.set_derived("risk", 1)
    for write in (
        lambda: state.set("derived:risk", 2),
        lambda: state.derived.set("risk", 2),
        lambda: state.modify("derived:risk", 0, lambda old: old + 1),
        lambda: state.remove("derived:risk"),
        lambda: state.clear_scope("derived"),
    ):
        with pytest.raises(StateError, match="computed"):
            write()
    with state.transaction() as tx, pytest.raises(StateError, match="computed"):
        tx.set("derived:risk", 2)
    assert state["risk"] == 1


def test_a_derived_value_written_through_a_transaction_stays_protected() -> None:
    state = State()
    with state.transaction() as tx:
        tx.set_derived("risk", 1)
    with pytest.raises(StateError, match="computed"):
        state.set("derived:risk", 2)


@pytest.mark.parametrize("name", ["", "nowhere:x", "app:", 5, None])
def test_a_key_that_cannot_be_one_is_refused(name: Any) -> None:
    with pytest.raises(StateError):
        State().set(name, 1)


class NoRepr:
    """Value whose `repr` fails."""

    def __repr__(self) -> str:
        raise ValueError("no repr")


class NoDump:
    """Value whose serializer fails."""

    def model_dump(self, mode: str) -> Any:
        raise ZeroDivisionError("no dump")


@pytest.mark.parametrize("value", [NoRepr(), [NoRepr()], {NoRepr(): 1}, NoDump(), BaseModel])
def test_a_value_that_fails_while_it_is_looked_at_is_refused_like_any_other(value: Any) -> None:
    state = State()
    with pytest.raises(StateError, match="app:x"):
        state.set("app:x", value)
    assert "app:x" not in state


@pytest.mark.parametrize("value", [object(), {1: "x"}, [{"x": {1}}], float("nan"), float("inf"), b"x", [float("nan")]])
def test_a_value_that_json_cannot_hold_is_refused_with_the_key(value: Any) -> None:
    state = State()
    with pytest.raises(StateError, match="app:x"):
        state.set("app:x", value)
    assert "app:x" not in state


def test_a_value_that_contains_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(StateError, match="nested deeper than 64"):
        State().set("app:x", endless)


class Plan(StrEnum):
    GOLD = "gold"


class Level(str, Enum):  # noqa: UP042 - its str() is not its value
    HIGH = "high"


class Order(BaseModel):
    dish: str
    count: int = 1


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        (Plan.GOLD, "gold"),
        (Level.HIGH, "high"),
        ({Level.HIGH: 1}, {"high": 1}),
        ((1, 2), [1, 2]),
        (Order(dish="soup"), {"dish": "soup", "count": 1}),
        ([True, 1, 1.0, None], [True, 1, 1.0, None]),
    ],
)
def test_values_are_kept_as_json(written: Any, kept: Any) -> None:
    state = State()
    state.set("app:x", written)
    assert state.get_raw("app:x") == kept
    assert type(state.get_raw("app:x")) is type(kept)


def test_changing_a_written_or_read_value_does_not_change_the_state() -> None:
    state = State()
    written = {"list": [1]}
    state.set("app:x", written)
    written["list"].append(2)
    for read in (state.get("app:x"), state["app:x"], state.snapshot()["app:x"], state.get(key("app:x"))):
        read["list"].append(3)
    typed = state.try_get(StateKey("app:x", dict[str, Any]))
    typed["list"].append(4)
    assert state["app:x"] == {"list": [1]}


def test_one_and_true_are_different_values() -> None:
    state = State({"app:x": 1, "app:y": [1]})
    changes = state.track()
    state.set("app:x", True)
    state.set("app:y", [True])
    assert changes.take() == {"app:x": (1, True), "app:y": ([1], [True])}


def test_writing_an_equal_value_is_no_change() -> None:
    state = State({"app:x": {"a": [1]}})
    mutations = kept_mutations(state)
    state.set("app:x", {"a": [1]})
    assert mutations() == []


def test_scopes_strip_their_prefix() -> None:
    state = State({"app:b": 1, "app:a": 2, "user:a": 3})
    assert state.app.keys() == ["a", "b"]
    assert list(state.user) == ["a"]
    assert "b" in state.app
    assert state.app["a"] == 2
    state.app["c"] = 4
    del state.app["a"]
    assert state.keys("app") == ["app:b", "app:c"]
    assert state.scope("user").get("a") == 3
    with pytest.raises(StateError, match="no scope 'apps'"):
        state.scope("apps")
    with pytest.raises(KeyError):
        del state.app["a"]


def test_clearing_the_turn_leaves_other_scopes() -> None:
    state = State({"turn:a": 1, "turn:b": 2, "app:c": 3, "session:d": 4, "e": 5})
    assert state.clear_scope("turn") == ["turn:a", "turn:b"]
    assert state.keys() == ["app:c", "e", "session:d"]
    with pytest.raises(StateError):
        state.clear_scope("turns")


def test_modify_starts_from_the_default_or_from_the_own_value() -> None:
    state = State()
    state.set_derived("n", 100)
    assert state.modify("n", 0, lambda old: old + 1) == 1
    assert state.modify("n", 0, lambda old: old + 5) == 6
    with state.transaction() as tx:
        tx.modify("n", 0, lambda old: old + 1)
        assert (tx["n"], state["n"]) == (7, 6)
        tx.rollback()
    assert state["n"] == 6


def test_modify_passes_a_copy() -> None:
    state = State({"app:list": [1]})
    with pytest.raises(ZeroDivisionError):
        state.modify("app:list", [], lambda old: (old.append(2), 1 / 0))
    assert state["app:list"] == [1]
    assert state.modify("app:list", [], lambda old: [*old, 2]) == [1, 2]


def test_diff_lists_changed_added_and_removed_keys() -> None:
    state = State({"x": 1, "z": 3, "same": 4})
    before = state.snapshot()
    state.set("x", 2)
    state.set("y", 5)
    state.remove("z")
    assert state.diff(before) == [("x", 1, 2), ("y", MISSING, 5), ("z", 3, MISSING)]
    assert state.diff(before, ["same", "x"]) == [("x", 1, 2)]


def test_keys_that_come_and_go_leave_nothing_behind() -> None:
    state = State()
    for number in range(1000):
        state.set(f"bg:task-{number}", {"big": [number] * 10})
        state.remove(f"bg:task-{number}")
    assert not state._last
    assert not state._data


def test_initial_values_are_checked_like_any_other() -> None:
    with pytest.raises(StateError):
        State({"app:x": object()})


def test_clearing_a_scope_sees_every_key_that_came_and_went() -> None:
    state = State({"turn:a": 1, "app:a": 1})
    with state.transaction() as tx:
        tx.set("turn:b", 2)
        tx.set("turn:c", 3)
        assert tx.clear_scope("turn") == ["turn:a", "turn:b", "turn:c"]
        tx.set("turn:d", 4)
    state.set("turn:e", 5)
    state.remove("turn:e")
    state.modify("turn:f", 0, lambda count: count + 1)

    assert state.fork().clear_scope("turn") == ["turn:d", "turn:f"]
    assert state.clear_scope("turn") == ["turn:d", "turn:f"]
    assert state.clear_scope("turn") == state.clear_scope("bg") == []
    assert state.keys() == ["app:a"]


READERS: dict[str, Callable[[State], Any]] = {
    "the state": lambda state: state,
    "an overlay": lambda state: state.fork(),
    "a transaction": lambda state: state.transaction(),
    "a copy": lambda state: state.copy(),
    "a read-only view": lambda state: state.read_only(),
    "a recorder of reads": lambda state: state.record_reads(),
}

BASKET = StateKey("app:basket", list)


@pytest.mark.parametrize("what", READERS)
@pytest.mark.parametrize(
    "read",
    [
        lambda reader: reader.get("app:basket"),
        lambda reader: reader.get(BASKET),
        lambda reader: reader.try_get(BASKET),
        lambda reader: reader["app:basket"],
        lambda reader: reader.app.get("basket"),
        lambda reader: reader.app["basket"],
        lambda reader: reader.get_raw("app:basket"),
        lambda reader: getattr(reader, "own", reader.get_raw)("app:basket"),
    ],
    ids=["get", "typed", "try_get", "item", "scope", "scope item", "raw", "own"],
)
def test_no_reader_hands_out_the_stored_value_itself(what: str, read: Callable[[Any], Any]) -> None:
    state = State({"app:basket": [["soup"]]})
    value = read(READERS[what](state))
    value.append(["cake"])
    value[0].append("more soup")
    assert state["app:basket"] == [["soup"]]


def test_the_list_of_declared_keys_cannot_be_changed_by_who_reads_it() -> None:
    state = State()
    state.declare(StateKey("app:n", int))
    declared: Any = state.read_only().declared
    with pytest.raises(TypeError):
        declared["app:n"] = StateKey("app:n", str)
