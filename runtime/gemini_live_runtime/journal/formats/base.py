"""Define formats and ranges, and read a session's events for an export."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Literal, get_args

from gemini_live_runtime import events as ev
from gemini_live_runtime import paths
from gemini_live_runtime.errors import JournalError, UsageError
from gemini_live_runtime.journal.completion.completion_gate import RealtimeCompletionGate
from gemini_live_runtime.journal.completion.missing_parts import Completion
from gemini_live_runtime.journal.fold.marks import marked_at
from gemini_live_runtime.journal.privacy.redaction import Redaction
from gemini_live_runtime.journal.recording.reader import Journal, read_journal
from gemini_live_runtime.journal.sessions.catalog import title_of
from gemini_live_runtime.records import keyword_record, mutable_record, record

Format = Literal["markdown", "text", "json", "realtime", "microphone", "model", "stereo"]
FORMATS: tuple[Format, ...] = get_args(Format)
SOUND: frozenset[Format] = frozenset(("microphone", "model", "stereo"))
ENDINGS: dict[Format, str] = {
    "markdown": ".md",
    "text": ".txt",
    "json": ".json",
    "realtime": ".realtime.jsonl",
    "microphone": "-microphone.wav",
    "model": "-model.wav",
    "stereo": "-stereo.wav",
}
"""End of the file name of each format."""

MARKS_S = 10.0
"""Seconds exported before and after a mark by default."""


@keyword_record
class Range:
    """Wanted part of a session: all of it, or one of a time range, a turn, and marks.

    `start` and `end` are seconds of session time, either may be None; `turn` is a turn's number; `around_marks` is
    seconds before and after each mark.
    """

    start: float | None = None
    end: float | None = None
    turn: int | None = None
    around_marks: float | None = None


@record
class Window:
    """Part of a session: stretches of session time in seconds, or a turn's number."""

    stretches: tuple[tuple[float, float], ...]
    turn: int | None = None
    words: str = "the whole session"
    suffix: str = ""
    whole: bool = True

    def covers(self, t: float, turn: int) -> bool:
        """Return True when an event at `t` in `turn` is in it."""
        if self.turn is not None:
            return turn == self.turn
        return any(start <= t <= end for start, end in self.stretches)


@mutable_record
class SessionExtent:
    """Result of a first pass over a session; times are session time in seconds."""

    last: int = 0
    end: float = 0.0
    turns: dict[int, float] = field(default_factory=dict)
    """Start of each turn."""
    marks: list[float] = field(default_factory=list)
    """Marked moments, sorted."""
    completion: Completion = field(default_factory=Completion)


class ExportSource:
    """Session as the formats read it: redacted if wanted, the same events each time.

    `path` is a session's folder or journal. Raises as `export` does.
    """

    def __init__(self, path: Path, *, redact: bool, wanted: Range) -> None:
        self.journal = journal = read_journal(path)
        self.redaction = Redaction() if redact else None
        self.extent = _extent_of(journal, self.redaction)
        self.problems = journal.problem_count
        self.completion = None if journal.running else self.extent.completion
        """Result of the run; None while it goes on."""
        self.window = _window(wanted, self.extent)
        self.name = _name(journal)
        title = title_of(journal.folder)
        self.title = title if self.redaction is None else self.redaction.line(title)
        self.places = 0
        """Places of the range that were redacted, by the last pass over the events."""

    def events(self) -> Iterator[ev.Event]:
        """Yield all events from the beginning, without those written after the first pass."""
        redaction, self.places = self.redaction, 0
        for event in self.journal:
            if event.seq > self.extent.last:
                return
            if redaction is None:
                yield event
                continue
            # Redact all events, also those outside the range, but count only those of the range.
            before = redaction.count
            event = redaction.event(event)
            if self.window.covers(event.t, event.turn):
                self.places += redaction.count - before
            yield event


# -- first pass ------------------------------------------------------------------------------------------------------


