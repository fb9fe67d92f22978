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
        last = 0
        with _open(self.path) as file:
            _read_line(file)
            for number, (line, whole) in enumerate(_lines(file), start=2):
                if not whole and len(line) < MAX_LINE_BYTES:
                    self.torn = True
                    return
                if not whole:
                    self._problem(number, f"is longer than {MAX_LINE_BYTES // 1024 // 1024} MiB")
                    continue
                try:
                    event = vocabulary.event_from_line(line)
                except (ProtocolError, RecursionError) as error:
                    self._problem(number, f"is not an event: {error}")
                    continue
                if event.seq <= last:
                    self._problem(number, f"repeats event {event.seq}, which was skipped")
                    continue
                if event.seq != last + 1:
                    missing = f"event {last + 1}" if event.seq == last + 2 else f"events {last + 1} to {event.seq - 1}"
                    self._problem(number, f"comes after {missing} went missing")
                last = event.seq
                yield event

    def _problem(self, line: int, text: str) -> None:
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(line, f"Line {line} {text.rstrip('.')}."))


def read_journal(path: Path) -> Journal:
    """Open a session folder or its `events.jsonl`.

    Raises `JournalError` with a sentence for anything that is not a session, `NewerFormatError` for a newer format.
    """
    if path.is_dir():
        path = path / EVENTS_FILE
    with _open(path) as file:
        line, whole = _read_line(file)
    if not line:
        raise JournalError(f"{path} is empty: the session ended before anything was recorded", field="path")
    try:
        header = vocabulary.parse_object(line, "header") if whole else None
    except ProtocolError:
        header = None
    vocabulary.check_header(header, where=str(path))
    assert header is not None
    return Journal(path, header)


def _open(path: Path) -> BinaryIO:
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


def _lines(file: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    while True:
        line, whole = _read_line(file)
        if not line:
            return
        yield line, whole


def _read_line(file: BinaryIO) -> tuple[bytes, bool]:
    """The next line and whether it is whole; the rest of one that is too long is passed over."""
    line = file.readline(MAX_LINE_BYTES)
    if line.endswith(b"\n") or len(line) < MAX_LINE_BYTES:
        return line, line.endswith(b"\n")
    rest = line
    while rest and not rest.endswith(b"\n"):
        rest = file.readline(1 << 20)
    return line, False
