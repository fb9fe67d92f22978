"""Copy, format and validate the JSON values that state holds."""

from __future__ import annotations

from copy import deepcopy
from math import isfinite, isinf
from typing import Any, Final

from gemini_live_runtime.author_code import USER_ERRORS, error_text, is_text
from gemini_live_runtime.errors import StateError

MAX_DEPTH = 64
"""Deepest nesting of a value, in lists and objects."""


class _Missing:
    """Value of an absent key; false, and itself when copied."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "MISSING"

    def __copy__(self) -> _Missing:
        return self

    def __deepcopy__(self, memo: object) -> _Missing:
        return self


MISSING: Final = _Missing()

IMMUTABLE: Final = frozenset((str, int, bool, float, type(None)))
"""Types of JSON values that need no copying."""

PLAIN: Final = frozenset((str, int, bool, type(None)))
"""Types whose values are JSON, integers up to `MAX_INT`; a float may be infinite or not a number."""

MAX_INT: Final = 10**308
"""Largest integer, about that of floats: Python refuses to write integers of more than 4,300 digits."""

MIN_INT: Final = -MAX_INT
"""Smallest integer; negating `MAX_INT` for each write would cost a fifth of it."""


def copy_value(value: Any) -> Any:
    """Return a copy of a JSON value that the caller may change."""
    return value if type(value) in IMMUTABLE else deepcopy(value)


def format_value(value: Any) -> str:
    """Format a JSON value for a guard's text: `"gold"`, `null`, `true`, `0.7`."""
    if isinstance(value, str):
        return f'"{value}"'
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def constant(key: str, value: Any) -> Any:
    """Return a copy of the value that a guard or a watcher of `key` compares with.

    Raises `StateError` for one that state cannot hold: comparing with it would run its own code. Infinities are taken,
    for orderings.
    """
    return float(value) if isinstance(value, float) and isinf(value) else to_json(key, value)


def to_json(key: str, value: Any, depth: int = 0) -> Any:
    """Copy `value` as JSON; raise `StateError` when JSON cannot hold it.

    The error names `key` and the part. Tuples become lists, subclasses of plain types plain values, pydantic models
    objects.
    """
    kind = type(value)
    if kind is int:
        if MIN_INT <= value <= MAX_INT:
            return value
        raise StateError(f"{key} is a number of more than 308 digits", remedy="Store it as a text", field=key)
    if kind in PLAIN:
        return value
    if kind is float:
        if isfinite(value):
            return value
        raise StateError(f"{key} cannot be {value}: JSON has no such number", field=key, value=value)
    if depth < MAX_DEPTH:
        if issubclass(kind, dict):
            if all(is_text(name) for name in value):
                return {str.__str__(n): to_json(f"{key}.{n}", item, depth + 1) for n, item in value.items()}
            raise StateError(f"{key} has a name that is not a text: {_shown(list(value))}", field=key, value=value)
        if issubclass(kind, (list, tuple)):
            return [to_json(f"{key}[{index}]", item, depth + 1) for index, item in enumerate(value)]
        if issubclass(kind, str):  # a member of an enumeration: str(value) would be its name
            return str.__str__(value)
        for plain in (int, float):
            if issubclass(kind, plain):
                return to_json(key, plain(value), depth)
        dump = getattr(value, "model_dump", None)
        if dump is not None and not isinstance(value, type):
            try:
                dumped = dump(mode="json")
            except USER_ERRORS as error:  # An author's serializer may raise anything.
                raise StateError(f"{key} cannot be written as JSON: {error_text(error)}", field=key) from error
            return to_json(key, dumped, depth + 1)
    else:
        raise StateError(f"{key:.80} is nested deeper than {MAX_DEPTH} levels", field=key)
    raise StateError(
        f"{key} cannot be a {kind.__name__}: {_shown(value)}",
        remedy="State holds JSON: texts, numbers, true and false, null, lists and objects",
        field=key,
        value=value,
    )


def _shown(value: Any) -> str:
    try:
        return f"{value!r:.80}"
    except USER_ERRORS:  # An author's repr may raise anything.
        return "it has no repr"
