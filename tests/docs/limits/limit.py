"""Hold a limit of an input, and write numbers as people read them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """Limit of one input; `test` shows what happens at it."""

    input: str
    most: str
    beyond: str
    test: str


def size(count: int) -> str:
    """Return a number of bytes in words: `64 KiB`, `16 MiB`."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit and count % unit == 0:
            return f"{count // unit} {name}"
    return f"{count:,} bytes"


def seconds(count: float) -> str:
    """Return a time in words: `90 s`, `5 min`."""
    return f"{count / 60:g} min" if count >= 120 else f"{count:g} s"


def characters(count: int) -> str:
    """Return a number of characters in words: `4,000 characters`."""
    return f"{count:,} characters"
