"""Read the lines of a journal without loading one of any length."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from gemini_live_runtime.events import Event

EVENTS_FILE = "events.jsonl"
"""Name of the journal in a session's folder."""

MAX_SKIPPED_BYTES = 256 * 1024 * 1024
"""Longest line that is skipped, in bytes; what follows a longer one is not read."""

_SKIP_BYTES = 1 << 20

_SEARCHED_BYTES = 64 * 1024 * 1024
"""Bytes searched for an event in a file without a usable header."""

_LINE_BYTES = 4 * 1024 * 1024
"""Longest line in which an event is searched, in bytes."""


def read_line(file: BinaryIO, limit: int) -> tuple[bytes, int, bool]:
    """Return the next line, its size in bytes, and True when it is whole.

    Of a line longer than `limit` bytes only the beginning is returned; the rest is skipped but counted. A line of more
    than `MAX_SKIPPED_BYTES` goes to the end of the file, since reading gigabytes without an event takes too long.
    """
    line = file.readline(limit)
    if line.endswith(b"\n") or len(line) < limit:
        return line, len(line), line.endswith(b"\n")
    size = len(line)
    while rest := file.read(_SKIP_BYTES):
        end = rest.find(b"\n") + 1
        if end:
            file.seek(end - len(rest), os.SEEK_CUR)
            return line, size + end, False
        size += len(rest)
        if size > MAX_SKIPPED_BYTES:
            here = file.tell()
            return line, size + file.seek(0, os.SEEK_END) - here, False
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
