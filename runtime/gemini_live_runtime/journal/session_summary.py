"""What the events of a recorded session say about it, found in one quick pass over its file.

Only lines that matter are read as JSON; the others are known by how they begin. Every string is sanitised.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from gemini_live_runtime import paths
from gemini_live_runtime.events import FORMAT, VERSION
from gemini_live_runtime.text import sanitise_line

EVENTS = "events.jsonl"
MAX_SCAN = 256 * 1024 * 1024
"""Bytes of one session looked through; of a longer one this beginning and its last `_TAIL_BYTES`."""

_TAIL_BYTES = 256 * 1024
_LINE_BYTES = 4 * 1024 * 1024
_HEAD_LINES = 40
_LARGEST = 1e15
"""No number that means something is as large."""

_STAMP = re.compile(
    rb'\s*\{\s*"seq"\s*:\s*\d+\s*,\s*"t"\s*:\s*([0-9.eE+-]+)\s*,\s*"turn"\s*:\s*(\d{1,9})\s*,\s*"gen"\s*:\s*\d+\s*,'
    rb'\s*"type"\s*:\s*"([^"\\]*)"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSummary:
    """What the events of a session say. `when` is Unix seconds (0: unknown), `duration_s` seconds."""

    when: float = 0.0
    agent: str = ""
    model: str = ""
    backend: str = ""
    duration_s: float = 0.0
    turns: int = 0
    phase: str = ""
    """The last phase that was reached; "" for an agent without phases."""
    cost_usd: float | None = None
    """The estimate as it stood last; None when the model's price is unknown."""
    errors: int = 0
    """Errors told, failed tools, failures of the agent's code, connections that broke."""
    interruptions: int = 0
    ended: str = ""
    """The reason of an orderly end; "" without one."""
    exit_code: int | None = None
    problem: str = ""
    """Why this cannot be read as a session, in a sentence; "" when it can."""


def summarise(folder: Path) -> SessionSummary:
    """Look through a session's events. Never raises for what is in them."""
    try:
        with os.fdopen(paths.open_private(folder / EVENTS, os.O_RDONLY), "rb") as file:
            header, _ = _line(file)
            problem = _fault(header)
            if problem:
                return SessionSummary(problem=problem)
            return _Scan().run(file)
    except OSError as error:
        return SessionSummary(problem=f"It cannot be read: {error.strerror or error}.")


def _fault(header: bytes) -> str:
    """What is wrong with the first line, in a sentence; "" for a session that this program reads."""
    if not header:
        return "It is empty: the session ended before anything was recorded."
    value = _object(header)
    if value.get("format") != FORMAT:
        return "This is not a session of gemini-live-tui."
    version = value.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 0:
        return "It is damaged: its header has no usable version."
    if version > VERSION:
        return f"It is of the newer format version {version}: update gemini-live-tui to read it."
    return ""


class _Scan:
    """One pass over the events after the header."""

    def __init__(self) -> None:
        self.t = 0.0
        self.turns = 0
        self.events = 0
        self.errors = 0
        self.interruptions = 0
        self.last: dict[str, bytes] = {}
        """The last line of each kind that is read at the end."""

    def run(self, file: BinaryIO) -> SessionSummary:
        size = os.fstat(file.fileno()).st_size
        jumped = False
        while True:
            line, whole = _line(file)
            if not line:
                break
            if whole:
                self._take(line)
            if not jumped and file.tell() > MAX_SCAN:
                file.seek(max(file.tell(), size - _TAIL_BYTES))
                _line(file)  # the rest of a line in whose middle this is
                jumped = True
        return self._facts()

    def _take(self, line: bytes) -> None:
        t, turn, kind = _stamp(line)
        if not kind:
            return
        self.events += 1
        self.t, self.turns = max(self.t, t), max(self.turns, turn)
        if kind == "session.started":
            self.last.setdefault(kind, line)
        elif kind in ("session.ended", "phase.entered", "usage.reported"):
            self.last[kind] = line
        elif kind == "turn.interrupted":
            self.interruptions += 1
        elif kind in ("code.failed", "extraction.failed") or (kind in _PERHAPS and _PERHAPS[kind](_data(line))):
            self.errors += 1

    def _facts(self) -> SessionSummary:
        if not self.events:
            return SessionSummary(
                problem="It holds no event: the session ended before anything happened, or the file is damaged."
            )
        data = {kind: _data(line) for kind, line in self.last.items()}
        started, ended = data.get("session.started", {}), data.get("session.ended")
        cost = data.get("usage.reported", {}).get("cost_usd")
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
            exit_code=None if ended is None else int(number(ended.get("exit_code"))),
        )


_PERHAPS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "notice": lambda data: data.get("level") == "error",
    "tool.finished": lambda data: data.get("status") in ("error", "timeout"),
    "connection.closed": lambda data: data.get("requested") is False,
}
"""Events that may be errors, and when they are."""


def started_at(folder: Path) -> float:
    """When a session started, in Unix seconds; 0 when it does not say."""
    try:
        with os.fdopen(paths.open_private(folder / EVENTS, os.O_RDONLY), "rb") as file:
            for _ in range(_HEAD_LINES):
                line, _ = _line(file)
                if _stamp(line)[2] == "session.started":
                    return number(_data(line).get("wall"))
    except OSError:
        pass
    return 0.0


def _stamp(line: bytes) -> tuple[float, int, str]:
    """Time, turn and type of an event; the type is "" when the line is none."""
    stamp = _STAMP.match(line)
    if stamp is not None:
        return _float(stamp[1]), int(stamp[2]), stamp[3].decode("ascii", "replace")
    value = _object(line)
    kind = value.get("type")
    return number(value.get("t")), int(number(value.get("turn"))), kind if isinstance(kind, str) else ""


def _line(file: BinaryIO) -> tuple[bytes, bool]:
    """The next line and whether it is whole and of a length that is read; the rest of a longer one is passed over."""
    line = file.readline(_LINE_BYTES)
    if line.endswith(b"\n") or len(line) < _LINE_BYTES:
        return line, line.endswith(b"\n")
    rest = line
    while rest and not rest.endswith(b"\n"):
        rest = file.readline(1 << 20)
    return line, False


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
    """A finite number of a sensible size, 0 in the place of anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < _LARGEST:
        return 0.0
    return float(value)


def _float(digits: bytes) -> float:
    try:
        return number(float(digits))
    except ValueError:
        return 0.0
