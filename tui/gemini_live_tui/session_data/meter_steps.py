"""Tell samples of the meters that look different from those that do not."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter

from gemini_live_runtime.samples import UNSTEADY, MeterSample

STEP_DB = 1.5
"""Smallest change of a level that is shown at once; less waits for the next change of the screen, a second at most.

Soft noise of a room differs by less from one moment to the next (3 standard deviations of 50 ms)."""

_LEVELS = ("mic_db", "mic_peak_db", "clean_db", "out_db", "erle_db")

_levels = attrgetter(*_LEVELS)
_others = attrgetter(*(one.name for one in fields(MeterSample) if one.name not in (*_LEVELS, *UNSTEADY)))


def look_different(now: MeterSample, shown: MeterSample) -> bool:
    """Return True when `now` differs from `shown` by more than a room's soft noise."""
    return any(map(has_moved, _levels(now), _levels(shown))) or bool(_others(now) != _others(shown))


def has_moved(level: float | None, shown: float | None) -> bool:
    """Return True when a level (dBFS, None for no signal) differs by a visible step."""
    if level is None or shown is None:
        return level is not shown
    return abs(level - shown) >= STEP_DB
