"""Put times into words."""

from __future__ import annotations

from datetime import datetime

_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))


def in_words(seconds: float) -> str:
    """Return a length of time in its largest unit, rounded, such as `3 hours`.

    At least one second.
    """
    seconds = max(1, round(seconds))
    # Rounded below one and a half, "1 hour" could be off by half of it.
    name, size = next(((name, size) for name, size in _UNITS if seconds >= size * 1.5), _UNITS[-1])
    count = max(1, round(seconds / size))
    return f"{count} {name}" if count == 1 else f"{count} {name}s"


def local_time(wall_ms: int) -> str:
    """Return a moment in Unix milliseconds as local time, `2030-01-31 19:30:00`."""
    try:
        return datetime.fromtimestamp(wall_ms / 1000).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return "a time that no calendar has"
