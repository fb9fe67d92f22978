"""Pack values and keys as ASCII JSON text.

Nothing is lost, and a terminal obeys nothing in it.
"""

from __future__ import annotations

import json
from typing import Any

MAX_JSON = 100_000
"""Characters of one value or tree; a note replaces a longer one, the event has it whole."""

_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def pack(value: Any) -> str:
    """Return `value` as ASCII JSON text, or a note when it is longer than `MAX_JSON`."""
    kind = type(value)
    if kind is int:  # the most frequent type, and the JSON encoder takes ten times as long
        text = int.__repr__(value)
    elif kind is bool:
        return "true" if value else "false"
    else:
        text = _encode(value)
    return text if len(text) <= MAX_JSON else _encode(f"(too long to show: {len(text):,} characters)")


def unpack(text: str) -> Any:
    """Return the value of a packed text; None for ""."""
    return json.loads(text) if text else None


def plain_key(key: str) -> str:
    """Escape a key for the views' dictionaries: other than plain ASCII as in JSON.

    `real_key` reverses it.
    """
    return key if key.isascii() and key.isprintable() and '"' not in key and "\\" not in key else _encode(key)[1:-1]


def real_key(key: str) -> str:
    """Return the key that `plain_key` escaped."""
    return str(json.loads(f'"{key}"')) if "\\" in key else key
