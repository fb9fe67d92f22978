"""Find private values in JSON that stands in a text, by their names.

A tool may return JSON as a text, and events have a task's result as one: cut off, within a sentence, or quoted in
another text. So it is not parsed but read from sign to sign, and what is no JSON is passed over. Python's way to print
data is read, too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from gemini_live_runtime.journal.privacy.private_names import PrivateKind, is_state_key, kind_in_memory, kind_of
from gemini_live_runtime.records import frozen_record, mutable_record

MAX_LEVELS = 4
"""Levels of JSON within texts of JSON."""

# A text may be cut off within a string. An apostrophe in a word begins none, and words in quotation marks are none.
_AFTER = r"(?=\s{0,8}(?:[,:}\])]|\Z))"
_TOKEN = re.compile(
    r"(?<![0-9A-Za-z\\])"
    rf"(?:\"(?P<double>(?>(?:[^\"\\]|\\[\s\S])*))(?:\"{_AFTER}|\\?\Z)"
    rf"|'(?P<single>(?>(?:[^'\\\r\n]|\\.){{0,1000}}))'{_AFTER})(?P<name>\s{{0,8}}:)?"
    r"|(?<![\w.])(?P<number>-?[0-9]+(?:\.[0-9]+)?)"
    r"|(?P<open>[{\[(])|(?P<close>[}\])])"
)
_HAS_NAME = re.compile(r"[\"']\s{0,8}:")


@frozen_record
class FoundValue:
    """Private value in a text, at [first, beyond) of it."""

    first: int
    beyond: int
    value: str
    kind: PrivateKind
    is_number: bool = False


@mutable_record
class _Level:
    """Object or list that is open; `kind` is that of all its values."""

    kind: PrivateKind = ""
    of_next: PrivateKind = ""
    about: FoundValue | None = None
    """Value of its field "key", of which a field "value" may follow."""
    is_key: bool = False


def private_values(text: str, kind: PrivateKind = "", *, levels: int = MAX_LEVELS) -> Iterator[FoundValue]:
    """Yield the private values of JSON in `text`.

    With a `kind`, all values are yielded, as of that kind.
    """
    if not kind and _HAS_NAME.search(text) is None:
        return
    open_levels = [_Level(kind, kind)]
    for token in _TOKEN.finditer(text):
        here = open_levels[-1]
        if token["open"]:
            open_levels.append(_Level(here.of_next, here.of_next))
        elif token["close"]:
            if len(open_levels) > 1:
                yield from _left(open_levels.pop())
                open_levels[-1].of_next = open_levels[-1].kind
        elif token["name"]:
            _name(here, _plain(token["double"] or token["single"] or ""))
        else:
            yield from _value(here, token, levels)
            here.is_key, here.of_next = False, here.kind
    while open_levels:
        yield from _left(open_levels.pop())


def _name(here: _Level, name: str) -> None:
    """Take a field's name for the value that follows."""
    here.is_key, here.of_next = False, here.kind
    if here.kind in ("name", "yes"):
        return
    here.is_key = name == "key"
    if name == "value" and here.about is not None:
        about, here.about = here.about.value, None
        here.of_next = kind_in_memory(about) if here.kind == "memory" else kind_of(about)
    elif not here.kind:
        here.of_next = kind_of(name)
    if here.of_next == "measure":
        here.of_next = ""


def _value(here: _Level, token: re.Match[str], levels: int) -> Iterator[FoundValue]:
    which = "number" if token["number"] else "single" if token["double"] is None else "double"
    raw, (first, beyond) = token[which], token.span(which)
    value = raw if which == "number" else _plain(raw)
    if which != "number" and levels and ("{" in value or "[" in value):
        # Words with escapes are not found again by their letters.
        beyond_inner = beyond if "\\u" in raw else first
        for inner in private_values(value, here.of_next, levels=levels - 1):
            yield FoundValue(first, beyond_inner, inner.value, inner.kind, inner.is_number)
    found = FoundValue(first, beyond, value, here.of_next or "yes", which == "number")
    if here.is_key:
        here.about = found
    elif here.of_next in ("name", "yes") and value:
        yield found


def _left(level: _Level) -> Iterator[FoundValue]:
    """Yield the field "key" of an object when it is no record about a value."""
    about = level.about
    if about is not None and about.value and not level.kind and not is_state_key(about.value):
        yield about


def _plain(raw: str) -> str:
    """Return a string of JSON or Python without its escapes."""
    if "\\" not in raw:
        return raw
    try:
        return str(json.loads(f'"{raw}"', strict=False))
    except ValueError:
        return re.sub(r"\\(.)", r"\1", raw)
