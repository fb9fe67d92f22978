"""Conversations over a real socket: what is sent, read and measured."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any

import pytest
from tests.unit.wire.frames import realtime_audio
from tests.unit.wire.websocket_server import KEY, SETUP, accept, server
from websockets.asyncio.server import ServerConnection

from gemini_live_runtime.errors import ConnectionClosedError
from gemini_live_runtime.wire.audio_frame import encode_model_audio
from gemini_live_runtime.wire.codec import decode_client
from gemini_live_runtime.wire.connection import connect
from gemini_live_runtime.wire.endpoints import local_endpoint, url_endpoint
from gemini_live_runtime.wire.messages import AudioFrame
from gemini_live_runtime.wire.transport import TransportClosed
from gemini_live_runtime.wire.websocket import LARGE_BYTES, WebSocketTransport, open_websocket


async def test_a_conversation_over_a_real_socket() -> None:
    seen: list[Any] = []

    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        seen.append(socket.request.headers if socket.request else None)
        await accept(transport)
        seen.append(decode_client(await transport.recv()))
        await transport.send(encode_model_audio(bytes(1920)).encode())
        await transport.close(1011, "Internal error encountered.")

    async with server(handler) as url:
        connection = await connect(local_endpoint(url), SETUP)
        connection.send_audio(bytes(640))
        assert await connection.receive() == AudioFrame(bytes(1920), 24_000, "audio/pcm;rate=24000")
        with pytest.raises(ConnectionClosedError, match="1011: Internal error encountered"):
            await connection.receive()
        await connection.close()
    headers, chunk = seen
    assert "sec-websocket-extensions" not in headers
    assert not {"x-goog-api-key", "authorization"} & {name.lower() for name in headers}
    assert chunk == realtime_audio(bytes(640))


async def test_a_credential_travels_in_its_header() -> None:
    seen: list[str] = []

    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        assert socket.request is not None
        seen.extend([socket.request.headers["x-goog-api-key"], socket.request.path])

    async with server(handler) as url:
        transport = await open_websocket(url_endpoint(url, KEY, trusted_hosts=["127.0.0.1"]))
        await transport.close()
    assert seen[0] == KEY.secret
    assert KEY.secret not in seen[1]


async def test_a_large_text_arrives_as_bytes() -> None:
    large, small = "é" * LARGE_BYTES, "é"

    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await transport.send(large)
        await transport.send(small)
        with contextlib.suppress(TransportClosed):
            await transport.recv()

    async with server(handler) as url:
        transport = await open_websocket(local_endpoint(url))
        assert await transport.recv() == large.encode()
        assert await transport.recv() == small
        await transport.close()


async def test_debug_logging_shows_no_credential(caplog: pytest.LogCaptureFixture) -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await accept(transport)

    servers_own = logging.getLogger("a-server-that-is-not-ours")
    servers_own.setLevel(logging.CRITICAL)
    caplog.set_level(logging.DEBUG)
    async with server(handler, logger=servers_own) as url:
        endpoint = url_endpoint(url, KEY, trusted_hosts=["127.0.0.1"])
        connection = await connect(endpoint, SETUP)
        await connection.close()
    assert KEY.secret not in caplog.text


async def test_send_now_and_send_keep_their_order() -> None:
    arrived: list[str | bytes] = []
    all_there = asyncio.Event()

    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        arrived.extend([await transport.recv() for _ in range(3)])
        all_there.set()

    async with server(handler) as url:
        transport = await open_websocket(local_endpoint(url))
        assert isinstance(transport, WebSocketTransport)
        assert transport.send_now("one")
        await transport.send("two")
        assert transport.send_now(b"three")
        await all_there.wait()
        await transport.close()
    assert arrived == ["one", "two", b"three"]


async def test_send_now_is_false_while_the_peer_does_not_read() -> None:
    reading = asyncio.Event()
    arrived: list[str | bytes] = []

    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await reading.wait()
        with contextlib.suppress(TransportClosed):
            while True:
                arrived.append(await transport.recv())

    async with server(handler) as url:
        transport = await open_websocket(local_endpoint(url))
        assert isinstance(transport, WebSocketTransport)
        block = b" " * 1_000_000
        sent = 0
        while transport.send_now(block):
            sent += 1
        assert not transport.send_now("later")
        last = asyncio.create_task(transport.send("later"))
        reading.set()
        await last
        await transport.close()
    assert arrived == [block] * sent + ["later"]


async def test_send_now_is_false_after_the_end() -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await transport.close()

    async with server(handler) as url:
        transport = await open_websocket(local_endpoint(url))
        assert isinstance(transport, WebSocketTransport)
        with pytest.raises(TransportClosed):
            await transport.recv()
        assert not transport.send_now("too late")


async def test_the_round_trip_is_measured_until_the_connection_ends() -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await accept(transport)
        await transport.recv()

    async with server(handler) as url:
        connection = await connect(local_endpoint(url), SETUP, transport_factory=open_websocket)
        seconds = await connection.round_trip()
        assert seconds is not None
        assert 0 < seconds < 5
        await connection.close()
        assert await connection.round_trip() is None
