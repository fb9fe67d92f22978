"""Check choices that programs make among kinds and statuses of records."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeVar

from gemini_live_runtime.choices import as_member
from gemini_live_runtime.errors import HarnessError

E = TypeVar("E", bound=Enum)


def member_of(kind: type[E], value: Any, *, field: str) -> E:
    """Return the member that `value` is or names; raise `HarnessError` for none."""
    member = as_member(kind, value)
    if not isinstance(member, kind):
        raise HarnessError(
            f"{field} cannot be {value!r:.60}",
            remedy=f"Use one of {', '.join(str(known.value) for known in kind)}",
            field=field,
            value=str(value)[:60],
        )
    return member


def check_text(value: object, *, field: str) -> str:
    """Return a value that is a text; raise `HarnessError` for another one."""
    if not isinstance(value, str):
        raise HarnessError(
            f"{field} is a text, not a value of type {type(value).__name__}", remedy="Give a string", field=field
        )
    return value
