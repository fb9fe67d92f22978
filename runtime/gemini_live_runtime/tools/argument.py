"""Represent an argument of a tool's function."""

from __future__ import annotations

from typing import Any

from gemini_live_runtime.records import record

REQUIRED: Any = ...
"""Default of an argument that has to be given."""


@record
class Argument:
    """Argument of a tool, which the model gives."""

    annotation: Any
    default: Any = REQUIRED
    description: str = ""
