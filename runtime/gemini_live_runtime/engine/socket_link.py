"""Link a console to an engine in another process, over its socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from pathlib import Path

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Command, HangUp
from gemini_live_runtime.engine.link import MAX_LINE_BYTES, LinkClosed, LinkMessage, decode, is_about_the_end
from gemini_live_runtime.engine.peer import peer_uid
from gemini_live_runtime.engine.registry import SOCKET_FILE, TOKEN_FILE, read_token
from gemini_live_runtime.errors import EngineError

_GONE = "The engine is gone"

_HEAD_BYTES = 400
"""Bytes of a line that tell whether it is about the end."""

_LONG_LINE = 128 * 1024
"""Bytes from which a line is decoded in a thread."""


class SocketLink:
    """Link to an engine in another process."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, folder: Path) -> None:
        self._folder = folder
        self._reader = reader
        self._writer = writer
        self._closed = ""
        self._is_leaving = False
        """True after a hang-up: of the events only those about the end are read."""

    @classmethod
    async def connect(cls, folder: Path) -> SocketLink:
        """Connect to the engine of `folder`.

        Raises `OSError` when none answers, and `EngineError` when another user's process does.
        """
        connection, token = await _connected(folder)
        hello = {"format": ev.FORMAT, "version": ev.VERSION, **({"token": token} if token else {})}
        try:
            # An engine may refuse without reading the hello: what it wrote is read all the same.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                await asyncio.get_running_loop().sock_sendall(connection, json.dumps({"hello": hello}).encode() + b"\n")
            reader, writer = await asyncio.open_connection(sock=connection, limit=MAX_LINE_BYTES)
        except BaseException:
            connection.close()
            raise
        return cls(reader, writer, folder)

    async def receive(self) -> LinkMessage:
        """Wait for the next message.

        Raises `LinkClosed` when the engine is gone, `ProtocolError` for a malformed line.
        """
        if self._closed:
            raise LinkClosed(self._closed)
        try:
            line = await self._read_line()
        except OSError:
            line = b""
        if not line.endswith(b"\n"):
            await self._end(self._closed or _GONE)
            raise LinkClosed(self._closed)
        try:
            # A long snapshot takes tens of milliseconds, in which the console must answer keys.
            return decode(line) if len(line) < _LONG_LINE else await asyncio.to_thread(decode, line)
        except LinkClosed as closed:
            await self._end(closed.reason)
            raise

    async def _read_line(self) -> bytes:
        """Return the next line; b"" at the end.

        Skips those that are too long, and after a hang-up what is not about the end.
        """
        skipping = False
        while True:
            try:
                line = await self._reader.readuntil()
            except asyncio.IncompleteReadError:
                return b""
            except asyncio.LimitOverrunError as over:
                await self._reader.readexactly(over.consumed)
                skipping = True
                continue
            if not skipping and (
                not self._is_leaving or is_about_the_end(line[:_HEAD_BYTES].decode("utf-8", "replace"))
            ):
                return line
            skipping = False  # this was the end of the long line

    async def send(self, command: Command) -> None:
        """Send a command to the engine; raises `LinkClosed`."""
        if self._closed or self._writer.is_closing():
            raise LinkClosed(self._closed or _GONE)
        self._is_leaving = self._is_leaving or isinstance(command.order, HangUp)
        try:
            self._writer.write(command.to_line().encode("ascii") + b"\n")
            await self._writer.drain()
        except OSError:
            raise LinkClosed(_GONE) from None

    async def close(self) -> None:
        """Detach from the engine, which keeps running."""
        await self._end(self._closed or "The console has detached")

    async def reattach(self) -> SocketLink:
        """Return a new link to the same engine; raises `OSError` when none answers."""
        return await self.connect(self._folder)

    async def _end(self, reason: str) -> None:
        self._closed = reason
        self._writer.close()
        with contextlib.suppress(OSError):
            await self._writer.wait_closed()


async def _connected(folder: Path) -> tuple[socket.socket, str]:
    """Return a socket connected to the engine of `folder`, and its token.

    Raises `OSError` when none answers, and `EngineError` when another user's process does.
    """
    socket_path = folder / SOCKET_FILE
    if (folder / TOKEN_FILE).exists() or sys.platform == "win32":
        port, token = read_token(folder)
        address: tuple[str, int] | str = ("127.0.0.1", port)
        connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    else:
        token, address = "", os.fspath(socket_path)
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.setblocking(False)
        await asyncio.get_running_loop().sock_connect(connection, address)
        listener = peer_uid(connection)
        if listener is not None and listener != os.getuid():
            raise EngineError(
                f"The process that listens at {socket_path} belongs to another user",
                remedy="Set XDG_RUNTIME_DIR to a folder of your own",
                field="runtime folder",
                value=str(folder),
            )
    except BaseException:
        connection.close()
        raise
    return connection, token
