"""Accept an option by a member or a text, and find the name that was meant."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, TypeVar, cast

E = TypeVar("E", bound=Enum)


def as_member(kind: type[E], value: Any) -> E:
    """Return the member of `kind` that a text names or is the value of, in any case.

    So does a member of another enumeration, by its value. Other values come back as they are: the caller refuses them.
    """
    if isinstance(value, Enum) and not isinstance(value, kind):
        value = value.value
    if isinstance(value, str) and not isinstance(value, kind):
        known = {
            _spelling(name): member for member in kind for name in (member.value, member.name) if isinstance(name, str)
        }
        return known.get(_spelling(value), cast("E", value))
    return cast("E", value)


def as_choice(value: Any, choices: Iterable[str]) -> Any:
    """Return the choice that a member's value or a text names, in any case.

    Other values come back as they are, as in `as_member`.
    """
    value = value.value if isinstance(value, Enum) else value
    known = {_spelling(choice): choice for choice in choices}
    return known.get(_spelling(value), value) if isinstance(value, str) else value


def nearest(name: object, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the known name that is most like `name`, or "".

    `cutoff` is the least likeness, 0 to 1.
    """
    # Imported here, for few names are wrong.
    from difflib import get_close_matches

    return next(iter(get_close_matches(str(name), list(known), 1, cutoff)), "")


def _spelling(text: str) -> str:
    return "-".join(text.lower().replace("_", " ").replace("-", " ").split())
