"""Find names that an agent gives twice."""

from __future__ import annotations

from collections.abc import Iterable


def duplicate_names(kind: str, named: Iterable[tuple[str, str]]) -> list[str]:
    """Return a sentence for each name that occurs more than once.

    `named` are pairs of a name and its place of definition, which may be ""; `kind` is a plural noun.
    """
    places: dict[str, list[str]] = {}
    for name, place in named:
        places.setdefault(name, []).append(place)
    return [
        f"There are {len(found)} {kind} named {name}{in_brackets(', '.join(filter(None, found)))}"
        for name, found in places.items()
        if len(found) > 1
    ]


def in_brackets(place: str) -> str:
    """Return ` (place)` to follow a name, or "" for an unknown place."""
    return f" ({place})" if place else ""
