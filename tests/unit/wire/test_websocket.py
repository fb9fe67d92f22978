"""Sockets on this machine: limits, refusals, and redirects without a credential."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import logging
import re
import socket
import ssl
import struct
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from http import HTTPStatus
from typing import Any

import pytest
from tests.unit.wire.frames import realtime_audio
from websockets.asyncio import messages
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from gemini_live_runtime.errors import ConnectionClosedError, SetupRejectedError, UnreachableError, UpgradeRefusedError
from gemini_live_runtime.wire import compose, websocket
from gemini_live_runtime.wire.audio_frame import encode_model_audio
from gemini_live_runtime.wire.closes import closed_error
from gemini_live_runtime.wire.codec import decode_client
from gemini_live_runtime.wire.connection import connect
from gemini_live_runtime.wire.credentials import Credential
from gemini_live_runtime.wire.endpoints import local_endpoint, url_endpoint
from gemini_live_runtime.wire.messages import AudioFrame
from gemini_live_runtime.wire.transport import MAX_FRAGMENTS, MAX_MESSAGE_BYTES, TransportClosed
from gemini_live_runtime.wire.websocket import LARGE_BYTES, SERVER_OPTIONS, WebSocketTransport, open_websocket

KEY = Credential("api-key", "AIzaSyCanaryOfTheSocketTests")
SETUP = compose.build_setup("m")


@contextlib.asynccontextmanager
async def server(
    handler: Callable[[WebSocketTransport, ServerConnection], Awaitable[None]], **options: Any
) -> AsyncIterator[str]:
    """Run a server on a free local port, and yield its URL."""

    async def handle(socket: ServerConnection) -> None:
        await handler(WebSocketTransport(socket), socket)

    async with serve(handle, "127.0.0.1", 0, **SERVER_OPTIONS, **options) as running:
        port = next(iter(running.sockets)).getsockname()[1]
        yield f"ws://127.0.0.1:{port}"


async def accept(transport: WebSocketTransport) -> None:
    assert decode_client(await transport.recv()).setup is not None
    await transport.send(b'{"setupComplete":{}}')


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


async def test_a_redirect_is_refused_and_carries_no_credential_away() -> None:
    stolen: list[str] = []

    async def thief(transport: WebSocketTransport, socket: ServerConnection) -> None:
        stolen.append("connected")

    async with server(thief) as elsewhere:

        def redirect(socket: ServerConnection, request: Any) -> Any:
            response = socket.respond(HTTPStatus.FOUND, "this way")
            response.headers["Location"] = elsewhere
            return response

        async with server(thief, process_request=redirect) as url:
            with pytest.raises(UpgradeRefusedError, match="not followed") as caught:
                await open_websocket(url_endpoint(url, KEY, trusted_hosts=["127.0.0.1"]))
    assert caught.value.status == 302
    assert stolen == []


@pytest.mark.parametrize(
    ("status", "says"),
    [(401, "does not accept the credential"), (403, "does not allow"), (404, "no Live API"), (429, "quota")],
)
async def test_a_refused_upgrade_gives_status_and_reason(status: int, says: str) -> None:
    def refuse(socket: ServerConnection, request: Any) -> Any:
        return socket.respond(HTTPStatus(status), '{"error":{"message":"because of the test"}}')

    async def never(transport: WebSocketTransport, socket: ServerConnection) -> None:
        raise AssertionError

    async with server(never, process_request=refuse) as url:
        with pytest.raises(UpgradeRefusedError, match=says) as caught:
            await open_websocket(local_endpoint(url))
    assert caught.value.status == status
    assert "because of the test" in str(caught.value)


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


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("ws://127.0.0.1:1", "Nothing listens at 127.0.0.1:1"),
        ("ws://no-such-host.invalid", "The host no-such-host.invalid cannot be (found|reached)"),
    ],
)
async def test_an_unreachable_server_is_a_sentence(url: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy", "socks_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    with pytest.raises(UnreachableError, match=says) as caught:
        await open_websocket(url_endpoint(url))
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("reply", "scheme", "says"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "ws", "does not speak WebSocket"),
        (b"HTTP/1.1 999 ?\r\n\r\n", "ws", r"does not speak WebSocket \(.*999"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nX-A: \x1b[31m\x00\x9b\r\n\r\n",
            "ws",
            r"does not speak WebSocket \(invalid HTTP header value: [^()]*\)\. Check the address and the port",
        ),
        (b"", "ws", "closed the connection during the handshake"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "ws", r"answered as a web server, .* \(HTTP 200\)"),
        (
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
            "ws",
            r"answered the WebSocket handshake wrongly \(.*h2c\)",
        ),
        (b"not tls at all\r\n", "wss", r"does not speak TLS: wrong version number\. .*whether .* begin with ws://"),
        (b"\x15\x03\x03\x00\x02\x02\x28", "wss", r"ended the TLS handshake: .*handshake failure\. .*TLS versions"),
        (b"\x15\x03\x03\x00\x02\x02\x70", "wss", r"ended the TLS handshake: unrecognized name\. Check the address"),
    ],
)
async def test_a_server_of_another_kind_is_a_sentence(reply: bytes, scheme: str, says: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(reply)
        writer.close()

    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises((UnreachableError, UpgradeRefusedError), match=says):
            await open_websocket(url_endpoint(f"{scheme}://127.0.0.1:{port}"))


def tls_error(kind: type[ssl.SSLError], reason: str, code: int = 0) -> ssl.SSLError:
    error = kind(1, reason)
    error.reason = reason
    if isinstance(error, ssl.SSLCertVerificationError):
        error.verify_code, error.verify_message = code, "it is said why"
    return error


@pytest.mark.parametrize(
    ("code", "remedy"),
    [(10, "Check the system clock"), (20, "SSL_CERT_FILE"), (18, "SSL_CERT_FILE"), (62, "Check the address.")],
)
def test_a_certificate_that_is_not_trusted_has_the_remedy_for_its_reason(code: int, remedy: str) -> None:
    error = tls_error(ssl.SSLCertVerificationError, "CERTIFICATE_VERIFY_FAILED", code)
    told = str(websocket._tls_failed("host", error))
    assert told.startswith("The certificate of host is not trusted: it is said why. ")
    assert remedy in told


async def test_a_server_that_asks_for_a_certificate_of_the_client_is_told_as_such(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # With TLS 1.3 the refusal comes once the client takes its handshake to be over.
    error = tls_error(ssl.SSLError, "TLSV13_ALERT_CERTIFICATE_REQUIRED")
    made = websocket._ClientConnection.connection_made

    def break_off(self: Any, transport: Any) -> None:
        made(self, transport)
        asyncio.get_running_loop().call_soon(transport._force_close, error)

    monkeypatch.setattr(websocket._ClientConnection, "connection_made", break_off)
    async with server(lambda transport, socket: accept(transport)) as url:
        with pytest.raises(UnreachableError, match="asks for a certificate of this client"):
            await open_websocket(local_endpoint(url))


def reset_connection(writer: asyncio.StreamWriter) -> None:
    """Close without lingering, which sends a reset instead of an orderly end."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


