"""Each end of a connection says who ended it, why, and by which code."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
import sys
from collections.abc import Callable
from typing import Any, cast

import pytest
from tests.unit.wire.websocket_server import SETUP, accept, server
from websockets.asyncio import messages
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from gemini_live_runtime.errors import ConnectionClosedError, SetupRejectedError
from gemini_live_runtime.wire import compose, websocket
from gemini_live_runtime.wire.closes import closed_error
from gemini_live_runtime.wire.connection import connect
from gemini_live_runtime.wire.endpoints import local_endpoint, url_endpoint
from gemini_live_runtime.wire.transport import MAX_FRAGMENTS, MAX_MESSAGE_BYTES, TransportClosed
from gemini_live_runtime.wire.websocket import WebSocketTransport, open_websocket


async def test_a_frame_above_the_limit_ends_with_1009() -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await accept(transport)
        with contextlib.suppress(TransportClosed):
            await transport.send(b" " * (MAX_MESSAGE_BYTES + 1))
            await transport.recv()

    async with server(handler) as url:
        connection = await connect(local_endpoint(url), SETUP)
        with pytest.raises(
            ConnectionClosedError, match="The server sent a message above 16 MiB, so this side closed"
        ) as caught:
            await connection.receive()
        assert caught.value.close_code == 1009
        await connection.close()


@pytest.mark.skipif(not hasattr(messages, "MAX_FRAGMENTS"), reason="This version of websockets has no such limit.")
async def test_a_message_in_too_many_fragments_ends_with_1009_and_says_so() -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await accept(transport)
        socket.transport.write(b"\x01\x02{}" + b"\x00\x00" * MAX_FRAGMENTS)
        with contextlib.suppress(TransportClosed):
            await transport.recv()

    async with server(handler) as url:
        connection = await connect(url_endpoint(url), SETUP)
        with pytest.raises(ConnectionClosedError, match="in more than 4,096 fragments, so this side closed") as caught:
            await connection.receive()
        assert caught.value.close_code == 1009
        await connection.close()


@pytest.mark.parametrize("accepted", [False, True])
@pytest.mark.parametrize(
    ("frame", "says", "cause"),
    [
        (b"\x81\x02\xc3\x28", "server sent text that is not UTF-8, so this side closed the connection", "(1007: "),
        (b"\x83\x00", "server violated the WebSocket protocol, so this side closed the connection", "(1002: "),
    ],
    ids=["bad UTF-8", "bad opcode"],
)
async def test_a_close_of_ours_is_not_taken_for_the_servers(
    accepted: bool, frame: bytes, says: str, cause: str
) -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        if accepted:
            await accept(transport)
        else:
            await transport.recv()
        socket.transport.write(frame)
        # The library answers our close frame with the same code.
        with contextlib.suppress(TransportClosed):
            await transport.recv()

    async with server(handler) as url:
        if accepted:
            connection = await connect(local_endpoint(url), SETUP)
            with pytest.raises(ConnectionClosedError) as caught:
                await connection.receive()
            assert caught.value.message.startswith(f"The {says} {cause}")
            await connection.close()
        else:
            with pytest.raises(SetupRejectedError) as rejected:
                await connect(local_endpoint(url), SETUP)
            assert rejected.value.message.startswith(f"The {says} before the setup was accepted {cause}")
            assert "Check the setup" not in rejected.value.remedy


async def test_a_message_after_our_own_close_says_that_we_closed() -> None:
    async with server(lambda transport, socket: accept(transport)) as url:
        connection = await connect(local_endpoint(url), SETUP)
        await connection.close(1001, "moving")
        with pytest.raises(ConnectionClosedError, match="This side closed the connection"):
            connection.post(compose.text_turn("late"))


def end_orderly(socket: ServerConnection) -> None:
    socket.transport.abort()


def end_by_reset(connection: ServerConnection) -> None:
    link = connection.transport.get_extra_info("socket")
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.transport.abort()


ENDS_WITHOUT_CLOSE = [
    (end_orderly, "1006: the other side ended it without a close"),
    (end_by_reset, "1006: the other side reset it"),
]


@pytest.mark.parametrize(("end", "says"), ENDS_WITHOUT_CLOSE)
async def test_a_connection_that_ends_without_a_close_is_1006_and_says_who_ended_it_and_how(
    end: Callable[[ServerConnection], None], says: str
) -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await accept(transport)
        end(socket)

    async with server(handler) as url:
        connection = await connect(local_endpoint(url), SETUP)
        with pytest.raises(ConnectionClosedError, match=rf"The connection broke \({says}\)"):
            await connection.receive()
        await connection.close()


@pytest.mark.parametrize(("end", "says"), ENDS_WITHOUT_CLOSE)
async def test_a_connection_that_ends_before_the_setup_is_accepted_is_told_in_one_sentence(
    end: Callable[[ServerConnection], None], says: str
) -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await transport.recv()
        end(socket)

    async with server(handler) as url:
        with pytest.raises(SetupRejectedError) as rejected:
            await connect(local_endpoint(url), SETUP)
    assert rejected.value.message == f"The connection broke before the setup was accepted ({says})"


@pytest.mark.parametrize(
    ("reason", "says"),
    [
        ("TLSV1_ALERT_INTERNAL_ERROR", "the other side ended TLS: internal error"),
        ("DECRYPTION_FAILED_OR_BAD_RECORD_MAC", "what came cannot be decrypted: decryption failed or bad record mac"),
        ("WRONG_VERSION_NUMBER", "what came cannot be decrypted: wrong version number"),
    ],
)
async def test_an_end_of_tls_is_the_other_sides_only_where_it_says_so(reason: str, says: str) -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await accept(transport)
        with contextlib.suppress(TransportClosed):
            await transport.recv()

    error = ssl.SSLError(1, reason)
    error.reason = reason
    async with server(handler) as url:
        transport = await open_websocket(local_endpoint(url))
        assert isinstance(transport, WebSocketTransport)
        cast("Any", transport._socket.transport)._force_close(error)
        with pytest.raises(TransportClosed) as caught:
            await transport.recv()
    assert (caught.value.code, caught.value.reason) == (1006, says)


async def test_the_remedy_of_a_setup_answered_by_too_much_is_not_to_ask_for_less() -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await transport.recv()
        with contextlib.suppress(TransportClosed):
            await transport.send(b" " * (MAX_MESSAGE_BYTES + 1))

    async with server(handler) as url:
        with pytest.raises(SetupRejectedError, match="above 16 MiB") as rejected:
            await connect(local_endpoint(url), SETUP)
    assert rejected.value.remedy == "Check that the address is a Live API server"


async def test_a_close_frame_ends_a_connection_whose_socket_the_server_leaves_open() -> None:
    ended = asyncio.Event()

    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        socket.transport.write(b"\x88\x06\x03\xf3busy")
        await ended.wait()

    async with server(handler) as url:
        transport = await open_websocket(local_endpoint(url))
        with pytest.raises(TransportClosed, match="1011 busy"):
            await transport.recv()
        ended.set()


async def test_a_server_that_pings_without_reading_the_answers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "MAX_UNREAD_BYTES", 100_000)

    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        socket.transport.pause_reading()
        with contextlib.suppress(ConnectionClosed, ConnectionError):
            while not socket.transport.is_closing():
                socket.transport.write((b"\x89\x7d" + b"x" * 125) * 1000)
                await socket.drain()
                await asyncio.sleep(0)

    async with server(handler) as url:
        transport = await open_websocket(local_endpoint(url))
        with pytest.raises(TransportClosed) as caught:
            await transport.recv()
    assert (caught.value.code, caught.value.by_us) == (1008, True)
    sentence = closed_error(caught.value.code, caught.value.reason, by_us=True).message
    assert sentence.startswith("The server sent without end and read nothing, so this side closed the connection (1008")


async def test_a_socket_into_which_nothing_fits_any_more_is_closed_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(websocket, "CLOSE_TIMEOUT", 0.05)
    deaf = asyncio.Event()

    async def read_nothing(_: WebSocketTransport, socket: ServerConnection) -> None:
        socket.transport.pause_reading()
        await deaf.wait()
        socket.transport.abort()

    async with server(read_nothing) as url:
        transport = await open_websocket(local_endpoint(url))
        assert isinstance(transport, WebSocketTransport)
        # More than the system takes: the rest waits in the buffer.
        assert transport.send_now(bytes(MAX_MESSAGE_BYTES))
        ping = asyncio.create_task(transport.ping())
        await asyncio.sleep(0)
        async with asyncio.timeout(5):
            await transport.close()
            with pytest.raises(TransportClosed):
                await transport.recv()
        with pytest.raises(TransportClosed):
            await ping
        deaf.set()


async def test_a_long_close_reason_is_cut_to_the_limit_of_the_protocol() -> None:
    async def handler(transport: WebSocketTransport, socket: ServerConnection) -> None:
        await transport.close(1008, "ä" * 100)

    async with server(handler) as url:
        transport = await open_websocket(local_endpoint(url))
        for _ in range(2):
            with pytest.raises(TransportClosed) as caught:
                await transport.recv()
        assert caught.value.reason == "ä" * 61
        await transport.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems drop what came before a reset")
async def test_a_close_that_came_before_a_reset_is_told_although_a_write_finds_it() -> None:
    async def handler(transport: WebSocketTransport, peer: ServerConnection) -> None:
        await transport.recv()
        # A close frame of the server, and at once a reset.
        peer.transport.write(b"\x88\x0e\x03\xf0" + b"quota is out")
        peer.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.transport.abort()
        await peer.wait_closed()
        gone.set()

    gone = asyncio.Event()
    async with server(handler) as url:
        transport = await open_websocket(url_endpoint(url))
        assert isinstance(transport, WebSocketTransport)
        transport._socket.transport.pause_reading()
        await transport.send("setup")
        await gone.wait()
        transport.send_now("more")
        with pytest.raises(TransportClosed) as caught:
            await transport.recv()
    assert (caught.value.code, caught.value.reason) == (1008, "quota is out")
