"""Capture what agents and C libraries print in an engine as `log` events.

The engine's descriptors 1 and 2 become pipes. A thread reads each, not the event loop: code that prints more than a
pipe holds, from the loop itself, would otherwise wait for ever for its own reader. `input()` and `breakpoint()`, which
would wait for a terminal that is not there, report what to do instead.
"""

from __future__ import annotations

import builtins
import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Literal, TextIO, get_args

from gemini_live_runtime import events as ev
from gemini_live_runtime.engine.key_block import KeyBlock
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.threads import start_daemon_thread

MAX_LINE_CHARS = 4000
"""Characters of a line; a longer one is cut and says so."""

MAX_LINES_PER_S = 200
MAX_LINES_AT_ONCE = 1000
"""Lines forwarded on average and at once; further ones are dropped and counted."""

REPORT_S = 1.0
"""Seconds after which dropped lines are reported."""

JOIN_S = 1.0
"""Seconds to wait for a pipe's last output at the end."""

Source = Literal["stdout", "stderr", "logging"]
Level = Literal["debug", "info", "warning", "error"]
Report = Callable[[ev.Payload], None]


def _call_later(action: Callable[[], None]) -> None:
    timer = threading.Timer(REPORT_S, action)
    timer.daemon = True
    # Without a further thread the lines are still counted and told at the end.
    with contextlib.suppress(RuntimeError):
        timer.start()


class LineGate:
    """Rate limit of lines, a thread-safe token bucket that counts dropped lines.

    `later` calls an action after `REPORT_S`, from any thread.
    """

    def __init__(
        self,
        report: Report,
        now: Callable[[], float] = time.monotonic,
        later: Callable[[Callable[[], None]], None] = _call_later,
    ) -> None:
        self._report = report
        self._now = now
        self._later = later
        self._lock = threading.Lock()
        self._tokens = float(MAX_LINES_AT_ONCE)
        self._last = now()
        self.dropped = 0
        self._unreported = 0
        self._keys: dict[Source, KeyBlock] = {source: KeyBlock() for source in get_args(Source)}

    def line(self, source: Source, level: Level, text: str) -> None:
        """Report one line, redacted and cut, or count it as dropped."""
        with self._lock:
            now = self._now()
            self._tokens = min(float(MAX_LINES_AT_ONCE), self._tokens + (now - self._last) * MAX_LINES_PER_S)
            self._last = now
            is_dropped = self._tokens < 1
            if is_dropped:
                self.dropped += 1
                self._unreported += 1
            else:
                self._tokens -= 1
            is_first = is_dropped and self._unreported == 1
        if is_dropped:
            if is_first:
                self._later(self.report_dropped)
            return
        more = len(text) - MAX_LINE_CHARS
        # Redacted first: of a secret that is cut in two the rest might not be found.
        text = redactor.text(self._keys[source].redact(text[: 2 * MAX_LINE_CHARS]))
        if more > 0:
            text = f"{text[:MAX_LINE_CHARS]}… ({more:,} more characters)"
        self._report(ev.Log(source=source, level=level, text=text))

    def report_dropped(self) -> None:
        """Report the number of lines dropped since the last report."""
        with self._lock:
            count, self._unreported = self._unreported, 0
        if count:
            lines = "1 line of output was" if count == 1 else f"{count:,} lines of output were"
            text = f"{lines} dropped: at most {MAX_LINES_AT_ONCE:,} at once and {MAX_LINES_PER_S} a second are kept"
            self._report(ev.Log(source="logging", level="warning", text=text))


class _Pipe:
    def __init__(self, fd: int, source: Source, gate: LineGate) -> None:
        self.source: Source = source
        self._fd = fd
        self._gate = gate
        self.original = os.dup(fd)
        self._read, write = os.pipe()
        os.dup2(write, fd)
        os.close(write)
        self._thread = start_daemon_thread(self._run, source)

    def _run(self) -> None:
        level: Level = "info" if self.source == "stdout" else "warning"
        pending = b""
        cut = False
        while chunk := os.read(self._read, 65536):
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                if cut:
                    cut = False
                else:
                    self._line(level, line)
            if len(pending) > 4 * MAX_LINE_CHARS:
                if not cut:
                    self._line(level, pending)
                pending, cut = b"", True
        if pending and not cut:
            self._line(level, pending)
        os.close(self._read)

    def _line(self, level: Level, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip("\r")
        if text.strip():
            self._gate.line(self.source, level, text)

    def restore(self) -> None:
        os.dup2(self.original, self._fd)
        # A child process may still hold the pipe's other end: wait for it only `JOIN_S`.
        self._thread.join(JOIN_S)
        os.close(self.original)


class LogHandler(logging.Handler):
    """Logging handler that reports records as `log` events."""

    def __init__(self, gate: LineGate) -> None:
        super().__init__()
        self._gate = gate

    def emit(self, record: logging.LogRecord) -> None:
        """Report a record, one event a line."""
        try:
            text = f"{record.name}: {self.format(record)}"
        except Exception as error:
            text = f"{record.name}: a log message could not be formatted: {error!r}"
        level: Level = (
            "error"
            if record.levelno >= logging.ERROR
            else "warning"
            if record.levelno >= logging.WARNING
            else "info"
            if record.levelno >= logging.INFO
            else "debug"
        )
        for line in text.splitlines():
            self._gate.line("logging", level, line)


class CapturedOutput(contextlib.AbstractContextManager["CapturedOutput"]):
    """Context in which output becomes events and `input()` fails instead of waiting.

    `report` must be thread-safe. Leaving restores all of it and reports the output still in the pipes.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._gate = LineGate(report)
        self._pipes: list[_Pipe] = []
        self._handler = LogHandler(self._gate)
        self._saved: tuple[Any, Any] | None = None
        self._streams: tuple[TextIO, TextIO] = (sys.stdout, sys.stderr)
        self._explained: set[str] = set()

    def __enter__(self) -> CapturedOutput:
        _flush()
        self._pipes = [_Pipe(1, "stdout", self._gate), _Pipe(2, "stderr", self._gate)]
        self._streams = (sys.stdout, sys.stderr)
        sys.stdout, sys.stderr = _line_stream(1), _line_stream(2)
        logging.getLogger().addHandler(self._handler)
        self._saved = (builtins.input, sys.breakpointhook)
        builtins.input = self._input
        sys.breakpointhook = self._breakpoint
        return self

    def __exit__(self, *exc: object) -> None:
        if self._saved is not None:
            builtins.input, sys.breakpointhook = self._saved
        logging.getLogger().removeHandler(self._handler)
        _flush()
        sys.stdout, sys.stderr = self._streams
        for pipe in self._pipes:
            pipe.restore()
        self._gate.report_dropped()

    @property
    def original_stderr(self) -> int:
        """Descriptor of the standard error before; open while entered."""
        return self._pipes[1].original

    def _input(self, prompt: object = "") -> str:
        self._explain("input()")
        raise EOFError("input() has no terminal in the engine: run the agent with `gemini-live-tui talk --plain`")

    def _breakpoint(self, *args: object, **kwargs: object) -> None:
        self._explain("breakpoint()")

    def _explain(self, what: str) -> None:
        if what not in self._explained:
            self._explained.add(what)
            self._report(
                ev.Notice(
                    level="warning",
                    code="no-terminal",
                    text=f"The agent called {what}, but the engine has no terminal.",
                    remedy="Run the agent with gemini-live-tui talk --plain, or attach debugpy",
                )
            )


def _line_stream(fd: int) -> TextIO:
    # Create new streams: the old ones may be block-buffered, as for a file, and would delay lines.
    return open(fd, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
