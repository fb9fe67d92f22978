"""Compute the moment that a mark refers to."""

from __future__ import annotations

from gemini_live_runtime.events import Event, MarkSet


def marked_at(event: Event, mark: MarkSet) -> float:
    """Return the session time of a mark in seconds, at most that of `event`.

    A mark without a time refers to `event`, the one that set it.
    """
    return event.t if mark.t is None else min(max(0.0, mark.t), event.t)
