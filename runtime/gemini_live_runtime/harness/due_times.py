"""Read the time of a timer."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.json_values import is_number

MIN_S = 1.0
MAX_S = 30 * 86_400.0
"""Seconds from now between which a timer may end."""

_TIME_OF_DAY = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)


def due_time(wall: float, *, seconds: float | None = None, at: str = "") -> float:
    """Return the Unix seconds at which a timer that is set at `wall` ends.

    `seconds` is the time from now; `at` a local time, `19:30` or `2030-01-31T19:30`, or one with its offset. Raises
    `HarnessError` for both, for none, and for what is not between `MIN_S` and `MAX_S` from now.
    """
    at = at.strip() if isinstance(at, str) else ""
    if (seconds is None) == (not at):
        raise HarnessError("A timer needs seconds or at, one of them", remedy="Give the other one only", field="at")
    if seconds is not None and not is_number(seconds):
        raise HarnessError(f"seconds cannot be {seconds!r:.40}", remedy="Give a number", field="seconds", value=seconds)
    left = seconds if seconds is not None else _moment(at, datetime.fromtimestamp(wall)) - wall
    if not MIN_S <= left <= MAX_S:
        field, value = ("at", at[:40]) if seconds is None else ("seconds", seconds)
        raise HarnessError(
            f"A timer cannot end at {field} {value!r:.40}: that is not between a second and 30 days from now",
            remedy="Give another time",
            field=field,
            value=value,
        )
    return wall + left


def _moment(at: str, now: datetime) -> float:
    """Return the Unix seconds of a local time; `now` has no time zone."""
    if found := _TIME_OF_DAY.fullmatch(at):
        hour, minute, second = (int(part or 0) for part in found.groups())
        moment = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
        return (moment if moment > now else moment + timedelta(days=1)).timestamp()
    try:
        return datetime.fromisoformat(at).timestamp()
    except (ValueError, OverflowError, OSError):
        raise HarnessError(
            f"at {at[:40]!r} is no time",
            remedy="Give a time such as 19:30 or 2030-01-31T19:30",
            field="at",
            value=at[:40],
        ) from None
