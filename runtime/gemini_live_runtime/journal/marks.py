"""The moment that a mark stands for."""

from __future__ import annotations

from gemini_live_runtime.events import Event, MarkSet


def marked_at(event: Event, mark: MarkSet) -> float:
    """Session time in seconds: what the mark says, never later than `event` that set it; without that, its own."""
    return event.t if mark.t is None else min(max(0.0, mark.t), event.t)
