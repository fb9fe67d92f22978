"""How the state pane lists keys: what is folded, what is pinned, in which order. It is remembered between sessions."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

MAX_PINNED = 50
"""Pinned keys remembered, those pinned last. They are kept by name: another agent's are simply not there."""

MAX_KEY = 200
"""Characters of a key's name that is remembered."""


@dataclass(slots=True)
class StateListing:
    """What a person has chosen."""

    folded: set[str] = field(default_factory=lambda: {"session"})
    """Scopes of which only the heading is listed: at first the engine's own, which changes all the time."""
    pinned: list[str] = field(default_factory=list)
    """Keys that are listed at the top, as views spell them."""
    changed_first: bool = False

    def to_json(self) -> dict[str, Any]:
        """What is written down."""
        pinned = [key for key in self.pinned if len(key) <= MAX_KEY][-MAX_PINNED:]
        return {"folded": sorted(self.folded), "pinned": pinned, "changed_first": self.changed_first}

    @classmethod
    def from_json(cls, value: object, scopes: Container[str]) -> StateListing:
        """What was written down; what does not fit is left at its default. `scopes` are those there are."""
        listing = cls()
        if not isinstance(value, Mapping):
            return listing
        folded, pinned = value.get("folded"), value.get("pinned")
        if isinstance(folded, list):
            listing.folded = {scope for scope in folded if isinstance(scope, str) and scope in scopes}
        if isinstance(pinned, list):
            keys = (key for key in pinned if isinstance(key, str) and 0 < len(key) <= MAX_KEY)
            listing.pinned = list(dict.fromkeys(keys))[-MAX_PINNED:]
        listing.changed_first = value.get("changed_first") is True
        return listing