def _extent_of(journal: Journal, redaction: Redaction | None) -> SessionExtent:
    found = SessionExtent()
    times: dict[int, float] = {}
    marked: list[tuple[ev.Event, ev.MarkSet]] = []
    gate = RealtimeCompletionGate()
    for event in journal:
        gate.apply_recorded(event)
        found.last, found.end = event.seq, max(found.end, event.t)
        times[event.seq] = event.t
        if event.turn:
            found.turns.setdefault(event.turn, event.t)
        if isinstance(event.payload, ev.MarkSet):
            marked.append((event, event.payload))
        if redaction is not None:
            redaction.learn(event)
    if not found.last:
        raise JournalError(f"{journal.path} holds no event that can be read", field="session")
    gate.on_recording_read(cut_off=journal.torn)
    found.completion = gate.completion()
    # A mark of an older version has no time: that of its event counts.
    found.marks = sorted(
        times.get(mark.of, event.t) if mark.t is None else marked_at(event, mark) for event, mark in marked
    )
    return found


def _window(wanted: Range, extent: SessionExtent) -> Window:
    timed = wanted.start is not None or wanted.end is not None
    if timed + (wanted.turn is not None) + (wanted.around_marks is not None) > 1:
        raise UsageError("A range is seconds, or a turn, or marks", remedy="Give one of them", field="range")
    if wanted.turn is not None:
        return _turn(wanted.turn, extent)
    if wanted.around_marks is not None:
        return _around(wanted.around_marks, extent)
    if not timed:
        return Window(((0.0, extent.end),))
    start, end = wanted.start or 0.0, extent.end if wanted.end is None else wanted.end
    if not 0 <= start < end:
        raise UsageError(
            f"There is nothing from {start:g} s to {end:g} s",
            remedy="The beginning comes before the end",
            field="range",
        )
    if start > extent.end:
        raise UsageError(
            f"The session is over after {extent.end:.1f} s", remedy=f"Begin before {start:g} s", field="range"
        )
    words = f"{start:g} s to {end:g} s"
    return Window(((start, min(end, extent.end)),), None, words, f"-{start:g}s-{end:g}s", False)


def _turn(number: int, extent: SessionExtent) -> Window:
    if number not in extent.turns:
        known = f"it has turns {min(extent.turns)} to {max(extent.turns)}" if extent.turns else "it has no turns"
        raise UsageError(f"There is no turn {number} in this session", remedy=f"{known.capitalize()}", field="turn")
    later = [t for turn, t in extent.turns.items() if turn > number]
    stretch = (extent.turns[number], min(later, default=extent.end))
    return Window((stretch,), number, f"turn {number}", f"-turn{number}", False)


def _around(seconds: float, extent: SessionExtent) -> Window:
    if not 0 < seconds <= 3600:
        raise UsageError(f"{seconds:g} s around marks is not possible", remedy="Give 1 to 3600 s", field="around-marks")
    if not extent.marks:
        raise UsageError("Nothing was marked in this session", remedy="Choose another range", field="around-marks")
    stretches: list[tuple[float, float]] = []
    for mark in extent.marks:
        start, end = max(0.0, mark - seconds), min(extent.end, mark + seconds)
        if stretches and start <= stretches[-1][1]:
            stretches[-1] = (stretches[-1][0], max(end, stretches[-1][1]))
        else:
            stretches.append((start, end))
    count = len(extent.marks)
    words = f"{seconds:g} s around {'the mark' if count == 1 else f'each of {count} marks'}"
    return Window(tuple(stretches), None, words, "-marks", False)


def _name(journal: Journal) -> str:
    """Return a safe name for the files: the folder's, else the session's id."""
    for name in (journal.folder.resolve().name if journal.path.name == "events.jsonl" else "", journal.session_id):
        with contextlib.suppress(UsageError):
            return paths.safe_name(name)
    return "session"
