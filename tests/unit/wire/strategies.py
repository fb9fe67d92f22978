"""Hypothesis strategies for any wire message, made from the types of its fields."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Union, get_args, get_origin

from hypothesis import strategies as st

from gemini_live_runtime.wire.base import Message
from gemini_live_runtime.wire.codec import codec_of
from gemini_live_runtime.wire.messages import Blob

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(TEXT, children, max_size=3),
    max_leaves=6,
)
USER_MAP = st.dictionaries(TEXT, JSON, max_size=3)
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    bool: st.booleans(),
    int: st.integers(-(2**63), 2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bytes: st.binary(max_size=12),
    Any: JSON.filter(lambda value: value is not None),
}


def message_classes(root: type[Message]) -> list[type[Message]]:
    """Return `root` and every message class reachable from its fields."""
    found: list[type[Message]] = []

    def visit(hint: Any) -> None:
        for part in get_args(hint):
            visit(part)
        if isinstance(hint, type) and issubclass(hint, Message) and hint not in found:
            found.append(hint)
            hints = typing.get_type_hints(hint)
            for field in codec_of(hint).fields:
                visit(hints[field.attribute])

    visit(root)
    return found


@cache
def messages(cls: type[Message], depth: int = 3) -> st.SearchStrategy[Any]:
    """Instances of `cls`; message fields are filled down to `depth` levels."""
    if cls is Blob:
        return st.builds(Blob, mime_type=st.none() | TEXT, data=st.binary(max_size=12), display_name=st.none() | TEXT)
    hints = typing.get_type_hints(cls)
    optional = {}
    for field in codec_of(cls).fields:
        strategy = field_values(hints[field.attribute], depth)
        if strategy is not None:
            optional[field.attribute] = strategy
    return st.fixed_dictionaries({}, optional=optional).map(lambda values: cls(**values))


def field_values(hint: Any, depth: int) -> st.SearchStrategy[Any] | None:
    """Return values of a field of this type, or None when they need deeper messages."""
    options = [hint]
    if get_origin(hint) in (Union, types.UnionType):
        options = [option for option in get_args(hint) if option is not type(None)]
    for option in options:
        if isinstance(option, type) and issubclass(option, StrEnum):
            return st.sampled_from(list(option)) | st.just("SOME_FUTURE_VALUE")
    kind = options[0]
    if get_origin(kind) is tuple:
        items = field_values(get_args(kind)[0], depth)
        return None if items is None else st.lists(items, min_size=1, max_size=2).map(tuple)
    if get_origin(kind) is Mapping:
        if get_args(kind)[1] is Any:
            return USER_MAP
        items = field_values(get_args(kind)[1], depth)
        return None if items is None else st.dictionaries(TEXT, items, max_size=2)
    if isinstance(kind, type) and issubclass(kind, Message):
        return messages(kind, depth - 1) if depth > 0 else None
    return SCALARS[kind]
