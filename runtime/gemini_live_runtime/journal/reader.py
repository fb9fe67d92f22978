"""Reading a recorded session back, whatever state its writer left it in."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from gemini_live_runtime import vocabulary
from gemini_live_runtime.errors import JournalError, ProtocolError
from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.retention import is_running
from gemini_live_runtime.journal.writer import EVENTS_FILE

MAX_LINE_BYTES = 32 * 1024 * 1024
"""Longest line read; a longer one is reported and skipped."""

MAX_PROBLEMS = 100
"""Problems kept as text; `Journal.problem_count` goes on counting."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong at `line` (from 1) of a journal, in a sentence."""

    line: int
    text: str


class Journal:
    """A recorded session. Iterating reads its events in order, each time from the beginning.

    Malformed lines are skipped and reported in `problems`, which is complete once an iteration has ended. `torn` is
    True when the last line is incomplete: the writer was killed, or is writing right now.
    """

    def __init__(self, path: Path, header: dict[str, object]) -> None:
        self.path = path
        self.header = header
        self.session_id = str(header.get("session_id", ""))
        self.problems: list[Problem] = []
        self.problem_count = 0
        self.torn = False

    @property
    def folder(self) -> Path:
        """Where the tracks of this session are, if it has any."""
        return self.path.parent

    @property
    def running(self) -> bool:
        """Whether an engine is still writing it."""
        return is_running(self.folder)

    def __iter__(self) -> Iterator[Event]:
        self.problems, self.problem_count, self.torn = [], 0, False
        with open_regular(self.path) as file:
            entries = EventLines(file, self)
            for event, _, _ in entries:
                if event is not None:
                    yield event
            self.torn = entries.torn

    def report(self, line: int, text: str) -> None:
        """Note that `line` `text`."""
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(line, f"Line {line} {text.rstrip('.')}."))


class EventLines:
    """The lines of an open file from its beginning: (event, offset, end in bytes); None in place of what is no event.

    Iterating again goes on after the last whole line, so that a file that is being written can be followed. Problems
    are told to `journal`. `offset` is the end of what was read, `torn` says that an incomplete line follows.
    """

    def __init__(self, file: BinaryIO, journal: Journal) -> None:
        self.offset = 0
        self.torn = False
        self._file = file
        self._journal = journal
        self._number = 0
        self._last = 0

    def __iter__(self) -> Iterator[tuple[Event | None, int, int]]:
        self.torn = False
        self._file.seek(self.offset)
        for line, size, whole in _lines(self._file):
            if not whole and size < MAX_LINE_BYTES:
                self.torn = True
                return
            begin, self.offset = self.offset, self.offset + size
            self._number += 1
            yield self._event(line, whole) if self._number > 1 else None, begin, self.offset

    def _event(self, line: bytes, whole: bool) -> Event | None:
        report, number, last = self._journal.report, self._number, self._last
        if not whole:
            report(number, f"is longer than {MAX_LINE_BYTES // 1024 // 1024} MiB")
            return None
        try:
            event = vocabulary.event_from_line(line)
        except (ProtocolError, RecursionError) as error:
            report(number, f"is not an event: {error}")
            return None
        if event.seq <= last:
            report(number, f"repeats event {event.seq}, which was skipped")
            return None
        if event.seq != last + 1:
            missing = f"event {last + 1}" if event.seq == last + 2 else f"events {last + 1} to {event.seq - 1}"
            report(number, f"comes after {missing} went missing")
        self._last = event.seq
        return event


def events_between(file: BinaryIO, offset: int, end: int, after: int) -> list[Event]:
    """The events with numbers above `after` in [`offset`, `end`) of `file`; everything else is passed over."""
    found: list[Event] = []
    file.seek(offset)
    for line, size, whole in _lines(file):
        offset += size
        if whole:
            try:
                event = vocabulary.event_from_line(line)
            except (ProtocolError, RecursionError):
                event = None
            if event is not None and event.seq > after:
                found.append(event)
                after = event.seq
        if offset >= end:
            break
    return found


def read_journal(path: Path) -> Journal:
    """Open a session folder or its `events.jsonl`.

    Raises `JournalError` with a sentence for anything that is not a session, `NewerFormatError` for a newer format.
    """
    if path.is_dir():
        path = path / EVENTS_FILE
    with open_regular(path) as file:
        line, _, whole = _read_line(file)
    if not line:
        raise JournalError(f"{path} is empty: the session ended before anything was recorded", field="path")
    try:
        header = vocabulary.parse_object(line, "header") if whole else None
    except ProtocolError:
        header = None
    vocabulary.check_header(header, where=str(path))
    assert header is not None
    return Journal(path, header)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; raises `JournalError`."""
    try:
        # Not blocking: a named pipe would otherwise wait for a writer before it can be refused.
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise JournalError(
            f"{path} cannot be read: {reason}",
            remedy="Recorded sessions are listed by: gemini-live-tui sessions",
            field="path",
            value=str(path),
        ) from None
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise JournalError(f"{path} is not a file", field="path", value=str(path))
    return os.fdopen(fd, "rb")


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, int, bool]]:
    while True:
        line, size, whole = _read_line(file)
        if not line:
            return
        yield line, size, whole


def _read_line(file: BinaryIO) -> tuple[bytes, int, bool]:
    """The next line, its size in bytes and whether it is whole; the rest of one that is too long is passed over."""
    line = file.readline(MAX_LINE_BYTES)
    if line.endswith(b"\n") or len(line) < MAX_LINE_BYTES:
        return line, len(line), line.endswith(b"\n")
    size, rest = len(line), line
    while rest and not rest.endswith(b"\n"):
        rest = file.readline(1 << 20)
        size += len(rest)
    return line, size, False
