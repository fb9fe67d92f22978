"""Name the kinds of tools."""

from __future__ import annotations

from enum import StrEnum


class ToolKind(StrEnum):
    """Origin of a tool."""

    BUILT_IN = "built-in"
    """Of the session itself, such as those for memory and tasks."""

    LOCAL = "local"
    """Function of the agent's program."""

    REMOTE = "remote"
    """Function of another program, which a provider calls."""
