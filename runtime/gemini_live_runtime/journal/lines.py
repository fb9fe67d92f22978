"""Read the lines of a journal without loading one of any length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from gemini_live_runtime.events import Event

EVENTS_FILE = "events.jsonl"
"""Name of the journal in a session's folder."""

_SKIP_BYTES = 1 << 20

_SEARCHED_BYTES = 64 * 1024 * 1024
"""Bytes searched for an event in a file without a usable header."""

_LINE_BYTES = 4 * 1024 * 1024
"""Longest line in which an event is searched, in bytes."""


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


def lines_of(file: BinaryIO, limit: int) -> Iterator[tuple[bytes, int, bool]]:
    """Yield the lines from the position of `file` on, as `read_line` does."""
    while True:
        line, size, whole = read_line(file, limit)
        if not line:
            return
        yield line, size, whole


def parsed_event(line: bytes) -> Event | None:
    """Return the event of a line, or None."""
    # Imported here: the vocabulary needs pydantic, and listing recordings does not.
    from gemini_live_runtime import vocabulary
    from gemini_live_runtime.errors import ProtocolError

    try:
        return vocabulary.event_from_line(line)
    except (ProtocolError, RecursionError):
        return None


def holds_event(file: BinaryIO) -> bool:
    """Return True when an open file has an event near its beginning."""
    file.seek(0)
    for line, _, whole in lines_of(file, _LINE_BYTES):
        if whole and b'"seq"' in line and parsed_event(line) is not None:
            return True
        if file.tell() > _SEARCHED_BYTES:
            break
    return False
