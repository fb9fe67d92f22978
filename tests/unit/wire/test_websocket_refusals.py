"""Servers that cannot be reached, refuse the upgrade or speak something else."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import re
import socket
import ssl
import struct
import sys
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import pytest
from tests.unit.wire.websocket_server import KEY, accept, reset_connection, server
from websockets.asyncio.server import ServerConnection

from gemini_live_runtime.errors import UnreachableError, UpgradeRefusedError
from gemini_live_runtime.wire import websocket
from gemini_live_runtime.wire.endpoints import local_endpoint, url_endpoint
from gemini_live_runtime.wire.websocket import WebSocketTransport, open_websocket


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
        (b"\x15\x03\x03\x00\x02\x02\x28", "ws", r"speaks TLS\. Begin the address with wss://"),
        (b"J\x00\x00\x00\n8.0.33\x00", "ws", r"does not speak WebSocket \(it answered b'J"),
        (b"<html>hi</html>", "ws", r"does not speak WebSocket \(it answered b'<html>hi"),
        (b"HTTP/1.1 304 Not Modified\r\n\r\n", "ws", "answered as a web server"),
        (b"HTTP/1.1 402 Payment Required\r\n\r\n", "ws", "asks for a payment .* Enable billing"),
        (b"HTTP/1.1 431 Large\r\n\r\n", "ws", "takes the request for too large"),
        (b"HTTP/1.1 501 Not Implemented\r\n\r\n", "ws", r"does not support this \(HTTP 501\)"),
        (b"HTTP/1.1 511 Login\r\n\r\n", "ws", "network that requires a login .* with a browser"),
        (b"HTTP/1.1 999 ?\r\n\r\n", "ws", r"does not speak WebSocket \(.*999"),
        (b"HTTP/1.1 1000 ?\r\n\r\n", "ws", r"does not speak WebSocket \(.*1000"),
        pytest.param(bytes(9000), "ws", r"does not speak WebSocket \(it answered b'.x00", id="a line without end"),
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


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\nX: y\r\n\r\n"


@pytest.mark.parametrize("interim", [CONTINUE, HINTS, b"HTTP/1.1 102 Processing\r\n\r\n" + HINTS + CONTINUE])
@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_interim_responses_are_skipped_before_a_refusal(interim: bytes, size: int) -> None:
    reply = interim + REFUSED + b"Content-Length: 9\r\n\r\nnot today"

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await reader.readuntil(b"\r\n\r\n")
        for at in range(0, len(reply), size):
            writer.write(reply[at : at + size])
            await asyncio.sleep(0)
        writer.close()

    other = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises(UpgradeRefusedError, match=r"does not allow this \(HTTP 403: not today\)"):
            await open_websocket(url_endpoint(f"ws://127.0.0.1:{port}"))


async def test_a_connection_is_opened_although_interim_responses_come_first() -> None:
    def hint(socket: ServerConnection, request: Any) -> None:
        socket.transport.write(CONTINUE + HINTS)

    async with server(lambda transport, socket: accept(transport), process_request=hint) as url:
        transport = await open_websocket(local_endpoint(url))
        await transport.send('{"setup":{"model":"models/m"}}')
        assert b"setupComplete" in bytes(await transport.recv())
        await transport.close()


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (CONTINUE, "closed the connection during the handshake"),
        (CONTINUE + b"HTTP/1.1 10", "closed the connection during the handshake"),
        (CONTINUE * 100_000, r"gives no answer but preliminary ones \(HTTP 100\)"),
        (CONTINUE + b"SSH-2.0-x\r\n", "does not speak WebSocket"),
    ],
)
async def test_a_server_that_gives_nothing_but_interim_responses_is_told_as_such(reply: bytes, says: str) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        writer.close()

    other = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with other:
        port = other.sockets[0].getsockname()[1]
        with pytest.raises((UnreachableError, UpgradeRefusedError), match=says):
            await open_websocket(url_endpoint(f"ws://127.0.0.1:{port}"))


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