KEY_BODY = b'{"error": {"code": 403, "message": "This key is le'
REFUSED = b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n"
SAYS = r"does not allow this \(HTTP 403: This key is le…\)\. Check that the key is valid"
NO_BODY = r"does not allow this \(HTTP 403\)\. Check that the key is valid"


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (REFUSED + b"Content-Length: 500\r\n\r\n" + KEY_BODY, SAYS),
        (REFUSED + b"Content-Length: 500\r\n\r\n", NO_BODY),
        (REFUSED + b"Content-Le", NO_BODY),
        (REFUSED + b"Content-Length: 3000000\r\n\r\n" + KEY_BODY, SAYS),
        (REFUSED + b"Content-Length: many\r\n\r\n" + KEY_BODY, SAYS),
        (REFUSED + b"Transfer-Encoding: gzip\r\n\r\n", NO_BODY),
        (
            REFUSED
            + b"Transfer-Encoding: chunked\r\n\r\n"
            + b"%x\r\n%b\r\n%x\r\n%b" % (20, KEY_BODY[:20], 500, KEY_BODY[20:]),
            SAYS,
        ),
        (REFUSED.replace(b"1.1", b"1.0") + b"\r\n" + KEY_BODY, SAYS),
        (REFUSED.replace(b" Forbidden", b"") + b"\r\n", NO_BODY),
        ("HTTP/1.1 403 Verb\u00f6ten \u202e\x1b[2J\r\nContent-Length: 0\r\n\r\n".encode(), NO_BODY),
        (REFUSED + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\n" + KEY_BODY, SAYS),
        (REFUSED + b"Content-Length: -5\r\n\r\n" + KEY_BODY, SAYS),
        (REFUSED + b"Content-Encoding: gzip\r\nContent-Encoding: br\r\n\r\n\x8b\x02", NO_BODY),
        (REFUSED + b"Content-Encoding: br\r\n\r\n\x8b\x02", NO_BODY),
        (
            REFUSED + b"Content-Encoding: gzip\r\nContent-Length: 999\r\n\r\n" + gzip.compress(KEY_BODY, mtime=0)[:-4],
            SAYS,
        ),
        (
            REFUSED + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(KEY_BODY + b'aked."}}', mtime=0),
            r"does not allow this \(HTTP 403: This key is leaked\.\)\. Check",
        ),
        (
            b"HTTP/1.1 429 Busy\r\nContent-Length: 9\r\n\r\nslow",
            r"no quota left .* \(HTTP 429: slow…\)\. Wait, or raise",
        ),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgr", "closed the connection during the handshake"),
    ],
)
@pytest.mark.parametrize("ending", [asyncio.StreamWriter.close, reset_connection])
async def test_a_refusal_that_is_broken_off_tells_its_status(
    reply: bytes, says: str, ending: Callable[[asyncio.StreamWriter], None]
) -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await asyncio.sleep(0)
        ending(writer)

    other = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises((UnreachableError, UpgradeRefusedError)) as caught:
            await open_websocket(url_endpoint(f"ws://127.0.0.1:{port}"))
    assert re.search(says, str(caught.value)), str(caught.value)


