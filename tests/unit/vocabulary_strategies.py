"""Hypothesis strategies for events, commands and sequences of events."""

from __future__ import annotations

import types
import typing
from dataclasses import fields
from typing import Any, Literal

from hypothesis import strategies as st

from gemini_live_runtime import commands, events

text = st.text(max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=6,
)
_SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: text,
    int: st.integers(0, 10**12),
    float: st.floats(0, 1e12),
    bool: st.booleans(),
    type(None): st.none(),
    Any: json_values,
}


def of_type(annotation: Any) -> st.SearchStrategy[Any]:
    """Values of an annotation that the vocabulary uses."""
    if annotation in _SCALARS:
        return _SCALARS[annotation]
    origin, args = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is Literal:
        return st.sampled_from(args)
    if origin in (types.UnionType, typing.Union):
        return st.one_of([of_type(arg) for arg in args])
    if origin is dict:
        return st.dictionaries(of_type(args[0]), of_type(args[1]), max_size=3)
    if origin is tuple and args[-1] is Ellipsis:
        return st.lists(of_type(args[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*[of_type(arg) for arg in args])
    raise AssertionError(f"the vocabulary uses {annotation}, which has no strategy")


def instances(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Values of one payload or order."""
    hints = typing.get_type_hints(cls)
    return st.builds(cls, **{field.name: of_type(hints[field.name]) for field in fields(cls)})


payloads = st.one_of([instances(cls) for cls in events.PAYLOADS.values()])
orders = st.one_of([instances(cls) for cls in commands.ORDERS.values()])

_LIVELY = (
    events.TranscriptDelta,
    events.TurnInterrupted,
    events.TurnCompleted,
    events.ToolCalled,
    events.ToolFinished,
    events.GenerationCompleted,
    events.TextSent,
    events.Notice,
)
_steps = st.tuples(
    st.one_of(st.one_of([instances(cls) for cls in _LIVELY]), payloads),
    st.floats(0, 5),
    st.integers(0, 1),
    st.integers(0, 1),
)


@st.composite
def sessions(draw: st.DrawFn, max_size: int = 40) -> list[events.Event]:
    """Draw events as a session emits them.

    Numbers are dense, time never goes back, turns and generations grow by one.
    """
    found, t, turn, gen = [], 0.0, 0, 0
    for seq, (payload, later, next_turn, next_gen) in enumerate(draw(st.lists(_steps, max_size=max_size)), 1):
        t, turn, gen = round(t + later, 6), turn + next_turn, gen + next_gen
        found.append(events.Event(seq, t, turn, gen, payload))
    return found
