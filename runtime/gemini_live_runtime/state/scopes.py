"""Check the names of state keys."""

from __future__ import annotations

from gemini_live_runtime.author_code import exact_text, is_text
from gemini_live_runtime.errors import StateError

SCOPES = ("app", "user", "session", "turn", "bg", "temp", "derived")
"""Prefixes of keys, as in `scope:name`. `turn` is cleared when a turn begins; `derived` holds computed values."""

PERSISTENT_SCOPES = ("app", "user", "bg", "")
"""Scopes that are saved; "" are the bare keys. The others are valid for a turn or a session only, or are computed."""


def as_key(key: object) -> str:
    """Return a key of any scope as plain text; raise `StateError` for no text."""
    if not is_text(key) or not key:
        raise no_key(key)
    return exact_text(key)


def no_key(key: object) -> StateError:
    """Return the error of a key that is no text, such as the index of a loop."""
    remedy = "Give its name; state.keys() lists those that exist"
    return StateError(
        f"A state key is a text that is not empty, not {key!r:.60}", remedy=remedy, field="key", value=key
    )


def check_key(key: object) -> str:
    """Return `key` if it is a bare name or `scope:name`; else raise `StateError`."""
    key = as_key(key)
    scope, colon, name = key.partition(":")
    if colon and (scope not in SCOPES or not name):
        raise StateError(
            f"The state key {key!r} has no known scope",
            remedy=f"Begin it with one of {', '.join(f'{s}:' for s in SCOPES)} or leave out the colon",
            field="key",
            value=key,
        )
    return key
