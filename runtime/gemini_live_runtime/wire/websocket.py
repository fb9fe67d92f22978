"""Adapt a connection of the `websockets` library to `Transport`, for both ends.

Limits: no compression (base64 of PCM hardly compresses), messages up to `MAX_MESSAGE_BYTES`, closing waits
`CLOSE_TIMEOUT` for the peer's close frame. No keepalive pings: Google's pongs come up to half a minute late, so a
keepalive would close healthy connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
import socket
import ssl
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection
from websockets.asyncio.client import connect as websockets_connect
from websockets.asyncio.connection import Connection as WebSocketConnection
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
    ProxyError,
)
from websockets.frames import Frame, Opcode
from websockets.protocol import Event, State

from gemini_live_runtime.errors import UnreachableError, UpgradeRefusedError
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.wire.closes import server_text, upgrade_refused
from gemini_live_runtime.wire.endpoints import Endpoint, is_loopback
from gemini_live_runtime.wire.interim_responses import InterimResponses
from gemini_live_runtime.wire.proxies import proxy_failed, proxy_for
from gemini_live_runtime.wire.transport import CLOSE_TIMEOUT, MAX_MESSAGE_BYTES, Transport, TransportClosed

OPEN_TIMEOUT = 10.0
"""Seconds for DNS, TCP, TLS and the HTTP upgrade together."""

MAX_REASON_BYTES = 123
"""UTF-8 bytes of the longest close reason (RFC 6455, 5.5)."""

MAX_UNREAD_BYTES = MAX_MESSAGE_BYTES + 1024 * 1024
"""Bytes that wait for a peer to read: beyond one message these are answers to its pings."""

MAX_ANSWER_BYTES = 64 * 1024
"""Bytes of an answer to the handshake that are kept to tell why it failed."""

LARGE_BYTES = 1024 * 1024
"""Bytes of a frame of text that is handed on as bytes."""

_READ_BYTES = 64 * 1024

_STATUS_LINE = re.compile(rb"HTTP/1\.[01] ([2-5]\d\d)[ \r][^\n]*\n")
_CHUNKED = re.compile(rb"^transfer-encoding:[^\n]*chunked", re.IGNORECASE | re.MULTILINE)
_ENCODING = re.compile(rb"^content-encoding:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_CHUNK_SIZE = re.compile(rb"(?:\r\n)?([0-9a-f]{1,8})[^\n]*\n", re.IGNORECASE)


class BoundedConnection(WebSocketConnection):
    """Connection that never waits for ever and never buffers without limit."""

    _ending: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Take data from the socket; end what the peer has closed, or does not read."""
        super().data_received(data)
        # A reader would wait for a peer that sends a close frame and leaves the socket open.
        if self._ending is None and self.protocol.close_expected():
            self._ending = self.loop.call_later(CLOSE_TIMEOUT, self.transport.abort)
        # Pongs are written without back-pressure.
        if self.transport.get_write_buffer_size() > MAX_UNREAD_BYTES and not self.transport.is_closing():
            self.protocol.fail(1008, "pings whose answers are not read")
            self.transport.abort()

    def process_event(self, event: Event) -> None:
        """Take a frame; a large one of text as bytes.

        The library would decode it, and what is too large to be read would be in memory once more.
        """
        if type(event) is Frame and event.opcode is Opcode.TEXT and event.fin and len(event.data) > LARGE_BYTES:
            event.opcode = Opcode.BINARY
        super().process_event(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take what came before the connection was reset, then its loss.

        Where a write finds the reset, asyncio reads no more: the reason that the peer gave would be lost.
        """
        if not hasattr(self, "transport"):  # TLS failed behind a proxy: no connection was made
            return
        if isinstance(exc, ConnectionError):
            for data in _unread(self.transport):
                self.data_received(data)
        super().connection_lost(exc)


def _unread(transport: asyncio.Transport) -> Iterator[bytes]:
    """Yield what the system has received and was not read.

    Of TLS, that is nothing: what it decrypts with is asyncio's own.
    """
    if transport.get_extra_info("ssl_object") is None:
        with contextlib.suppress(OSError):
            while data := os.read(transport.get_extra_info("socket").fileno(), _READ_BYTES):
                yield data


class _ClientConnection(BoundedConnection, ClientConnection):
    """Client's end.

    `answer` is what came before the handshake succeeded, `tls_error` what ended TLS after its own handshake.
    """

    answer = b""
    tls_error: ssl.SSLError | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._interim = InterimResponses()

    def data_received(self, data: bytes) -> None:
        """Take data from the socket; keep the answer to the handshake."""
        if self.response is None:
            if not self.answer:
                data = self._interim.skip(data)
            if len(self.answer) < MAX_ANSWER_BYTES:
                self.answer += data
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the loss; keep an error of TLS, which the library drops."""
        if isinstance(exc, ssl.SSLError):
            self.tls_error = exc
        super().connection_lost(exc)


SERVER_OPTIONS: dict[str, Any] = {
    "compression": None,
    "max_size": MAX_MESSAGE_BYTES,
    "close_timeout": CLOSE_TIMEOUT,
    "ping_interval": None,
}
"""Keyword arguments of `websockets.asyncio.server.serve` for the same limits."""

# At DEBUG the library logs the headers of the handshake, which have the key: never go below WARNING.
_logger = logging.getLogger("gemini_live_runtime.wire.websocket")
_logger.setLevel(logging.WARNING)


class WebSocketTransport:
    """End of an open WebSocket as a `Transport`."""

    __slots__ = ("_socket",)

    def __init__(self, socket: WebSocketConnection) -> None:
        self._socket = socket

    async def send(self, frame: str | bytes) -> None:
        """Send text or a binary message; raise `TransportClosed` at the end."""
        try:
            await self._socket.send(frame)
        except ConnectionClosed as error:
            raise _closed(error) from None

    def send_now(self, frame: str | bytes) -> bool:
        """Write one message to the socket at once; return False if it must wait.

        False means that nothing was written: earlier data waits in the write buffer, or the socket is closing.
        """
        # `send` would wait for a turn of the event loop, so this writes the data of the library's sans-I/O protocol to
        # the socket. Only with an empty buffer: without the back-pressure of `send` it would grow without limit.
        socket = self._socket
        if socket.state is not State.OPEN or socket.transport.is_closing() or socket.transport.get_write_buffer_size():
            return False
        protocol = socket.protocol
        if isinstance(frame, str):
            protocol.send_text(frame.encode())
        else:
            protocol.send_binary(frame)
        for data in protocol.data_to_send():
            socket.transport.write(data)
        return True

    async def recv(self) -> str | bytes:
        """Return the next message; raise `TransportClosed` at the end."""
        try:
            return await self._socket.recv()
        except ConnectionClosed as error:
            raise _closed(error) from None

    async def ping(self) -> float:
        """Return the seconds until the pong; raise `TransportClosed` at the end."""
        try:
            return await (await self._socket.ping())
        except ConnectionClosed as error:
            raise _closed(error) from None

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close, waiting at most `CLOSE_TIMEOUT` for the peer's close frame.

        `reason` is cut to `MAX_REASON_BYTES`.
        """
        try:
            async with asyncio.timeout(2 * CLOSE_TIMEOUT):
                await self._socket.close(code, reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore"))
        except TimeoutError:
            # The library's limit begins once its close frame is written: a dead socket with a full buffer takes none.
            self._socket.transport.abort()
            await self._socket.wait_closed()


def _closed(error: ConnectionClosed) -> TransportClosed:
    # This side fails a connection for a violation of the protocol (1002), invalid UTF-8 (1007), answers that are not
    # read (1008) or a message above the limit (1009). The peer then echoes the code, if it answers at all, so the order
    # tells whose it is.
    if error.sent is not None and error.sent.code in (1002, 1007, 1008, 1009) and not error.rcvd_then_sent:
        return TransportClosed(int(error.sent.code), error.sent.reason, by_us=True)
    if error.rcvd is not None:
        return TransportClosed(int(error.rcvd.code), error.rcvd.reason)
    cause = error.__cause__
    if isinstance(cause, ssl.SSLError):
        who = "the other side ended TLS" if _is_alert(cause) else "what came cannot be decrypted"
        return TransportClosed(1006, f"{who}: {_tls_words(cause)}")
    if isinstance(cause, ConnectionResetError | BrokenPipeError):
        return TransportClosed(1006, "the other side reset it")
    if isinstance(cause, OSError):
        return TransportClosed(1006, cause.strerror or str(cause))
    return TransportClosed(1006, "the other side ended it without a close")


class _Connect(websockets_connect):
    """Connect without redirects, which would send the credential to another host."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Return the exception, which the caller then raises."""
        return exc


async def open_websocket(endpoint: Endpoint, *, open_timeout: float = OPEN_TIMEOUT) -> Transport:
    """Open a client connection.

    Raises `UnreachableError` or `UpgradeRefusedError`, which name the host only: a URL may have secrets.
    """
    made: list[_ClientConnection] = []
    try:
        return WebSocketTransport(await _open(endpoint, open_timeout, made))
    except UnreachableError:
        # The library drops an answer that is not whole, though its beginning tells why.
        if made and (tls_error := made[-1].tls_error) is not None:
            raise _tls_failed(endpoint.host, tls_error) from None
        refused = _refusal(endpoint.host, made[-1].answer) if made else None
        if refused is None:
            raise
        raise refused from None


async def _open(endpoint: Endpoint, open_timeout: float, made: list[_ClientConnection]) -> ClientConnection:
    """Open a connection, which `made` gets as soon as it is there, without an answer."""

    def make(*args: Any, **options: Any) -> _ClientConnection:
        made.append(_ClientConnection(*args, **options))
        return made[-1]

    where = endpoint.host
    host = urlsplit(endpoint.url).hostname or ""
    is_direct = is_loopback(host)
    try:
        return await _Connect(
            endpoint.url,
            additional_headers=list(endpoint.headers),
            compression=None,
            max_size=MAX_MESSAGE_BYTES,
            close_timeout=CLOSE_TIMEOUT,
            ping_interval=None,
            open_timeout=open_timeout,
            user_agent_header="gemini-live-tui",
            proxy=None if is_direct else True,
            create_connection=cast("Any", make),  # any callable will do
            logger=_logger,
        )
    # Specific errors first: InvalidStatus is an InvalidHandshake, and TLS, DNS and refusal errors are OSErrors.
    except InvalidStatus as error:
        encoding = ",".join(error.response.headers.get_all("Content-Encoding")).encode()
        body = _decompressed(bytes(error.response.body or b""), encoding)
        raise upgrade_refused(where, error.response.status_code, body) from None
    except InvalidURI as error:
        raise _unreachable(f"The address of {where} is not a WebSocket URL: {error.msg}", "Check the URL") from None
    except (InvalidProxy, ProxyError, ImportError, OSError) as error:
        # A connection to the server is made once the proxy leads there.
        if not made and not is_direct and (proxy := proxy_for(endpoint.url)) is not None:
            raise proxy_failed(where, proxy, error) from None
        raise _not_reached(where, host, error, open_timeout) from None
    except EOFError:
        raise _broken_off(where, made) from None
    except (InvalidHandshake, ValueError) as error:
        if isinstance(error.__cause__, ConnectionError | EOFError):
            raise _broken_off(where, made) from None
        raise _no_websocket(where, error) if _is_http(made) else _broken_off(where, made) from None


def _is_http(made: list[_ClientConnection]) -> bool:
    """Return False when a server answered the handshake with something else."""
    return not (made and made[-1].answer) or b"HTTP/".startswith(made[-1].answer[:5])


def _not_reached(where: str, host: str, error: Exception, open_timeout: float) -> UnreachableError:
    """Return the error of a server that was not reached."""
    match error:
        case TimeoutError():
            return _unreachable(
                f"{where} did not answer within {open_timeout:g} s", "Check the network, then try again"
            )
        case ssl.SSLError():
            return _tls_failed(where, error)
        case socket.gaierror():
            return _unreachable(f"The host {host} cannot be found", "Check the address and the network")
        case ConnectionRefusedError():
            return _unreachable(f"Nothing listens at {where}", "Check the port, and that the server is running")
        case ConnectionError():
            return _broken_off(where, [])
        case OSError():
            why = f"{where} cannot be reached: {error.strerror or error}"
            return _unreachable(why, "Check the address and the network")
    return _unreachable(f"{where} cannot be reached: {error}", "Check HTTPS_PROXY and NO_PROXY")


def _refusal(where: str, answer: bytes) -> UpgradeRefusedError | None:
    """Return the error of a refusal that is not whole, None for another answer."""
    line = _STATUS_LINE.match(answer)
    if line is None:
        return None
    head, _, body = answer.partition(b"\r\n\r\n")
    encoding = _ENCODING.search(head)
    body = _decompressed(_unchunked(body) if _CHUNKED.search(head) else body, encoding[1] if encoding else b"")
    return upgrade_refused(where, int(line[1]), body, is_cut=True)


def _decompressed(body: bytes, encoding: bytes) -> bytes:
    """Return a body as far as it came, decompressed.

    That of an unknown encoding is empty.
    """
    match encoding.strip().lower():
        case b"" | b"identity":
            return body
        case b"gzip" | b"x-gzip" | b"deflate":
            import zlib  # here, because refusals are few

            with contextlib.suppress(zlib.error):
                return zlib.decompressobj(wbits=47).decompress(body, MAX_ANSWER_BYTES)
    return b""


def _unchunked(data: bytes) -> bytes:
    """Return the contents of the chunks that came (RFC 9112, 7.1)."""
    body, at = b"", 0
    while (line := _CHUNK_SIZE.match(data, at)) and (size := int(line[1], 16)):
        at = line.end() + size
        body += data[line.end() : at]
    return body


_UNTRUSTED_ISSUER = frozenset((18, 19, 20, 21))
"""OpenSSL's results of a verification that ended at an authority which is not trusted."""

_WRONG_TIME = frozenset((9, 10))
_ALERT = re.compile(r"(?:SSL|TLS)(?:V\d+)?_(?:TLS_)?(?:ALERT_)?([A-Z_]+)")


def _tls_words(error: ssl.SSLError) -> str:
    """Return OpenSSL's reason in words, such as "handshake failure"."""
    reason = error.reason or str(error)
    alert = _ALERT.fullmatch(reason)
    return (alert[1] if alert else reason).replace("_", " ").lower() if reason.isupper() else reason


def _is_alert(error: ssl.SSLError) -> bool:
    """Return True for an error that the other side reported."""
    return _ALERT.fullmatch(error.reason or "") is not None


def _tls_failed(where: str, error: ssl.SSLError) -> UnreachableError:
    """Return the error of a TLS handshake that failed: by whom, why, and the remedy."""
    if isinstance(error, ssl.SSLCertVerificationError):
        remedy = "Check the address"
        if error.verify_code in _WRONG_TIME:
            remedy = "Check the system clock; if it is right, only the server's owner can renew the certificate"
        elif error.verify_code in _UNTRUSTED_ISSUER:
            remedy = "Check the address; if you trust the authority, name its file in SSL_CERT_FILE"
        return _unreachable(f"The certificate of {where} is not trusted: {error.verify_message}", remedy)
    words = _tls_words(error)
    if "certificate required" in words:
        return _unreachable(
            f"{where} asks for a certificate of this client, which is not supported",
            "Use a server or a proxy that asks for none",
        )
    if _is_alert(error):
        return _unreachable(
            f"{where} ended the TLS handshake: {words}", "Check the address, and which TLS versions the server accepts"
        )
    return _unreachable(
        f"{where} does not speak TLS: {words}", "Check the port, and whether the address should begin with ws://"
    )


def _broken_off(where: str, made: list[_ClientConnection]) -> UnreachableError:
    answer = made[-1].answer if made else b""
    if answer[:1] in (b"\x15", b"\x16") and answer[1:2] == b"\x03":
        return _unreachable(f"{where} speaks TLS", "Begin the address with wss://")
    if not _is_http(made):
        return _no_websocket(where, InvalidMessage(f"it answered {answer[:60]!r}"))
    return _unreachable(
        f"{where} closed the connection during the handshake",
        "Try again; if it recurs, check the address, and whether it needs wss:// or ws://",
    )


def _no_websocket(where: str, error: Exception) -> UnreachableError:
    """Return the error of an answer that is no HTTP, or no upgrade to WebSocket."""
    is_http = not isinstance(error, InvalidMessage)
    problem = "answered the WebSocket handshake wrongly" if is_http else "does not speak WebSocket"
    cause = server_text(str(error.__cause__ or error), 100)
    return _unreachable(f"{where} {problem} ({cause})", "Check the address and the port")


def _unreachable(message: str, remedy: str) -> UnreachableError:
    return UnreachableError(redactor.text(message), remedy=remedy, field="url")
