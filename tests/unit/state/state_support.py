"""Values, keys and guards for tests of state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from gemini_live_runtime.state.guards import Guard
from gemini_live_runtime.state.mutations import Mutation
from gemini_live_runtime.state.store import State
from gemini_live_runtime.state.terms import key

KEYS = ("app:a", "app:b", "user:a", "session:a", "turn:a", "turn:b", "bg:a", "temp:a", "a", "b")

SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 0.5, 1.0, -2.5]) | st.sampled_from("abc")
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=5,
)


def equal(left: Any, right: Any) -> bool:
    """Compare JSON values, true unequal to 1, independently of the product's code."""
    return bool(_tagged(left) == _tagged(right))


def _tagged(value: Any) -> Any:
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return ("list", [_tagged(item) for item in value])
    if isinstance(value, dict):
        return ("dict", {name: _tagged(item) for name, item in value.items()})
    return value


def atoms() -> st.SearchStrategy[Guard]:
    """Guards on one key."""
    keys = st.sampled_from(KEYS[:5]).map(key)
    orders = st.sampled_from([0, 1, 0.5, "b"])
    return st.one_of(
        st.builds(lambda k, v: k == v, keys, VALUES),
        st.builds(lambda k, v: k != v, keys, VALUES),
        st.builds(lambda k, v: k < v, keys, orders),
        st.builds(lambda k, v: k <= v, keys, orders),
        st.builds(lambda k, v: k > v, keys, orders),
        st.builds(lambda k, v: k >= v, keys, orders),
        st.builds(lambda k: k.is_set(), keys),
        st.builds(lambda k: k.is_missing(), keys),
        st.builds(lambda k: k.is_true(), keys),
        st.builds(lambda k: k.is_false(), keys),
        st.builds(lambda k, v: k.one_of(*v), keys, st.lists(SCALARS, max_size=3)),
        st.builds(lambda k, v: k.contains(v), keys, SCALARS),
    )


def guards() -> st.SearchStrategy[Guard]:
    """Guards of any shape."""
    return st.recursive(
        atoms(),
        lambda inner: st.one_of(
            st.builds(lambda a, b: a & b, inner, inner),
            st.builds(lambda a, b: a | b, inner, inner),
            st.builds(lambda a: ~a, inner),
        ),
        max_leaves=8,
    )


def kept_mutations(state: State) -> Callable[[], list[Mutation]]:
    """Let a state keep its mutations; return what takes them."""
    state.on_mutations(lambda: None)
    return state.take_mutations
