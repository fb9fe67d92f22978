"""Capture the output of an agent's code in the process of the command line.

In the engine process, pipes turn output into events (see `engine.stdio`). Here standard input is real, so that
`input()` and `breakpoint()` work: output must appear at once, and only output of Python code is captured.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections.abc import Callable
from typing import Literal, TextIO

from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.key_block import KeyBlock
from gemini_live_runtime.redactor import redacted_part, redactor
from gemini_live_runtime.text import sanitise

MAX_LINE_CHARS = 4000
"""Characters of a line; longer lines are cut into several."""

_CONTEXT = 8192
"""Characters kept of the part of a line that was passed on: a secret may go on with the next part."""

Report = Callable[[ev.Payload], None]


class _Stream(io.TextIOBase):
    """Text stream that calls `line` for each complete line.

    Calls `part` when a line is flushed before its end, as a prompt is.
    """

    def __init__(self, line: Callable[[str], None], part: Callable[[str], None]) -> None:
        self._line = line
        self._part = part
        self._pending = ""
        self._passed = ""
        """End of the part of this line that was passed on."""
        self._lock = threading.RLock()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            *lines, pending = (self._pending + text).split("\n")
            at = 0
            while len(pending) - at > MAX_LINE_CHARS:
                begin, at = at, at + _end_of_line(pending[at : at + 2 * MAX_LINE_CHARS])
                lines.append(pending[begin:at])
            self._pending = pending[at:]
            for line in lines:
                self._line(self._without_rest(line))
                self._passed = ""
        return len(text)

    def flush(self) -> None:
        with self._lock:
            if not self._pending:
                return
            at = max(0, _held_from(self._passed + self._pending) - len(self._passed))
            part, self._pending = self._pending[:at], self._pending[at:]
            if part:
                self._part(self._without_rest(part))
                self._passed = (self._passed + part)[-_CONTEXT:]

    def end(self) -> None:
        """Pass on what still waits."""
        with self._lock:
            part, self._pending = self._without_rest(self._pending), ""
            self._passed = ""
            if part:
                self._part(part)

    def _without_rest(self, part: str) -> str:
        """Return a part without the rest of a secret that began before it."""
        start, whole = len(self._passed), self._passed + part
        if not start or not redactor.may_hold_secret(whole):
            return part
        spans = [(max(first, start), beyond) for first, beyond in redactor.spans(whole) if beyond > start]
        return redacted_part(part, start, spans)


def _held_from(text: str) -> int:
    """Return the beginning of a secret at the end of `text`, or its length.

    A secret that is written in parts waits for its rest, also one that is long enough to be whole.
    """
    if not redactor.may_hold_secret(text):
        return len(text)
    cut_at, spans = redactor.cut_at(text), redactor.spans(text)
    held = spans[-1][0] if spans and spans[-1][1] == len(text) else len(text)
    return held if cut_at is None else min(held, cut_at)


def _end_of_line(text: str) -> int:
    """Return where a line that is too long is cut.

    It is not within a secret, of which the rest might not be found.
    """
    if not redactor.may_hold_secret(text):
        return MAX_LINE_CHARS
    open_at = redactor.open_at(text)
    spans = redactor.spans(text) + ([] if open_at is None else [(open_at, len(text))])
    for first, beyond in spans:
        if first < MAX_LINE_CHARS < beyond:
            return first or beyond
    return MAX_LINE_CHARS


class AgentOutput(contextlib.AbstractContextManager["AgentOutput"]):
    """Context in which `print` makes `log` events and, with `as_lines`, prints lines.

    `stdout` is the real standard output. Set `report` to a thread-safe function; until then no events are made.
    """

    def __init__(self, *, as_lines: bool) -> None:
        self.report: Report | None = None
        self.stdout: TextIO = sys.stdout
        self._streams = (sys.stdout, sys.stderr)
        self._as_lines = as_lines

    def __enter__(self) -> AgentOutput:
        sys.stdout = self._stream("stdout", "info")
        sys.stderr = self._stream("stderr", "warning")
        return self

    def __exit__(self, *exc: object) -> None:
        for stream in (sys.stdout, sys.stderr):
            stream.end() if isinstance(stream, _Stream) else stream.flush()
        sys.stdout, sys.stderr = self._streams

    def _stream(self, source: Literal["stdout", "stderr"], level: Literal["info", "warning"]) -> _Stream:
        key = KeyBlock()

        def line(text: str) -> None:
            text = redactor.text(key.redact(sanitise(text)))
            if not text.strip():
                return
            if self._as_lines:
                print(f"log: {text}", file=self.stdout, flush=True)
            if self.report is not None:
                self.report(ev.Log(source=source, level=level, text=text))

        def part(text: str) -> None:
            # A prompt. On standard output it would break lines of JSON.
            stream = self.stdout if self._as_lines else self._streams[1]
            print(redactor.text(sanitise(text)), end="", file=stream, flush=True)

        return _Stream(line, part)
