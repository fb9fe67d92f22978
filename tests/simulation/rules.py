"""Base class of the reference model's rules."""

from __future__ import annotations

from typing import Any


class Broken(AssertionError):  # noqa: N818 - a promise, not an error
    """A promise was broken."""


class Rule:
    """Promise that checks every entry in order, and the facts at the end."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        """Something that is not an event."""

    def event(self, event: dict[str, Any]) -> None:
        """Check an event, given as JSON."""

    def end(self, facts: dict[str, Any]) -> None:
        """Check the facts at the end."""

    @staticmethod
    def check(holds: bool, otherwise: str) -> None:
        """Raise `Broken` saying so when it does not hold."""
        if not holds:
            raise Broken(otherwise)
