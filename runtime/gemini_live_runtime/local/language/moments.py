"""Tell dates and times that programs write for other programs."""

from __future__ import annotations

import re
from datetime import date

_ISO = re.compile(
    r"(?<![\w.-])(\d{4})-(\d\d)-(\d\d)"
    r"(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w-]|[.:]\d)"
)
"""A date of ISO 8601, alone or with a time."""

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def with_moments_in_words(text: str) -> str:
    """Return `text` with ISO dates, and their times, as people say them.

    As `27 November 2026 at 14:05`; the zone and seconds that are zero are left out.
    """
    return _ISO.sub(_told, text)


def _told(found: re.Match[str]) -> str:
    year, month, day, hour, minute, second = found.groups()
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return found[0]
    told = f"{int(day)} {_MONTHS[int(month) - 1]} {year}"
    return f"{told} at {hour}:{minute}{f':{second}' if second and second != '00' else ''}" if hour else told
