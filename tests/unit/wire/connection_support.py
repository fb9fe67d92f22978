"""Open connections over transports in memory, which may get stuck."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from gemini_live_runtime.errors import ConnectionClosedError, ProtocolError
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.connection import Connection, connect
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, ServerMessage
from gemini_live_runtime.wire.transport import MemoryTransport, Transport, TransportClosed

ENDPOINT = local_endpoint("ws://127.0.0.1:1")
SETUP = compose.build_setup("test-model")
COMPLETE = '{"setupComplete":{}}'
CHUNK = bytes(640)


class Recorder:
    """Observer that records its calls."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def on_sent(self, message: ClientMessage, raw: Mapping[str, Any], size: int) -> None:
        self.seen.append(("sent", next(iter(raw)), size))

    def on_audio_sent(self, pcm: bytes, size: int, captured_at: float | None) -> None:
        self.seen.append(("sent audio", len(pcm), size))

    def on_received(self, message: ServerMessage, size: int) -> None:
        self.seen.append(("received", *message.raw, size))

    def on_audio_received(self, frame: AudioFrame, size: int) -> None:
        self.seen.append(("received audio", len(frame.data), size))

    def on_unreadable(self, error: ProtocolError, size: int) -> None:
        self.seen.append(("unreadable", size))


class StuckTransport:
    """Transport that takes `free` frames, then blocks until `flowing` is set."""

    def __init__(self, inner: Transport, free: int) -> None:
        self.inner = inner
        self.free = free
        self.flowing = asyncio.Event()

    async def send(self, frame: str | bytes) -> None:
        if self.free <= 0:
            await self.flowing.wait()
        self.free -= 1
        await self.inner.send(frame)

    async def recv(self) -> str | bytes:
        return await self.inner.recv()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        await self.inner.close(code, reason)


class ImmediateTransport(StuckTransport):
    """Transport that sends at once while it takes frames."""

    def __init__(self, inner: Transport, free: int) -> None:
        super().__init__(inner, free)
        self.at_once: list[str | bytes] = []

    def send_now(self, frame: str | bytes) -> bool:
        if self.free <= 0:
            return False
        self.free -= 1
        self.at_once.append(frame)
        return True


async def open_pair(
    *answers: str | bytes, recorder: Recorder | None = None, stuck_after: int | None = None
) -> tuple[Connection, MemoryTransport, StuckTransport]:
    """Return a connection after the setup, the server's end and our transport."""
    ours, theirs = MemoryTransport.pair()
    wrapped = StuckTransport(ours, 1_000_000 if stuck_after is None else stuck_after + 1)
    for answer in answers or (COMPLETE,):
        await theirs.send(answer)

    async def factory(endpoint: Endpoint) -> Transport:
        return wrapped

    connection = await connect(ENDPOINT, SETUP, observer=recorder, transport_factory=factory)
    assert "setup" in json.loads(await theirs.recv())
    return connection, theirs, wrapped


async def drain(transport: MemoryTransport) -> list[Any]:
    """Return every frame in the inbox, without waiting for more."""
    await asyncio.sleep(0)
    frames = []
    while True:
        try:
            async with asyncio.timeout(0.01):
                frames.append(json.loads(await transport.recv()))
        except (TimeoutError, TransportClosed):
            return frames


async def collect(connection: Connection) -> tuple[list[Any], ConnectionClosedError]:
    """Return every decodable message until the end, and the closing error."""
    got: list[Any] = []
    while True:
        try:
            got.append(await connection.receive())
        except ConnectionClosedError as error:
            return got, error
        except ProtocolError:
            continue
