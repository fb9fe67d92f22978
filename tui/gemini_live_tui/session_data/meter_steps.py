"""Tell samples of the meters that look different from those that do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gemini_live_runtime.samples import MeterSample, have_changed

STEP_DB = 1.0
"""Smallest visible change of a level: numbers are whole decibels, and less moves a bar by a hair."""

_LEVELS = ("mic_db", "mic_peak_db", "clean_db", "out_db", "erle_db")


def look_different(now: MeterSample, shown: MeterSample) -> bool:
    """Return True when `now` differs from `shown` by more than a room's soft noise."""
    kept: dict[str, Any] = {}
    for name in _LEVELS:
        level = kept[name] = getattr(now, name)
        if has_moved(level, getattr(shown, name)):
            return True
    return have_changed(now, replace(shown, **kept))


def has_moved(level: float | None, shown: float | None) -> bool:
    """Return True when a level (dBFS, None for no signal) differs by a visible step."""
    if level is None or shown is None:
        return level is not shown
    return abs(level - shown) >= STEP_DB
