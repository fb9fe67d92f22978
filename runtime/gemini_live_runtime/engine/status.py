"""Describe what an engine does at the moment, for programs that list engines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemini_live_runtime.records import keyword_record
from gemini_live_runtime.text import sanitise_line


@keyword_record
class EngineStatus:
    """Status of a living engine. Times are in seconds."""

    word: str
    """State word of the session, such as `listening` or `dormant`."""
    consoles: int = 0
    alone_s: float | None = None
    """Time since the last console left, or the start without any; None with one."""
    ends_in_s: float | None = None
    """Time until it ends without a console; None while it does not count down."""
    tasks: int = 0
    """Number of tasks that run."""
    finishes: bool = False
    """True once it goes on for its tasks alone."""
    harness_root: str = ""
    """Folder of its records, or ""."""

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> EngineStatus:
        """Return the status in a JSON object.

        Raises `ValueError`, `TypeError` or `KeyError`.
        """
        alone, ends = value.get("alone_s"), value.get("ends_in_s")
        return cls(
            word=sanitise_line(str(value["word"]), 40),
            consoles=int(value.get("consoles", 0)),
            alone_s=None if alone is None else float(alone),
            ends_in_s=None if ends is None else float(ends),
            tasks=int(value.get("tasks", 0)),
            finishes=value.get("finishes") is True,
            harness_root=str(value.get("harness_root", "")),
        )
