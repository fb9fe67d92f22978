"""Run a server of WebSockets for the tests of the client's transport."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.codec import decode_client
from gemini_live_runtime.wire.credentials import Credential
from gemini_live_runtime.wire.websocket import SERVER_OPTIONS, WebSocketTransport

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


def reset_connection(writer: asyncio.StreamWriter) -> None:
    """Close without lingering, which sends a reset instead of an orderly end."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
