"""Keep folding, pins and order of the state pane between sessions."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import field
from typing import Any

from gemini_live_runtime.records import mutable_record

MAX_PINNED = 50
"""Pinned keys that are saved, the latest ones. They are saved by name; those of another agent do not show."""

MAX_KEY = 200
"""Characters of a saved key."""


@mutable_record
class StateListing:
    """Listing that the operator chose."""

    folded: set[str] = field(default_factory=lambda: {"session"})
    """Scopes of which only the heading is listed; at first the engine's own, which changes all the time."""
    pinned: list[str] = field(default_factory=list)
    """Keys at the top, as views spell them."""
    changed_first: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the values to save."""
        pinned = [key for key in self.pinned if len(key) <= MAX_KEY][-MAX_PINNED:]
        return {"folded": sorted(self.folded), "pinned": pinned, "changed_first": self.changed_first}

    @classmethod
    def from_json(cls, value: object, scopes: Container[str]) -> StateListing:
        """Restore a listing from saved values; invalid ones keep their defaults.

        `scopes` are the known scopes.
        """
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
