"""Typed keys: writing and reading values of their type."""

from __future__ import annotations

from datetime import date
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from gemini_live_runtime.errors import StateError
from gemini_live_runtime.state.keys import StateKey
from gemini_live_runtime.state.scopes import check_key
from gemini_live_runtime.state.store import State


class Order(BaseModel):
    dish: str
    day: date


ORDER = StateKey("app:order", Order, description="what is wanted")
COUNT = StateKey("app:count", int, default=2)


def test_a_model_goes_in_and_comes_out_and_is_json_between() -> None:
    state = State()
    order = Order(dish="soup", day=date(2030, 1, 2))
    state.set(ORDER, order)
    assert state["app:order"] == {"dish": "soup", "day": "2030-01-02"}
    assert state[ORDER] == state.get(ORDER) == state.try_get(ORDER) == order


def test_a_missing_key_gives_its_default() -> None:
    state = State()
    assert (state.get(COUNT), state.get(COUNT, 5), state.get(ORDER)) == (2, 5, None)
    with pytest.raises(StateError, match="app:order is not set"):
        state.try_get(ORDER)
    with pytest.raises(KeyError):
        _ = state[COUNT]


def test_a_default_cannot_be_changed_by_its_reader() -> None:
    names = StateKey("app:names", list[str], default=[])
    found = State().get(names)
    assert found is not None
    found.append("Ann")
    assert State().get(names) == []


def test_a_value_of_another_type_differs_from_a_missing_one() -> None:
    state = State({"app:count": "many"})
    assert state.get(COUNT) == 2
    with pytest.raises(StateError, match="app:count cannot be 'many'"):
        state.try_get(COUNT)


def test_a_write_that_does_not_fit_names_key_value_and_expected_type() -> None:
    state = State()
    with pytest.raises(StateError, match=r"app:order cannot be .*dish: Field required"):
        state.set(ORDER, {"day": "2030-01-02"})
    assert ORDER not in state


def test_a_declared_key_is_checked_however_it_is_spelled_and_in_every_layer() -> None:
    state = State()
    state.declare(COUNT)
    for layer in (state, state.fork(), state.transaction()):
        with pytest.raises(StateError, match="app:count"):
            layer.set("app:count", "many")
        with pytest.raises(StateError, match="app:count"):
            layer.app["count"] = None
        layer.set("app:count", 3)
        assert layer[COUNT] == 3


def test_a_type_may_bring_its_own_way_into_json() -> None:
    state = State()
    state.set(StateKey("app:x", set[int]), {1})
    assert state["app:x"] == [1]


@pytest.mark.parametrize(("kind", "value"), [(float, float("inf")), (Any, object())])
def test_a_value_of_the_type_that_json_does_not_allow_is_refused(kind: Any, value: Any) -> None:
    state = State()
    with pytest.raises(StateError, match="app:x"):
        state.set(StateKey("app:x", kind), value)
    assert "app:x" not in state


def test_a_key_knows_its_place_and_schema() -> None:
    assert ORDER.defined_at.startswith("test_keys.py:")
    assert StateKey("app:plan", Literal["gold", "basic"]).json_schema()["enum"] == ["gold", "basic"]
    assert repr(ORDER) == "key('app:order')"


@pytest.mark.parametrize("name", ["app:x", "derived:x", "x", "session:called_ok:pay", "x y"])
def test_usable_keys(name: str) -> None:
    assert check_key(name) == name


@pytest.mark.parametrize("name", ["", ":", "apps:x", "app:", 3])
def test_unusable_keys(name: Any) -> None:
    with pytest.raises(StateError):
        check_key(name)
    with pytest.raises(StateError):
        StateKey(name, int)
