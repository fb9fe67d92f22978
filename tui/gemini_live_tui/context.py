"""Screens that can tell the person something."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

Level = Literal["info", "warning", "error"]


@runtime_checkable
class Telling(Protocol):
    """A screen with a row for messages."""

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show one sentence; a `passing` one goes away by itself."""
        ...
