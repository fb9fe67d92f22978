"""Guards and watchers compare with values that state can hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gemini_live_runtime import State, key
from gemini_live_runtime.errors import StateError


class Equal:
    """Value whose comparison is code of an author."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("it was asked")

    __hash__ = object.__hash__


COMPARED: dict[str, Callable[[Any], Any]] = {
    "==": lambda value: key("app:x") == value,
    "!=": lambda value: key("app:x") != value,
    "one of": lambda value: key("app:x").one_of(1, value),
    "contains": lambda value: key("app:x").contains(value),
    "changed to": lambda value: key("app:x").changed_to(value),
    "changed from": lambda value: key("app:x").changed_from(value),
}


@pytest.mark.parametrize("how", COMPARED)
@pytest.mark.parametrize("value", [Equal(), [Equal()], float("nan")], ids=["object", "in a list", "no number"])
def test_a_constant_that_state_can_never_hold_is_refused(how: str, value: Any) -> None:
    with pytest.raises(StateError, match="app:x"):
        COMPARED[how](value)


class Odd(float):
    """Number whose order is code of an author."""

    def __lt__(self, other: float) -> bool:
        raise AssertionError("it was asked")


def test_a_constant_is_compared_by_its_value_and_not_by_code_of_its_class() -> None:
    limit = [1]
    guard = key("app:x") == limit
    limit.append(2)
    assert guard.holds(State({"app:x": [1]}))
    assert (key("app:n") > Odd(3)).holds(State({"app:n": 5}))
    assert (key("app:n") < float("inf")).holds(State({"app:n": 5}))
    assert key("app:pair").one_of((1, 2)).holds(State({"app:pair": [1, 2]}))
