"""Forward TCP connections to a server, and let a seed decide what becomes of them."""

from __future__ import annotations

import asyncio
import random
import socket
import struct
from collections import Counter
from typing import Literal

Ending = Literal["reset", "close", "half-open"]

AFTER_SETUP = 1500
"""Bytes after which a connection is set up."""

_LINGER_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with which closing a socket sends RST."""


class FaultProxy:
    """Proxy on loopback whose connections end after some bytes of either direction.

    The first connection is spared its first `spared` bytes. Some bytes come late, some in slices. A half-open
    connection forwards nothing any more and stays.
    """

    def __init__(self, port: int, seed: int, *, most_bytes: int = 4000, spared: int = 0) -> None:
        self._port = port
        self._random = random.Random(seed)
        self._most_bytes = most_bytes
        self._spared = spared
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.endings: Counter[Ending] = Counter()
        """Numbers of connections that were ended, by the way."""
        self.is_calm = False
        """True to end no connection any more."""

    async def start(self) -> int:
        """Listen on a free port; return it."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def stop(self) -> None:
        """Close everything."""
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        onward: asyncio.StreamWriter | None = None
        try:
            answers, onward = await asyncio.open_connection("127.0.0.1", self._port)
            await _Link(self._random, self._budget(), self).run((reader, onward), (answers, writer))
        except OSError:
            pass
        finally:
            for end in (writer, onward):
                if end is not None:
                    end.transport.abort()

    def _budget(self) -> int:
        spared, self._spared = self._spared, 0
        return spared + self._random.randint(1, self._most_bytes)


class _Link:
    """Two directions of one connection."""

    def __init__(self, chance: random.Random, budget: int, proxy: FaultProxy) -> None:
        self._random = chance
        self._left = budget
        self._proxy = proxy
        self._slice = chance.choice((0, 0, 0, 64, 7))
        self._latency_s = chance.choice((0.0, 0.0, 0.002))
        # A server that falls silent in the handshake would be waited for longer than a test may take.
        self._ending: Ending = chance.choices(("reset", "close", "half-open"), (4, 4, budget >= AFTER_SETUP))[0]
        self._is_cut = asyncio.Event()

    async def run(self, *directions: tuple[asyncio.StreamReader, asyncio.StreamWriter]) -> None:
        """Forward until either side ends, or the budget is used up."""
        tasks = [asyncio.create_task(self._forward(*direction)) for direction in directions]
        tasks.append(asyncio.create_task(self._cut(*(writer for _, writer in directions))))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if self._latency_s:
                await asyncio.sleep(self._latency_s)
            if not self._proxy.is_calm:
                self._left -= len(data)
                if self._left <= 0:
                    # A part of it still arrives.
                    data = data[: self._left]
            if not self._is_cut.is_set():
                for at in range(0, len(data), self._slice or len(data)):
                    writer.write(data[at : at + (self._slice or len(data))])
                    await asyncio.sleep(0)
                await writer.drain()
            if self._left <= 0:
                self._is_cut.set()

    async def _cut(self, *writers: asyncio.StreamWriter) -> None:
        await self._is_cut.wait()
        self._proxy.endings[self._ending] += 1
        if self._ending == "half-open":
            # Both directions go on reading, so that neither side notices.
            await asyncio.Event().wait()
        if self._ending == "reset":
            for writer in writers:
                raw: socket.socket = writer.get_extra_info("socket")
                raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_RESET)
