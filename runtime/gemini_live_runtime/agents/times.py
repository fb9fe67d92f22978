"""Read and write times of day and durations as people say them."""

from __future__ import annotations

import re

_TIME = re.compile(r"^\s*(\d{1,2})(?:[:.](\d{2}))?\s*(am|pm)?\s*$", re.IGNORECASE)


def minutes_since_midnight(time: str) -> int | None:
    """Read `19:00`, `7 pm` or `7`; return None when unreadable.

    Bare hours from 1 to 10 mean the evening.
    """
    match = _TIME.match(time)
    if match is None:
        return None
    hour, minute, half = int(match[1]), int(match[2] or 0), (match[3] or "").lower()
    if hour > 23 or minute > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    elif 1 <= hour < 11 and match[2] is None:
        hour += 12
    return hour * 60 + minute


def duration_in_words(minutes: float) -> str:
    """Return `45 seconds`, `1 minute`, `90 minutes` or `2 hours and 30 minutes`."""
    seconds = round(minutes * 60)
    if seconds % 60:
        parts = [(seconds // 60, "minute"), (seconds % 60, "second")] if seconds > 2 * 60 else [(seconds, "second")]
    else:
        whole = seconds // 60
        parts = [(whole // 60, "hour"), (whole % 60, "minute")] if whole >= 2 * 60 else [(whole, "minute")]
    return " and ".join(f"{count} {unit}{'' if count == 1 else 's'}" for count, unit in parts if count)
