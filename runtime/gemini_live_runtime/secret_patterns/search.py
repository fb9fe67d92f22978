"""Find credentials in text by their shape, and fields of them by their name.

Each pattern begins with a literal *anchor*. Texts are searched for anchors, which is quick at any length, and patterns
are tried only there: a megabyte of words such as "bearer" takes tens of milliseconds. No pattern may take longer than
its match plus a bounded number of characters, except where the next anchor lies behind what was read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from gemini_live_runtime.secret_patterns import ends, quick, said, values
from gemini_live_runtime.secret_patterns.compiled import compiled
from gemini_live_runtime.secret_patterns.escapes import has_other_separator, plain_text
from gemini_live_runtime.secret_patterns.names import may_have_secret_field
from gemini_live_runtime.secret_patterns.quick import has_digit, has_key, may_have_encoded_sign
from gemini_live_runtime.secret_patterns.shapes import SHAPES
from gemini_live_runtime.secret_patterns.values import CHAINS, NAMED, has_value

_UNCOMPILED: deque[Callable[[], object]] = deque(
    (
        *(partial(quick.compile_for, sign) for sign in quick.SIGNS),
        *(partial(compiled, pattern) for _, pattern in (*SHAPES, *CHAINS, *NAMED)),
        *(partial(compiled, pattern) for pattern in (*ends.PATTERNS, *said.PATTERNS)),
    )
)
"""Steps by which the patterns are compiled that a text may need."""

_REREAD = 40
"""Characters of a match that are searched again: the name of the next value may end it."""


def compile_patterns() -> Iterator[None]:
    """Compile patterns ahead of their first use, some milliseconds' worth a step."""
    while _UNCOMPILED:
        with suppress(IndexError):
            _UNCOMPILED.popleft()()
        yield


def lowered(text: str) -> str:
    """Return text in lower case, each character at its place."""
    low = text.lower()
    # U+0130 is the only character that is two in lower case.
    return low if len(low) == len(text) else text.replace("\u0130", "i").lower()


def may_match(text: str, low: str) -> bool:
    """Return False when `spans_of` certainly finds nothing in `text`.

    `low` is `lowered(text)`.
    """
    # Every pattern needs one of these substrings. A search for a single character takes a tenth of a longer one.
    if "bearer" in low or ("token" in low and values.TOKEN_VALUE.search(low)):
        return True
    if ":" in text and (("@" in text and ("://" in text or "\\/" in text)) or "curl" in text):
        return True
    is_escaped = "%" in text or "\\" in text or "&" in text
    is_separated = is_escaped or "=" in text or ":" in text or ("-" in text and "--" in text) or ">" in text
    is_named = is_separated or (not text.isascii() and has_other_separator(text))
    digit = has_digit(text)
    has_secret = (is_named or digit) and "secret" in low
    if is_named and (has_secret or _has_named_value(low)):
        return True
    if has_key(text, low, digit) or (is_escaped and may_have_encoded_sign(text)):
        return True
    if digit and said.may_match(low, has_secret):
        return True
    return is_separated and "://" in text and ends.has_ellipsis(text)


def _has_named_value(low: str) -> bool:
    return bool(
        ("k" in low and ("cookie" in low or ("key" in low and values.KEY_VALUE.search(low))))
        or (
            "p" in low
            and (
                ("pass" in low and has_value(values.PASS_VALUE, low))
                or ("pin" in low and has_value(values.CODE_VALUE, low))
                or ("w" in low and "pw" in low)
            )
        )
        or ("z" in low and "authorization" in low)
    )


def may_match_data(data: str, low: str) -> bool:
    """Return False when certainly no field of an event's data matches.

    `data` is an object in JSON, `low` is `data` in lower case. The object's own field names are assumed to hold no
    secrets.
    """
    # Searching all of it costs a fraction of a walk through its fields. Deeper than the object itself, fields have any
    # name, in which separators do not count.
    is_nested = data.find("{", 1) >= 0
    names = low.replace("_", "").replace("-", "") if is_nested else low
    if "r" in low and ("secret" in names or "bearer" in names or ("-" in data and "curl" in low)):
        return True
    if "p" in low and (
        ("pass" in names and has_value(values.PASS_VALUE_IN_JSON, low))
        or ("pin" in names and has_value(values.CODE_VALUE_IN_JSON, low))
        or ("w" in low and "pw" in names)
    ):
        return True
    if ("k" in low and _has_key_or_token(low, names)) or ("z" in low and "authorization" in names):
        return True
    digit = has_digit(data)
    if has_key(data, low, digit) or (("%" in data or "\\" in data or "&" in data) and may_have_encoded_sign(data)):
        return True
    # U+212A, the Kelvin sign, matches "k" in the patterns, which ignore case.
    if ("@" in data and ("://" in data or "\\/" in data)) or "\u212a" in data:
        return True
    if "/" in data and "://" in data and ends.has_ellipsis(data):
        return True
    return (digit and said.may_match_data(low)) or (is_nested and may_have_secret_field(names))


def _has_key_or_token(low: str, names: str) -> bool:
    return bool(
        "cookie" in names
        or ("key" in names and values.KEY_VALUE_IN_JSON.search(low))
        or ("token" in names and values.TOKEN_VALUE_IN_JSON.search(low))
    )


def spans_of(text: str, low: str) -> Iterator[tuple[int, int]]:
    """Yield the private part of every match as [first, beyond).

    `low` is `lowered(text)`.
    """
    yield from _spans(text, low)
    plain = plain_text(text)
    if plain is not None:
        for first, beyond in _spans(plain.text, lowered(plain.text)):
            yield plain.raw_span(first, beyond)


def _spans(text: str, low: str) -> Iterator[tuple[int, int]]:
    if "@" in text or has_key(text, low, has_digit(text)) or "auth_tokens/" in text:
        for anchor, pattern in SHAPES:
            if anchor in text:
                for match in compiled(pattern).finditer(text):
                    yield match.span(match.lastgroup or 0)
    for anchor, pattern in CHAINS:
        at = low.find(anchor)
        while at >= 0:
            at += len(anchor)
            while (found := compiled(pattern).match(text, at)) is not None:
                at = found.end()
                if found.lastgroup is not None:
                    yield found.span(found.lastgroup)
            at = low.find(anchor, at)
    for anchor, pattern in NAMED:
        at = low.find(anchor)
        while at >= 0:
            found = compiled(pattern).match(text, at)
            if found is None:
                at = low.find(anchor, at + 1)
            else:
                yield found.span(found.lastgroup or 0)
                at = low.find(anchor, max(at + 1, found.end() - _REREAD))
    if has_digit(text):
        yield from said.spans(low)
    if ends.has_ellipsis(text):
        yield from ends.spans_before_ellipses(text)


def open_at(text: str) -> int | None:
    """Return where a secret may begin that goes beyond the end of `text`, or None."""
    return _first(_open_at, text)


def _open_at(text: str) -> int | None:
    found = (ends.open_at(text), said.open_at(lowered(text)))
    return min((at for at in found if at is not None), default=None)


def cut_at(text: str) -> int | None:
    """Return `open_at` when the part that is there tells too much, else None."""
    return _first(ends.cut_at, text)


def begun_at(text: str) -> int | None:
    """Return where a key begins that goes beyond the end of `text`, or None."""
    return _first(ends.begun_at, text)


def _first(find: Callable[[str], int | None], text: str) -> int | None:
    at, plain = find(text), plain_text(text)
    if plain is not None and (in_plain := find(plain.text)) is not None:
        first = plain.raw_span(in_plain, in_plain + 1)[0]
        return first if at is None else min(at, first)
    return at
