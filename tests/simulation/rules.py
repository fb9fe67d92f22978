"""What every rule of the reference model is made of."""

from __future__ import annotations

from typing import Any


class Broken(AssertionError):  # noqa: N818 - a promise, not an error
    """A promise was broken."""


class Rule:
    """A promise. It sees every entry in order, events apart from the rest, and the facts at the end."""

    def entry(self, kind: str, data: dict[str, Any]) -> None:
        """Something that is not an event."""

    def event(self, event: dict[str, Any]) -> None:
        """An event, as JSON."""

    def end(self, facts: dict[str, Any]) -> None:
        """It is all over."""

    @staticmethod
    def check(holds: bool, otherwise: str) -> None:
        """Raise `Broken` saying so when it does not hold."""
        if not holds:
            raise Broken(otherwise)
