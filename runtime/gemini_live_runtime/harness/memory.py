"""Describe memory: what is to be known in later sessions, by scope and key."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from gemini_live_runtime.harness.record_files import VERSION, Milliseconds
from gemini_live_runtime.plain_types import JSON_CONFIG
from gemini_live_runtime.records import keyword_record


class MemoryAuthor(StrEnum):
    """Writer of a memory."""

    OPERATOR = "operator"
    """The user of the console or the command line."""

    MODEL = "model"
    """A model, by a tool in a session: it may repeat what a stranger told it."""

    PROGRAM = "program"
    """A program that uses the library."""


@keyword_record
class MemoryProvenance:
    """Origin of a memory: who wrote it, and from which text."""

    __pydantic_config__ = JSON_CONFIG

    author: MemoryAuthor
    session_id: str | None = None
    agent: str | None = None
    turn: int | None = None
    text: str | None = None
    """Words of the user before the model wrote it, shortened."""


@keyword_record
class MemoryWrite:
    """Memory to write: `value` is any JSON.

    Scope and key are names of at most 80 letters, digits, `.`, `_` and `-`.
    """

    scope: str
    key: str
    value: Any
    summary: str | None = None
    metadata: dict[str, Any] | None = None
    provenance: MemoryProvenance | None = None
    """None is a program of unknown origin."""


@keyword_record
class MemoryRecord:
    """Memory. Times are Unix milliseconds."""

    __pydantic_config__ = JSON_CONFIG

    scope: str
    key: str
    created_at_ms: Milliseconds
    updated_at_ms: Milliseconds
    value: Any
    summary: str | None = None
    metadata: dict[str, Any] | None = None
    provenance: MemoryProvenance | None = None
    version: int = VERSION

    @property
    def is_trusted(self) -> bool:
        """True when the operator or a program of theirs wrote it, and no model.

        False for a file that does not say who wrote it: a program says so by its `provenance`.
        """
        return self.provenance is not None and self.provenance.author is not MemoryAuthor.MODEL


def value_text(value: Any) -> str:
    """Return a value as text: strings as they are, other JSON without its signs."""
    parts: list[str] = []
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            for name, inner in reversed(one.items()):
                rest += (inner, name)
        elif isinstance(one, list):
            rest += reversed(one)
        elif one is not None:
            parts.append(one if isinstance(one, str) else str(one).lower() if isinstance(one, bool) else str(one))
    return " ".join(parts)
