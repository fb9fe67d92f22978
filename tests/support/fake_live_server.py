"""Fake Live server that misbehaves as scripted, in a thread of its own.

The command line under test runs in the test's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import http
import json
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from tests.support.patience import PATIENCE_S
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

Behaviour = Callable[[ServerConnection], Awaitable[None]]
GENERATION_COMPLETE: dict[str, Any] = {"serverContent": {"generationComplete": True}}
TURN_COMPLETE: dict[str, Any] = {"serverContent": {"turnComplete": True}}
SETUP_COMPLETE: dict[str, Any] = {"setupComplete": {}}


async def send(socket: ServerConnection, *messages: dict[str, Any]) -> None:
    """Send messages as JSON text frames."""
    for message in messages:
        await socket.send(json.dumps(message))


async def accept_setup(socket: ServerConnection) -> dict[str, Any]:
    """Answer the setup; the setup."""
    setup: dict[str, Any] = json.loads(await socket.recv())
    await send(socket, SETUP_COMPLETE)
    return setup


async def next_text(socket: ServerConnection) -> dict[str, Any]:
    """Return the client's next message other than audio."""
    while True:
        message: dict[str, Any] = json.loads(await socket.recv())
        if "audio" not in message.get("realtimeInput", {}):
            return message


def answers(*messages: dict[str, Any]) -> Behaviour:
    """Accept the setup; answer each text with `messages` and the end of the turn."""

    async def behave(socket: ServerConnection) -> None:
        await accept_setup(socket)
        while True:
            message = await next_text(socket)
            if "toolResponse" in message:
                continue
            await send(socket, *messages, GENERATION_COMPLETE, TURN_COMPLETE)

    return behave


def says(text: str) -> dict[str, Any]:
    """Return a message with words of the model."""
    return {"serverContent": {"outputTranscription": {"text": text}}}


class FakeLiveServer:
    """Server on loopback, running while entered.

    `headers` are those of each requested upgrade, in lower case.
    """

    def __init__(self, behaviour: Behaviour | None = None, *, status: int = 0, body: str = "") -> None:
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.url = ""
        self._behaviour = behaviour or answers(says("Hello."))
        self._status = status
        self._body = body
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), name="fake live server")

    def __enter__(self) -> FakeLiveServer:
        self._thread.start()
        assert self._ready.wait(PATIENCE_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        async with serve(
            self._serve, "127.0.0.1", 0, process_request=self._request, compression=None, close_timeout=0.2
        ) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            self.url = f"ws://127.0.0.1:{port}"
            self._ready.set()
            await self._stop.wait()

    async def _serve(self, socket: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            await self._behaviour(socket)

    def _request(self, socket: ServerConnection, request: Request) -> Response | None:
        self.headers.append({name.lower(): value for name, value in request.headers.raw_items()})
        self.paths.append(request.path)
        return socket.respond(http.HTTPStatus(self._status), self._body) if self._status else None


class RawServer:
    """TCP server that answers any input with `data` and hangs up, without WebSocket."""

    def __init__(self, data: bytes) -> None:
        import socketserver

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                self.request.recv(65536)
                self.request.sendall(data)

        self._server = socketserver.TCPServer(("127.0.0.1", 0), Handler)
        self.url = f"ws://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> RawServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(PATIENCE_S)