async def test_a_refusal_whose_body_never_ends_tells_its_status() -> None:
    async def stall(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(REFUSED + b"Content-Length: 500\r\n\r\n" + KEY_BODY)
        await reader.read()
        writer.close()

    other = await asyncio.start_server(stall, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises(UpgradeRefusedError, match=SAYS):
            await open_websocket(url_endpoint(f"ws://127.0.0.1:{port}"), open_timeout=1)


async def test_of_a_refusal_without_end_the_status_and_the_beginning_are_told_and_no_more_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: list[int] = []
    lost = websocket._ClientConnection.connection_lost

    def count(self: Any, exc: Exception | None) -> None:
        kept.append(len(self.answer))
        lost(self, exc)

    monkeypatch.setattr(websocket._ClientConnection, "connection_lost", count)

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(REFUSED + b"\r\n")
        with contextlib.suppress(ConnectionError):
            while True:
                writer.write(b"x" * 100_000)
                await writer.drain()

    other = await asyncio.start_server(pour, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises(UpgradeRefusedError, match=r"does not allow this \(HTTP 403: x{299}…\)"):
            await open_websocket(url_endpoint(f"ws://127.0.0.1:{port}"))
    (most,) = kept
    assert most < 512 * 1024  # the limit and one read of asyncio; the library reads a body of 1 MiB


@pytest.mark.skipif(sys.platform != "linux", reason="other systems drop what came before a reset")
async def test_a_refusal_that_came_before_the_request_was_sent_tells_its_status(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = websocket._ClientConnection.connection_made

    def made_late(self: Any, transport: Any) -> None:
        # The client is connected and has sent nothing: now come the refusal and the reset.
        with listener.accept()[0] as peer:
            peer.sendall(REFUSED + b"Content-Length: 500\r\n\r\n" + KEY_BODY)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        made(self, transport)

    monkeypatch.setattr(websocket._ClientConnection, "connection_made", made_late)
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(UpgradeRefusedError, match=SAYS):
        await open_websocket(url_endpoint(f"ws://127.0.0.1:{listener.getsockname()[1]}"))


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


async def test_a_reset_during_the_upgrade_is_no_other_protocol() -> None:
    async def reset(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        reset_connection(writer)

    other = await asyncio.start_server(reset, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises(UnreachableError, match="closed the connection during the handshake"):
            await open_websocket(url_endpoint(f"ws://127.0.0.1:{port}"))


async def test_a_server_that_never_answers_the_upgrade_times_out() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    other = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises(UnreachableError, match=r"did not answer within 0\.05 s"):
            await open_websocket(url_endpoint(f"ws://127.0.0.1:{port}"), open_timeout=0.05)


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
