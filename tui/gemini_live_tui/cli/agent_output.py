"""What an agent's own code prints while it runs in the command line's process.

In the engine process output becomes events through pipes (see `engine.stdio`). Here standard input is real, so that
`input()` and `breakpoint()` work: output must appear at once, and only what Python prints is caught.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections.abc import Callable
from typing import Literal, TextIO

from gemini_live_runtime import events as ev
from gemini_live_runtime.text import redactor, sanitise

MAX_LINE_CHARS = 4000
"""Longer lines are cut into several."""

Report = Callable[[ev.Payload], None]


class _Stream(io.TextIOBase):
    """Passes text on line by line, made harmless; what is flushed in the middle of a line goes out at once."""

    def __init__(self, line: Callable[[str], None], part: Callable[[str], None]) -> None:
        self._line = line
        self._part = part
        self._pending = ""
        self._lock = threading.RLock()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._pending = (self._pending + text).split("\n")
            while len(self._pending) > MAX_LINE_CHARS:
                lines.append(self._pending[:MAX_LINE_CHARS])
                self._pending = self._pending[MAX_LINE_CHARS:]
            for line in lines:
                self._line(line)
        return len(text)

    def flush(self) -> None:
        with self._lock:
            part, self._pending = self._pending, ""
            if part:
                self._part(part)


class AgentOutput(contextlib.AbstractContextManager["AgentOutput"]):
    """While entered, what is printed becomes `log` events and, with `as_lines`, lines of output at once.

    `stdout` is the real standard output, for whoever owns it. `report` must be thread-safe.
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
            stream.flush()
        sys.stdout, sys.stderr = self._streams

    def _stream(self, source: Literal["stdout", "stderr"], level: Literal["info", "warning"]) -> _Stream:
        def line(text: str) -> None:
            text = redactor.text(sanitise(text))
            if not text.strip():
                return
            if self._as_lines:
                print(f"log: {text}", file=self.stdout, flush=True)
            if self.report is not None:
                self.report(ev.Log(source=source, level=level, text=text))

        def part(text: str) -> None:
            # A prompt. Lines of JSON must stay lines of JSON.
            stream = self.stdout if self._as_lines else self._streams[1]
            print(redactor.text(sanitise(text)), end="", file=stream, flush=True)

        return _Stream(line, part)
