"""Cut values that are too large for the line of an event.

A cut text keeps its beginning, followed by a note with its length and SHA-256; of a list or object that is large by the
number of its items only such a note is left, as `{"$cut": {...}}`. The whole value, as JSON, is offered to a keeper,
which stores it beside the journal under a name made of its hash; the hash is that of the file. A value above
`MAX_KEPT_CHARS` is cut before it is encoded, and not kept: encoding and redacting it would hold up the session.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.json_values import encode_line
from gemini_live_runtime.redactor import Redactor

MAX_LINE_CHARS = 1024 * 1024
"""Characters of the longest line of an event; values of a longer one are cut."""

MAX_TEXT_CHARS = 64 * 1024
"""Characters of the longest text in an event whose line is too long."""

MAX_BEGINNING = 4096
"""Characters of a cut text that stay in the event."""

MAX_KEPT_CHARS = 4 * 1024 * 1024
"""Characters of the longest text that is kept whole; a longer one is cut before anything else is done with it."""

MAX_ITEMS = 10_000
"""Items of a list or object whose texts are cut one by one; of a longer one only a note is left."""

_SMALL = frozenset((int, float, bool, type(None)))

_ITEM_CHARS = 16
"""Characters that an item of a list or object counts for."""

Keeper = Callable[[str, bytes], bool]
"""Function that stores a value under a file name; False when it does not."""


def is_huge(value: Any) -> bool:
    """Return True for a value of more than `MAX_KEPT_CHARS` characters.

    Takes a bounded time: it looks no further then.
    """
    kind = type(value)
    if kind in _SMALL:
        return False
    if kind is str:
        return len(value) > MAX_KEPT_CHARS
    left, waiting = MAX_KEPT_CHARS, [value]
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind in _SMALL:
            continue
        # The types of JSON come first: a look for any mapping takes ten times as long.
        if kind is str:
            left -= len(item)
        elif kind is dict or isinstance(item, Mapping):
            left -= _ITEM_CHARS * len(item)
            if left >= 0:
                waiting += item
                waiting += item.values()
        elif isinstance(item, list | tuple):
            left -= _ITEM_CHARS * len(item)
            if left >= 0:
                waiting += item
        if left < 0:
            return True
    return False


def shortened(value: Any, redactor: Redactor) -> Any:
    """Return a huge value with its long texts cut, or a note in its place.

    Neither is kept whole. Texts are redacted before they are cut: a part of a secret is no longer told from other text.
    """
    if isinstance(value, str):
        if len(value) <= MAX_TEXT_CHARS:
            return value
        digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        begin = redactor.text(value[: 3 * MAX_BEGINNING])[:MAX_BEGINNING]
        return f"{begin}… [cut: {len(value):,} characters, SHA-256 {digest}, not kept]"
    if isinstance(value, Mapping) and len(value) <= MAX_ITEMS:
        short: Any = {name: shortened(item, redactor) for name, item in value.items()}
    elif isinstance(value, list | tuple) and len(value) <= MAX_ITEMS:
        short = [shortened(item, redactor) for item in value]
        short = tuple(short) if isinstance(value, tuple) else short
    elif isinstance(value, Mapping | list | tuple):
        return {"$cut": {"items": len(value), "sha256": "", "file": ""}}
    else:
        return value
    return {"$cut": {"items": len(value), "sha256": "", "file": ""}} if is_huge(short) else short


class _Cutter:
    """Cutter of the values of one event."""

    def __init__(self, keep: Keeper) -> None:
        self.count = 0
        self._keep = keep

    def value(self, value: Any) -> Any:
        """Return `value` with its long texts cut, at any depth."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {self.value(name): self.value(item) for name, item in value.items()}
        if isinstance(value, Sequence):
            items = [self.value(item) for item in value]
            return tuple(items) if isinstance(value, tuple) else items
        return value

    def whole(self, value: Any) -> dict[str, Any]:
        """Return an object in place of all of `value`."""
        text = encode_line(value)
        digest, file = self._stored(text)
        return {"$cut": {"characters": len(text), "sha256": digest, "file": file}}

    def _text(self, text: str) -> str:
        if len(text) <= MAX_TEXT_CHARS:
            return text
        digest, file = self._stored(encode_line(text))
        where = f"whole in {file}" if file else "not kept"
        return f"{text[:MAX_BEGINNING]}… [cut: {len(text):,} characters, SHA-256 {digest}, {where}]"

    def _stored(self, text: str) -> tuple[str, str]:
        """Return the hash of a value's JSON text and the name of its file, "" for none."""
        data = text.encode()
        digest = hashlib.sha256(data).hexdigest()
        name = f"value-{digest[:16]}.json"
        self.count += 1
        return digest, name if self._keep(name, data) else ""


def cut_payload(payload: ev.Payload, keep: Keeper) -> tuple[ev.Payload, int]:
    """Return `payload` fit for a line, and the number of values cut.

    A payload that cannot be cut becomes a notice.
    """
    cutter = _Cutter(keep)
    kind: Any = type(payload)
    try:
        values = {field.name: cutter.value(getattr(payload, field.name)) for field in fields(kind)}
    except RecursionError:
        return _notice(payload), 1
    sizes = {name: len(encode_line(value)) for name, value in values.items()}
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        if sum(sizes.values()) <= MAX_LINE_CHARS // 2:
            break
        values[name] = cutter.whole(getattr(payload, name))
        sizes[name] = len(encode_line(values[name]))
    cut: ev.Payload = replace(payload, **values)  # type: ignore[type-var]
    if not _is_readable(cut):
        return _notice(payload), max(1, cutter.count)
    return cut, cutter.count


def _is_readable(payload: ev.Payload) -> bool:
    """Return True when a reader accepts the payload: not every field takes an object."""
    # Imported here, because pydantic takes long to import and few sessions cut a value.
    from gemini_live_runtime import vocabulary

    try:
        vocabulary.event_from_line(ev.Event(1, 0.0, 0, 0, payload).to_line())
    except ProtocolError:
        return False
    return True


def _notice(payload: ev.Payload) -> ev.Notice:
    return ev.Notice(
        level="error",
        code="event-lost",
        text=f"An event {payload.type} was too large to be written.",
        remedy="Return less data from tools",
    )
