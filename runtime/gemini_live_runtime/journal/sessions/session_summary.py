"""Summarise a recorded session in one quick pass over its journal.

Only lines that matter are parsed as JSON; of the others a pattern reads the stamp. Every string is sanitised.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from gemini_live_runtime import events as ev
from gemini_live_runtime import paths
from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.events import FORMAT, VERSION
from gemini_live_runtime.journal.completion.completion_gate import FOLLOWED, RealtimeCompletionGate
from gemini_live_runtime.journal.files.lines import EVENTS_FILE, holds_event, read_line
from gemini_live_runtime.records import keyword_record
from gemini_live_runtime.text import sanitise_line

MAX_SCAN = 256 * 1024 * 1024
"""Bytes read of one session; of a longer one also its last `_TAIL_BYTES`."""

_TAIL_BYTES = 256 * 1024
_LINE_BYTES = 4 * 1024 * 1024
_HEAD_LINES = 40
_MAX_NUMBER = 1e15
"""Bound above which a number in a file is taken for nonsense."""

_STAMP = re.compile(
    rb'\s*\{\s*"seq"\s*:\s*(\d{1,15})\s*,\s*"t"\s*:\s*([0-9.eE+-]+)\s*,\s*"turn"\s*:\s*(\d{1,9})\s*,\s*"gen"\s*:\s*\d+\s*,'
    rb'\s*"type"\s*:\s*"([^"\\]*)"'
)


@keyword_record
class SessionSummary:
    """Summary of a session's events; `when` is Unix seconds, 0 for unknown."""

    when: float = 0.0
    agent: str = ""
    model: str = ""
    backend: str = ""
    duration_s: float = 0.0
    turns: int = 0
    phase: str = ""
    """Last phase; "" for an agent without phases."""
    cost_usd: float | None = None
    """Last cost estimate; None when the model's price is unknown."""
    errors: int = 0
    """Number of error notices, failed tools, faults of the agent's code and broken connections."""
    interruptions: int = 0
    ended: str = ""
    """Reason of an orderly end; "" without one."""
    exit_code: int | None = None
    missing: str = ""
    """Parts that the run lacks to be complete, with commas between them; "" for none."""
    problem: str = ""
    """Sentence that says why this is no readable session; "" when it is one."""
    damage: str = ""
    """Sentence that says what is damaged in a session that can be read; "" for nothing."""


def summarise(folder: Path) -> SessionSummary:
    """Summarise a session's events; a damaged file gives a `problem`."""
    try:
        with paths.open_regular(folder / EVENTS_FILE, follow=False) as file:
            header, _, _ = read_line(file, _LINE_BYTES)
            problem, is_damaged = _fault(header)
            if is_damaged and holds_event(file):
                file.seek(0)
                found = _Scan(unreadable=0 if _stamp(header)[3] else -1).run(file)  # the header itself is told apart
                return replace(found, damage=f"Its first line is damaged. {found.damage}".rstrip())
            return SessionSummary(problem=problem) if problem else _Scan().run(file)
    except OSError as error:
        return SessionSummary(problem=f"It cannot be read: {error.strerror or error}.")


def _fault(header: bytes) -> tuple[str, bool]:
    """Return a sentence on the fault of the first line, or "", and True for damage."""
    if not header:
        return "It is empty: the disk took no event, or the session ended at once.", False
    value = _object(header)
    if value.get("format") != FORMAT:
        return "This is not a session of gemini-live-tui.", True
    version = value.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        return "It is damaged: its header has no usable version.", True
    if version > VERSION:
        return f"It is of the newer format version {version}: update gemini-live-tui to read it.", False
    return "", False


