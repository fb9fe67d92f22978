"""Accept an option by a member of its enumeration or by a text."""

from __future__ import annotations

from enum import Enum
from typing import Any, TypeVar, cast

E = TypeVar("E", bound=Enum)


def as_member(kind: type[E], value: Any) -> E:
    """Return the member of `kind` that a text names, in any case.

    Other values come back as they are: `check_settings` refuses them.
    """
    if isinstance(value, str) and not isinstance(value, kind):
        known = {member.name.lower(): member for member in kind}
        return known.get(value.lower().replace("-", "_"), cast("E", value))
    return cast("E", value)


def as_text(value: Any) -> Any:
    """Return the value of an enumeration's member, and other values as they are."""
    return value.value if isinstance(value, Enum) else value
