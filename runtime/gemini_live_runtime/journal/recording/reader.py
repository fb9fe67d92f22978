"""Read a recorded session back, also after its writer was killed.

A journal may be torn at its end (the engine was killed, or is writing right now), hold damaged lines, or repeat and
lack event numbers. Reading never fails for that: a line counts when it ends with a newline, parses as an event and has
a number above the last. All others are skipped and reported with their line number. Where numbers are missing, a look
ahead tells whether this one is damaged: a single wrong number must not hide all events after it.

The first line is the header. Without a usable one, a file that holds an event is a session whose header is damaged; any
other file is refused, and so is a newer version.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from gemini_live_runtime import paths, vocabulary
from gemini_live_runtime.errors import JournalError, NewerFormatError, ProtocolError
from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.completion.completion_gate import RealtimeCompletionGate
from gemini_live_runtime.journal.completion.missing_parts import Completion
from gemini_live_runtime.journal.files.lines import (
    EVENTS_FILE,
    MAX_SKIPPED_BYTES,
    holds_event,
    lines_of,
    parsed_event,
    read_line,
)
from gemini_live_runtime.journal.sessions.retention import is_running
from gemini_live_runtime.records import record

MAX_LINE_BYTES = 32 * 1024 * 1024
"""Longest line read, in bytes; a longer one is reported and skipped."""

_LINES_AHEAD = 5
"""Lines looked at to judge an event whose number is not the next one."""

MAX_PROBLEMS = 100
"""Problems kept as text; `Journal.problem_count` counts all."""


@record
class Problem:
    """Problem of line `line` (from 1) of a journal; `text` is a sentence."""

    line: int
    text: str


class Journal:
    """Recorded session; iterating reads its events in order, from the beginning.

    Malformed lines are skipped and reported in `problems`, which is complete once an iteration has ended. `torn` is
    True when the last line is incomplete: the writer was killed, or is writing right now.
    """

    def __init__(self, path: Path, header: dict[str, object]) -> None:
        self.path = path
        self.header = header
        """First line; {} when that is damaged."""
        self.session_id = str(header.get("session_id", path.parent.name if path.name == EVENTS_FILE else ""))
        self.problems: list[Problem] = []
        self.problem_count = 0
        self.torn = False

    @property
    def folder(self) -> Path:
        """Folder of the session, with its audio tracks if it has any."""
        return self.path.parent

    @property
    def running(self) -> bool:
        """True when an engine is still writing it."""
        return is_running(self.folder)

    def __iter__(self) -> Iterator[Event]:
        self.problems, self.problem_count, self.torn = [], 0, False
        with regular(self.path) as file:
            entries = EventLines(file, self.report, has_header=bool(self.header))
            for event, _, _ in entries:
                if event is not None:
                    yield event
            self.torn = entries.torn

    def report(self, line: int, text: str) -> None:
        """Add the problem "Line `line` `text`."."""
        self.problem_count += 1
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(line, f"Line {line} {text.rstrip('.')}."))


def completion_of(journal: Journal) -> Completion:
    """Read a whole recording and return what its run lacks to be complete."""
    gate = RealtimeCompletionGate()
    for event in journal:
        gate.apply_recorded(event)
    gate.on_recording_read(cut_off=journal.torn)
    return gate.completion()


class EventLines:
    """Lines of an open journal from `offset` on, as (event, offset, end).

    The event is None for a skipped line; offsets are bytes. Iterating again continues after the last whole line, so
    that a file that is being written can be followed. Problems go to `report`, with the line's number. `offset` is the
    end of what was read; `torn`: an incomplete line follows. Only events with numbers above `after` count.
    """

    def __init__(
        self,
        file: BinaryIO,
        report: Callable[[int, str], None],
        *,
        has_header: bool,
        offset: int = 0,
        after: int = 0,
    ) -> None:
        self.offset = offset
        self.torn = False
        self._file = file
        self._report = report
        self._has_header = has_header
        self._number = 0
        self._last = after

    def __iter__(self) -> Iterator[tuple[Event | None, int, int]]:
        self.torn = False
        self._file.seek(self.offset)
        for line, size, whole in lines_of(self._file, MAX_LINE_BYTES):
            if not whole and size < MAX_LINE_BYTES:
                self.torn = True
                return
            begin, self.offset = self.offset, self.offset + size
            self._number += 1
            if self._number == 1 and begin == 0:
                yield self._first(line), begin, self.offset
            else:
                yield self._event(line, size, whole), begin, self.offset

    def _first(self, line: bytes) -> Event | None:
        if self._has_header:
            return None
        self._report(1, "is damaged: it should be the header of a session")
        # When the beginning of the file is missing the first line may be any.
        event = parsed_event(line)
        return self._event(line, len(line), True) if event is not None else None

    def _event(self, line: bytes, size: int, whole: bool) -> Event | None:
        report, number, last = self._report, self._number, self._last
        if not whole:
            beyond = size > MAX_SKIPPED_BYTES
            limit = (MAX_SKIPPED_BYTES if beyond else MAX_LINE_BYTES) // 1024 // 1024
            report(number, f"is longer than {limit} MiB{': nothing after it was read' if beyond else ''}")
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
            if (following := self._following()) and following <= event.seq:
                report(number, f"has the number {event.seq}, but event {following} follows: it was skipped")
                return None
            missing = f"event {last + 1}" if event.seq == last + 2 else f"events {last + 1} to {event.seq - 1}"
            report(number, f"comes after {missing} went missing")
        self._last = event.seq
        return event

    def _following(self) -> int:
        """Return the number of the next event in the lines ahead, or 0."""
        found = 0
        for line, _, whole in islice(lines_of(self._file, MAX_LINE_BYTES), _LINES_AHEAD):
            event = parsed_event(line) if whole else None
            if event is not None and event.seq > self._last:
                found = event.seq
                break
        self._file.seek(self.offset)
        return found


def events_between(file: BinaryIO, offset: int, end: int, after: int) -> list[Event]:
    """Return the events with numbers above `after` in [`offset`, `end`) of `file`.

    Skips all other lines without a report: the first pass has reported them.
    """
    found: list[Event] = []
    for event, _, line_end in EventLines(file, _ignore, has_header=not offset, offset=offset, after=after):
        if event is not None:
            found.append(event)
        if line_end >= end:
            break
    return found


def _ignore(number: int, text: str) -> None:
    return None


def read_journal(path: Path) -> Journal:
    """Open a session's folder or its `events.jsonl`; a damaged header is no error.

    Raises `JournalError` for a file that is no session, `NewerFormatError` for a newer format.
    """
    if path.is_dir():
        path = path / EVENTS_FILE
    with regular(path) as file:
        line, _, whole = read_line(file, MAX_LINE_BYTES)
        if not line:
            raise JournalError(f"{path} is empty: the disk took no event, or the session ended at once", field="path")
        try:
            header = vocabulary.parse_object(line, "header") if whole else {}
        except ProtocolError:
            header = {}
        try:
            vocabulary.check_header(header, where=str(path))
        except NewerFormatError:
            raise
        except JournalError:
            if not holds_event(file):
                raise
            header = {}
    return Journal(path, header)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; raises `JournalError`."""
    try:
        return paths.open_regular(path)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


@contextlib.contextmanager
def regular(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file for reading within a `with` block.

    Raises `JournalError` also when the disk fails while it is read.
    """
    with open_regular(path) as file:
        try:
            yield file
        except OSError as error:
            raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> JournalError:
    reason = getattr(error, "strerror", None) or error
    return JournalError(
        f"{path} cannot be read: {reason}",
        remedy="Recorded sessions are listed by: gemini-live-tui sessions",
        field="path",
        value=str(path),
    )
