"""Redact values and texts as the journal does."""

from __future__ import annotations

from gemini_live_runtime.events import Event, Unknown
from gemini_live_runtime.journal.privacy.split_secrets import SplitSecrets
from gemini_live_runtime.redactor import Redactor


def may_redact(value: object) -> bool:
    """Return True when a line of JSON with `value` is not taken for harmless."""
    return Redactor().may_redact(Event(1, 0.5, 1, 1, Unknown(name="x", data={"value": value})).to_line())


def redacted_in_pieces(*pieces: str) -> str:
    """Return what is kept of a text that comes in pieces."""
    found = SplitSecrets(Redactor())
    kept: list[str] = []
    for piece in pieces:
        found.add("user", 1, piece, kept.append)
    found.close()
    return "".join(kept)
