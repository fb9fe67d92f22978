"""Parse JSON strictly, and compare its values: true is neither a number nor 1."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


class NotFiniteError(ValueError):
    """Number in JSON text that is NaN, infinite or too large.

    `text` has its first 20 characters.
    """

    def __init__(self, text: str) -> None:
        self.text = text[:20]
        super().__init__(f"{self.text} is not a number")


def _refuse(text: str) -> NoReturn:
    raise NotFiniteError(text)


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refuse(text)


strict_decoder = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
"""Decoder that raises `NotFiniteError`; shared, because `json.loads` with options creates one for every call."""


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
