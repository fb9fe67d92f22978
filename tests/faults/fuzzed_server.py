"""Send fuzzed frames as a server, over one connection after the other."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from typing import Any

from tests.faults.fuzz_account import Account, Work, separators
from tests.support.fuzzed_frames import Frame

from gemini_live_runtime.wire.endpoints import Endpoint
from gemini_live_runtime.wire.transport import Transport, TransportClosed

SETUP = '{"setupComplete": {}}'


class Line(Transport):
    """Connection of the fuzzed server."""

    def __init__(self, server: FuzzedServer) -> None:
        self._server = server
        self._is_set_up = asyncio.Event()
        self._told = False
        self.closed = False

    async def send(self, frame: str | bytes) -> None:
        if self.closed:
            raise TransportClosed(1000)
        self._is_set_up.set()
        self._server.heard(frame)

    async def recv(self) -> str | bytes:
        self._server.settle()
        if not self._told:
            await self._is_set_up.wait()
            self._told = True
            return SETUP
        return await self._server.next_frame(self)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self.closed = True
        self._is_set_up.set()
        self._server.wake.set()


class FuzzedServer:
    """Server whose connections share one source of frames."""

    def __init__(self, source: Iterator[Frame], account: Account, events: Callable[[], int]) -> None:
        """`events` returns the number of events so far."""
        self.wake = asyncio.Event()
        self.texts: list[str] = []
        """Frames with text since they were looked at."""
        self.left = 0
        """Fuzzed frames that are still to be sent."""
        self._source = source
        self._account = account
        self._events = events
        self._orderly: list[Frame] = []
        self._frame: Frame | None = None
        self._before = 0
        self._began = 0.0
        self.chars = 0
        """Characters of the fuzzed frames so far."""

    async def transport(self, _: Endpoint) -> Transport:
        self._account.connections += 1
        return Line(self)

    def heard(self, frame: Frame) -> None:
        text = frame if isinstance(frame, str) else frame.decode()
        if '"text"' in text:
            self.texts.append(text)

    def says(self, *messages: dict[str, Any]) -> None:
        """Send messages after all fuzzed frames."""
        self._orderly += [json.dumps(message) for message in messages]
        self.wake.set()

    def fuzz(self, count: int) -> None:
        """Send so many frames from the source."""
        self.left = count
        self.wake.set()

    async def next_frame(self, line: Line) -> Frame:
        while True:
            if line.closed:
                raise TransportClosed(1000, by_us=True)
            if self.left:
                self.left -= 1
                if self.left % 20 == 0:
                    await asyncio.sleep(0.02)
                self._frame = next(self._source)
                self._account.frames += 1
                self.chars += len(self._frame)
                self._before, self._began = self._events(), time.thread_time()
                return self._frame
            if self._orderly:
                return self._orderly.pop(0)
            self.wake.clear()
            await self.wake.wait()

    def settle(self) -> None:
        """Account for the work that the frame before has caused."""
        frame, self._frame = self._frame, None
        if frame is None:
            return
        began = time.thread_time()
        cpu_ms = (began - self._began) * 1000
        events = self._events() - self._before
        self._account.add(Work(repr(frame[:120]), len(frame), separators(frame), events, cpu_ms))
        self._account.own_s += time.thread_time() - began
