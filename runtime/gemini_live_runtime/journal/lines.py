"""Read the lines of a journal without loading one of any length."""

from __future__ import annotations

from typing import BinaryIO

EVENTS_FILE = "events.jsonl"
"""Name of the journal in a session's folder."""

_SKIP_BYTES = 1 << 20


def read_line(file: BinaryIO, limit: int) -> tuple[bytes, int, bool]:
    """Return the next line, its size in bytes, and True when it is whole.

    Of a line longer than `limit` bytes only the beginning is returned; the rest is skipped but counted.
    """
    line = file.readline(limit)
    if line.endswith(b"\n") or len(line) < limit:
        return line, len(line), line.endswith(b"\n")
    size, rest = len(line), line
    while rest and not rest.endswith(b"\n"):
        rest = file.readline(_SKIP_BYTES)
        size += len(rest)
    return line, size, False
