"""Parse JSON strictly, encode it for lines, and compare values.

When values are compared, true is neither a number nor 1.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
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


# What a terminal would obey, what reorders or hides text, what some readers take for the end of a line, and what UTF-8
# cannot encode: DEL, C1, bidi controls, invisible signs, separators of lines, tags, lone surrogates. The encoder has
# escaped C0 already.
_ESCAPED = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]+"
)


def _line_encoder() -> Callable[[Any, int], Iterable[str]]:
    """Return a fast encoder with fixed options, which returns the parts of a text.

    `json.dumps` with options creates two encoders for each call; this creates one in all.
    """
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False)
    make = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return lambda value, _level: encoder.encode(value)
    parts: Callable[[Any, int], Iterable[str]] = make(
        None, encoder.default, json.encoder.encode_basestring, None, ":", ",", False, False, True
    )
    return parts


_encoded_parts = _line_encoder()


def encode_line(value: Any) -> str:
    """Return `value` as JSON on one line that a terminal shows harmlessly.

    Text stays as it is, but for control characters, bidi controls and lone surrogates, which are escaped: so every
    value encodes as UTF-8. A circular value raises `RecursionError`.
    """
    return escaped("".join(_encoded_parts(value, 0)))


def escaped(line: str) -> str:
    """Return JSON text with escapes for what a terminal would obey or hide."""
    # Both tests are far quicker than a search by the pattern.
    if (line.isascii() and "\x7f" not in line) or line.isprintable():
        return line
    return _ESCAPED.sub(_escape, line)


def _escape(match: re.Match[str]) -> str:
    return "".join(map(_escaped_sign, match[0]))


@cache
def _escaped_sign(sign: str) -> str:
    return json.dumps(sign)[1:-1] if sign != "\x7f" else "\\u007f"


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


def is_finite(value: Any) -> bool:
    """Return True for a number that a float can hold."""
    # A whole number beyond that cannot even be asked by `math.isfinite`.
    return is_number(value) and -sys.float_info.max <= value <= sys.float_info.max


def is_number(value: Any) -> bool:
    """Return True for a JSON number; true and false are none."""
    kind = type(value)
    return kind is int or kind is float or (kind is not bool and issubclass(kind, (int, float)))
