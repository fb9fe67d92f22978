"""Compare JSON values as JSON does: true is neither a number nor 1."""

from __future__ import annotations

from typing import Any


def same_value(left: Any, right: Any) -> bool:
    """Return True when two JSON values are equal, at every depth."""
    if left is right:
        return True
    # Mostly decided here, at the speed of C; the rest is only stricter.
    if left != right:
        return False
    kind = type(left)
    if kind is not type(right):
        return kind is not bool and type(right) is not bool
    if kind is list:
        return all(map(same_value, left, right))
    if kind is dict:
        return all(same_value(value, right[name]) for name, value in left.items())
    return True


def is_number(value: Any) -> bool:
    """Return True for a JSON number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)
