"""Serve the Live protocol on sockets and in-memory connections.

Each connection gets a `LiveSession`; the server holds the state that sessions share.
"""

from __future__ import annotations

import asyncio
import hmac
import http
import logging
import re
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.frames import Frame, Opcode
from websockets.http11 import Request, Response
from websockets.protocol import State
from websockets.server import ServerProtocol

from gemini_live_runtime.errors import UsageError
from gemini_live_runtime.local.default_parts import DefaultParts
from gemini_live_runtime.local.faults import Fault, FaultSchedule
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.parts import Parts
from gemini_live_runtime.local.protocol.function_calls import CallIds
from gemini_live_runtime.local.protocol.handles import Handles
from gemini_live_runtime.local.protocol.live_session import LiveSession
from gemini_live_runtime.local.protocol.refusal import FAILURE, UNAVAILABLE
from gemini_live_runtime.local.protocol.simulated_faults import PONG_S
from gemini_live_runtime.wire.closes import upgrade_refused
from gemini_live_runtime.wire.transport import MemoryTransport, Transport
from gemini_live_runtime.wire.websocket import SERVER_OPTIONS, BoundedConnection, WebSocketTransport

__all__ = ["LocalServer", "ServerOptions"]

MAX_CONNECTIONS = 64
"""Most connections at a time; more are refused (1011)."""

STOP_S = 3.0
"""Seconds that `stop` waits for sessions to close their parts."""

_PATH = re.compile(r"BidiGenerateContent(Constrained)?$")

# The library would log a traceback for each failed handshake, which is the client's fault.
_logger = logging.getLogger("gemini_live_runtime.local.websockets")
_logger.setLevel(logging.CRITICAL)


class LocalServer:
    """Embedded Live server that plays scripted dialogues.

    `start` listens on a socket; `connect` gives an in-memory end and needs no `start`. All connections share handles,
    call ids and faults. `parts` defaults to the real ones, with the script of the options.
    """

    def __init__(self, options: ServerOptions | None = None, parts: Parts | None = None) -> None:
        self.options = options or ServerOptions()
        self.parts: Parts = parts if parts is not None else DefaultParts(self.options.script)
        self.handles = Handles()
        self.call_ids = CallIds()
        self.open_sessions: dict[str, LiveSession] = {}
        self.faults = FaultSchedule(self.options.faults, self.options.fault_seed)
        self._sessions: dict[asyncio.Task[None], LiveSession | None] = {}
        self._server: Server | None = None

    @property
    def connections(self) -> int:
        """Number of open connections."""
        return len(self._sessions)

    async def start(self) -> str:
        """Listen and return `ws://HOST:PORT`; raise `UsageError` if not possible."""
        host, port = self.options.host, self.options.port
        try:
            self._server = await serve(
                self._accept,
                host,
                port,
                create_connection=_LateServerConnection if self.faults.holds(Fault.LATE_PONGS) else _ServerConnection,
                process_request=self._check_request,
                logger=_logger,
                **SERVER_OPTIONS,
            )
        except OSError as error:
            raise UsageError(
                f"The server cannot listen on {host} port {port}: {error.strerror or error}",
                remedy="Choose another --host or --port; port 0 takes a free one",
                field="port",
                value=port,
            ) from None
        bound = next(iter(self._server.sockets)).getsockname()
        name = f"[{host}]" if ":" in host else host
        return f"ws://{name}:{bound[1]}"

    async def stop(self) -> None:
        """Close every connection (1001) and the socket; idempotent."""
        if self._server is not None:
            self._server.close()
        sessions = dict(self._sessions)
        await asyncio.gather(*(s.shut(1001, "The server is shutting down.") for s in sessions.values() if s))
        if sessions:
            _, left = await asyncio.wait(sessions, timeout=STOP_S)
            for task in left:
                task.cancel()
        if self._server is not None:
            server, self._server = self._server, None
            await server.wait_closed()

    def connect(self) -> Transport:
        """Return the client's end of a new in-memory connection.

        Raises `UpgradeRefusedError` where a simulated fault refuses it.
        """
        status = self.faults.upgrade_status(asyncio.get_running_loop().time())
        if status:
            raise upgrade_refused("The embedded server", status)
        ours, theirs = MemoryTransport.pair()
        task = asyncio.create_task(self._serve(ours))
        self._track(task)
        return theirs

    def _track(self, task: asyncio.Task[None]) -> None:
        self._sessions[task] = None
        task.add_done_callback(lambda done: self._sessions.pop(done, None))

    def _check_request(self, socket: ServerConnection, request: Request) -> Response | None:
        """Return the refusal of a client; None admits it."""
        token = self.options.token
        given = " ".join(request.headers.get_all("Authorization"))
        if token and not hmac.compare_digest(given.encode("utf-8", "replace"), f"Bearer {token}".encode()):
            return socket.respond(
                http.HTTPStatus.UNAUTHORIZED,
                "This server is for one engine. For other clients run: gemini-live-tui serve-local\n",
            )
        status = self.faults.upgrade_status(asyncio.get_running_loop().time())
        if status:
            return socket.respond(http.HTTPStatus(status), "A simulated fault.\n")
        return _check_path(socket, request)

    async def _accept(self, socket: ServerConnection) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._track(task)
        await self._serve(_Socket(socket))

    async def _serve(self, transport: Transport) -> None:
        if len(self._sessions) > MAX_CONNECTIONS:
            await transport.close(FAILURE, UNAVAILABLE)
            return
        session = LiveSession(transport, self)
        task = asyncio.current_task()
        if task is not None:
            self._sessions[task] = session
        await session.run()


class _ServerConnection(BoundedConnection, ServerConnection):
    """Server's end."""


class _LateServerConnection(_ServerConnection):
    """Server's end that answers pings late."""

    def __init__(self, protocol: ServerProtocol, *args: Any, **options: Any) -> None:
        super().__init__(protocol, *args, **options)
        self._send_frame = protocol.send_frame
        protocol.send_frame = self._send_late  # type: ignore[method-assign]

    def _send_late(self, frame: Frame) -> None:
        if frame.opcode is Opcode.PONG:
            self.loop.call_later(PONG_S, self._pong, frame)
        else:
            self._send_frame(frame)

    def _pong(self, frame: Frame) -> None:
        if self.state is State.OPEN:
            self._send_frame(frame)
            for data in self.protocol.data_to_send():
                self.transport.write(data)


class _Socket(WebSocketTransport):
    """Server's socket that can be aborted."""

    __slots__ = ()

    def abort(self) -> None:
        """Break the connection without a close frame."""
        self._socket.transport.abort()


def _check_path(socket: ServerConnection, request: Request) -> Response | None:
    if _PATH.search(urlsplit(request.path).path):
        return None
    return socket.respond(
        http.HTTPStatus.NOT_FOUND, "This is a Live server: connect to a path that ends in BidiGenerateContent.\n"
    )
