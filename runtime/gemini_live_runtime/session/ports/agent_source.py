"""Describe where an agent is read from, for sessions that can read it again."""

from __future__ import annotations

from typing import Protocol, TypeVar

PlanT_co = TypeVar("PlanT_co", covariant=True)


class Source(Protocol[PlanT_co]):
    """File or module that an agent is read from."""

    auto_reload: bool
    """Reload by itself when it has changed."""

    @property
    def path(self) -> str:
        """Path, for people to read."""
        ...

    def changed(self) -> bool:
        """Return True when it differs from what was read last."""
        ...

    def load(self) -> PlanT_co:
        """Read the agent, in any thread.

        Raises `GeminiLiveError` and changes nothing when that fails.
        """
        ...

    def roll_back(self) -> None:
        """Discard what was read last: it is not used."""
        ...
