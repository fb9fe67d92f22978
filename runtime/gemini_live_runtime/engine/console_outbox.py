"""Queue the lines for one console, within bounds."""

from __future__ import annotations

import asyncio
from collections import deque

from gemini_live_runtime.engine.link import Closed, encode, is_about_the_end

MAX_OUTBOX_LINES = 20_000
MAX_OUTBOX_BYTES = 48 * 1024 * 1024
"""Bounds of one console's outbox; beyond them its link ends, and it may attach again."""

_BATCH = 256
"""Lines sent to a console at a time."""


class ConsoleOutbox:
    """Bounded queue of encoded lines for one console.

    Events are not dropped unless the console leaves; a sample replaces one that still waits.
    """

    __slots__ = ("_bytes", "_is_leaving", "_lines", "_sample", "_wake", "ended", "fell_behind")

    def __init__(self) -> None:
        self.fell_behind = False
        """True when the console was let go because it reads too slowly."""
        self.ended = asyncio.Event()
        """Event that is set when the last line is queued."""
        self._lines: deque[str] = deque()
        self._bytes = 0
        self._sample: str | None = None
        self._wake = asyncio.Event()
        self._is_leaving = False

    def push(self, line: str) -> None:
        """Queue a line, or end the link when the queue is full."""
        if self.ended.is_set() or (self._is_leaving and not is_about_the_end(line)):
            return
        if len(self._lines) >= MAX_OUTBOX_LINES or self._bytes + len(line) > MAX_OUTBOX_BYTES:
            behind = len(self._lines)
            self._lines.clear()
            self._bytes = 0
            self.fell_behind = True
            self.end(encode(Closed(f"The console fell {behind:,} messages behind and was detached; attach again")))
            return
        self._lines.append(line)
        self._bytes += len(line)
        self._wake.set()

    def leave(self) -> None:
        """Drop the events that wait, and further ones, but for those about the end.

        The console has hung up, and must not read a flood to learn that the session is over.
        """
        self._is_leaving = True
        self._lines = deque(filter(is_about_the_end, self._lines))
        self._bytes = sum(map(len, self._lines))

    def push_sample(self, line: str) -> None:
        """Queue a sample in place of one that still waits."""
        if not self.ended.is_set():
            self._sample = line
            self._wake.set()

    def end(self, last: str) -> None:
        """Queue the last line; later lines are ignored."""
        if not self.ended.is_set():
            self.ended.set()
            self._sample = None
            self._lines.append(last)
            self._wake.set()

    async def take(self) -> list[str]:
        """Wait for lines and return some of them in order.

        Return no line once the outbox has ended and all lines were taken.
        """
        while not self._lines and self._sample is None:
            if self.ended.is_set():
                return []
            self._wake.clear()
            await self._wake.wait()
        lines = [self._lines.popleft() for _ in range(min(_BATCH, len(self._lines)))]
        self._bytes = max(0, self._bytes - sum(map(len, lines)))
        if not self._lines and self._sample is not None:
            lines.append(self._sample)
            self._sample = None
        return lines