class _Scan:
    """Pass over the events after the header."""

    def __init__(self, unreadable: int = 0) -> None:
        self.t = 0.0
        self.turns = 0
        self.events = 0
        self.numbers = _Numbers()
        self.unreadable = unreadable
        """Lines that are no events, whose numbers may be missing, too."""
        self.torn = False
        """True when the last line is incomplete: its writer was killed, or is writing it."""
        self.errors = 0
        self.interruptions = 0
        self.gate = RealtimeCompletionGate()
        self.last: dict[str, bytes] = {}
        """Last line of each type that `_summary` parses; of `session.started` the first."""

    def run(self, file: BinaryIO) -> SessionSummary:
        size = os.fstat(file.fileno()).st_size
        jumped = False
        while True:
            line, length, whole = read_line(file, _LINE_BYTES)
            if not line:
                break
            self.torn = not whole and length < _LINE_BYTES
            if not self.torn:
                self._take(line)
            if not jumped and file.tell() > MAX_SCAN:
                file.seek(max(file.tell(), size - _TAIL_BYTES))
                read_line(file, _LINE_BYTES)  # skip to the end of the line that the seek landed in
                self.numbers.jump()
                self.gate.skip()
                jumped = True
        return self._summary()

    def _take(self, line: bytes) -> None:
        seq, t, turn, kind = _stamp(line)
        if not kind:
            self.unreadable += 1
            return
        self.events += 1
        self.numbers.add(seq)
        self.t, self.turns = max(self.t, t), max(self.turns, turn)
        if kind in FOLLOWED and (kind != ev.TranscriptDelta.type or self.gate.awaits_words):
            self._follow(line)
        if kind == "session.started":
            self.last.setdefault(kind, line)
        elif kind == "session.resumed":
            self.last.pop("session.ended", None)
        elif kind in ("session.ended", "phase.entered", "usage.reported"):
            self.last[kind] = line
        elif kind == "turn.interrupted":
            self.interruptions += 1
        elif kind in ("code.failed", "extraction.failed") or (kind in _PERHAPS and _PERHAPS[kind](_data(line))):
            self.errors += 1

    def _follow(self, line: bytes) -> None:
        from gemini_live_runtime import vocabulary

        with contextlib.suppress(ProtocolError, RecursionError):
            self.gate.apply(vocabulary.event_from_line(line))

    def _summary(self) -> SessionSummary:
        if not self.events:
            return SessionSummary(
                problem="It holds no event: the session ended before anything happened, or the file is damaged."
            )
        data = {kind: _data(line) for kind, line in self.last.items()}
        started, ended = data.get("session.started", {}), data.get("session.ended")
        cost = data.get("usage.reported", {}).get("cost_usd")
        self.gate.on_journal_closed(self.numbers.missing + self.torn, has_end=ended is not None)
        return SessionSummary(
            when=number(started.get("wall")),
            agent=_short(started.get("agent")),
            model=_short(started.get("model")),
            backend=_short(started.get("backend")),
            duration_s=self.t,
            turns=self.turns,
            phase=_short(data.get("phase.entered", {}).get("phase")),
            cost_usd=None if cost is None else number(cost),
            errors=self.errors,
            interruptions=self.interruptions,
            ended="" if ended is None else _short(ended.get("reason")) or "ended",
            damage=self._damage(),
            missing=", ".join(self.gate.completion().parts),
            exit_code=None if ended is None else int(number(ended.get("exit_code"))),
        )

    def _damage(self) -> str:
        missing, found = self.numbers.missing, self.numbers.found
        if missing:
            return f"{missing:,} of {missing + found:,} events {'is' if missing == 1 else 'are'} missing."
        if self.unreadable:
            return f"{self.unreadable:,} {'line' if self.unreadable == 1 else 'lines'} cannot be read."
        return ""


class _Numbers:
    """Count of the event numbers that are there, and of those that are missing.

    A number that lower ones follow was wrong itself, and nothing is missing before it.
    """

    __slots__ = ("_before", "_last", "found", "missing")

    def __init__(self) -> None:
        self.found = self.missing = 0
        self._last: int | None = 0
        self._before: tuple[int, int] | None = None
        """Last number and missing ones before the newest gap, while only one event has followed it."""

    def add(self, seq: int) -> None:
        """Take the number of the next event."""
        last = seq - 1 if self._last is None else self._last
        if self._before is not None and self._before[0] < seq <= last:
            last, self.missing = self._before
            self.found -= 1
        self._before = None
        self.found += seq > last
        if seq > last + 1:
            self._before = (last, self.missing)
            self.missing += seq - last - 1
        self._last = max(seq, last)

    def jump(self) -> None:
        """Leave out events, which are not missing."""
        self._last = self._before = None


_PERHAPS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "notice": lambda data: data.get("level") == "error",
    "tool.finished": lambda data: data.get("status") in ("error", "timeout"),
    "connection.closed": lambda data: data.get("requested") is False and not data.get("moved"),
}
"""Events that are errors when their data fulfils the condition."""


def started_at(folder: Path) -> float:
    """Return the Unix time at which a session started; 0 when unknown."""
    try:
        with paths.open_regular(folder / EVENTS_FILE, follow=False) as file:
            for _ in range(_HEAD_LINES):
                line, _, _ = read_line(file, _LINE_BYTES)
                if _stamp(line)[3] == "session.started":
                    return number(_data(line).get("wall"))
    except OSError:
        pass
    return 0.0


def _stamp(line: bytes) -> tuple[int, float, int, str]:
    """Return number, time, turn and type of an event; type "" for another line."""
    stamp = _STAMP.match(line)
    if stamp is not None:
        return int(stamp[1]), _float(stamp[2]), int(stamp[3]), stamp[4].decode("ascii", "replace")
    value = _object(line)
    seq, kind = value.get("seq"), value.get("type")
    if not isinstance(kind, str) or not isinstance(seq, int):
        return 0, 0.0, 0, ""
    return int(number(seq)), number(value.get("t")), int(number(value.get("turn"))), kind


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _data(line: bytes) -> dict[str, Any]:
    data = _object(line).get("data")
    return data if isinstance(data, dict) else {}


def _short(value: object) -> str:
    return sanitise_line(value, 200) if isinstance(value, str) else ""


def number(value: object) -> float:
    """Return a finite number of a sensible size, 0 for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < _MAX_NUMBER:
        return 0.0
    return float(value)


def _float(digits: bytes) -> float:
    try:
        return number(float(digits))
    except ValueError:
        return 0.0
