"""The engine's door: where consoles attach. A Unix socket, or loopback TCP with a token where there are none.

Both kinds speak the same lines (see `link`). The folder is 0700, the socket and the token's file are 0600, and where
the system tells who is calling, other users are turned away.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import secrets
import socket
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from gemini_live_runtime import paths
from gemini_live_runtime.engine.hub import Hub, Outlet
from gemini_live_runtime.engine.link import MAX_COMMAND_BYTES, Closed, encode
from gemini_live_runtime.errors import EngineError, GeminiLiveError, ProtocolError

DoorKind = Literal["unix", "tcp"]

SOCKET_FILE = "door"
TOKEN_FILE = "door.json"  # noqa: S105 - a file name
MAX_CONSOLES = 16
MAX_MALFORMED = 50
"""Malformed lines a console may send before its link ends."""

HELLO_S = 5.0
"""Seconds a caller has to say hello."""

FAREWELL_S = 5.0
"""Seconds a console has to read what is left once its link has ended."""

_SOCKET_PATH_LIMIT = 103


def default_kind() -> DoorKind:
    """`unix` where the system and asyncio have such sockets, else `tcp`."""
    return "unix" if hasattr(socket, "AF_UNIX") and hasattr(asyncio, "start_unix_server") else "tcp"


class Door:
    """Listens in `folder`; every console that enters is attached to `hub`, its lines go to `submit`.

    `submit(line)` answers whether the line was a command; it must not block.
    """

    def __init__(
        self, hub: Hub, folder: Path, submit: Callable[[bytes], bool], *, kind: DoorKind | None = None
    ) -> None:
        self._hub = hub
        self._folder = folder
        self._submit = submit
        self._kind: DoorKind = kind or default_kind()
        self._token = ""
        self._server: asyncio.Server | None = None
        self._visits: set[asyncio.Task[None]] = set()

    async def open(self) -> None:
        """Start to listen; raises `EngineError` when the door cannot be made."""
        try:
            paths.private_dir(self._folder)
            if self._kind == "unix":
                await self._open_unix()
            else:
                await self._open_tcp()
        except OSError as error:
            raise EngineError(
                f"The engine's door in {self._folder} cannot be opened: {error.strerror or error}",
                remedy="Set XDG_RUNTIME_DIR to a folder of your own",
                field="runtime folder",
            ) from None

    async def _open_unix(self) -> None:
        path = self._folder / SOCKET_FILE
        if len(os.fsencode(path)) > _SOCKET_PATH_LIMIT:
            raise EngineError(
                f"The path {path} is too long for a socket", remedy="Set XDG_RUNTIME_DIR to a shorter one", field="path"
            )
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        before = os.umask(0o177)
        try:
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(os.fspath(path))
        finally:
            os.umask(before)
        self._server = await asyncio.start_unix_server(self._enter, sock=listener, limit=MAX_COMMAND_BYTES)

    async def _open_tcp(self) -> None:
        self._token = secrets.token_hex(32)
        self._server = await asyncio.start_server(self._enter, "127.0.0.1", 0, limit=MAX_COMMAND_BYTES)
        port = self._server.sockets[0].getsockname()[1]
        paths.write_private(self._folder / TOKEN_FILE, {"port": port, "token": self._token})

    async def close(self) -> None:
        """Let nobody in any more, give the consoles inside `FAREWELL_S` to read their last lines, remove the door."""
        if self._server is not None:
            self._server.close()
        for name in (SOCKET_FILE, TOKEN_FILE):
            with contextlib.suppress(OSError):
                (self._folder / name).unlink()
        if self._visits:
            _, late = await asyncio.wait(self._visits, timeout=FAREWELL_S)
            for visit in late:
                visit.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # -- one visit --------------------------------------------------------------------------------------------------

    def _enter(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.get_running_loop().create_task(self._visit(reader, writer))
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # `drain` returns once everything is with the kernel: what waits for a slow console waits in its outlet.
        writer.transport.set_write_buffer_limits(high=0)
        try:
            refusal = await self._admit(reader, writer)
            if refusal:
                writer.write(f"{encode(Closed(refusal))}\n".encode())
                async with asyncio.timeout(FAREWELL_S):
                    await writer.drain()
            else:
                await self._converse(reader, writer)
        except (OSError, TimeoutError):
            pass  # the console is gone, which is how most visits end
        finally:
            # What a console has not read by now it will not read.
            if writer.transport.get_write_buffer_size():
                writer.transport.abort()
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        """Why this caller may not enter; empty for one who may."""
        from gemini_live_runtime import vocabulary

        caller = peer_uid(writer.get_extra_info("socket"))
        if caller is not None and caller != os.getuid():
            return "This engine belongs to another user"
        if self._hub.consoles >= MAX_CONSOLES:
            return f"This engine has {MAX_CONSOLES} consoles already"
        try:
            async with asyncio.timeout(HELLO_S):
                line = await reader.readline()
            hello = vocabulary.parse_object(line, "hello").get("hello")
            token = hello.get("token") if isinstance(hello, dict) else None
            if self._token and not (
                isinstance(token, str) and hmac.compare_digest(token.encode(), self._token.encode())
            ):
                return "The token is wrong"
            vocabulary.check_header(hello, where="The console")
        except TimeoutError:
            return f"No hello came within {HELLO_S:.0f} s"
        except ValueError:
            return "The hello is too long"
        except ProtocolError:
            return "A console must first say hello"
        except GeminiLiveError as error:
            return str(error)
        return ""

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        outlet = self._hub.attach()
        loop = asyncio.get_running_loop()
        pump = loop.create_task(_pump(outlet, writer))
        listen = loop.create_task(self._listen(reader, outlet))
        ended = loop.create_task(outlet.ended.wait())
        try:
            await asyncio.wait({pump, listen, ended}, return_when=asyncio.FIRST_COMPLETED)
            if outlet.ended.is_set() and not listen.done():
                await asyncio.wait({pump}, timeout=FAREWELL_S)
        finally:
            self._hub.detach(outlet)
            for task in (pump, listen, ended):
                task.cancel()
            await asyncio.gather(pump, listen, ended, return_exceptions=True)

    async def _listen(self, reader: asyncio.StreamReader, outlet: Outlet) -> None:
        malformed = 0
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                outlet.end(encode(Closed(f"A line from the console was longer than {MAX_COMMAND_BYTES:,} bytes")))
                await asyncio.Event().wait()  # until the last line is out
            if not line.endswith(b"\n"):
                return
            if not self._submit(line):
                malformed += 1
            if malformed > MAX_MALFORMED:
                outlet.end(encode(Closed(f"The console sent {malformed} lines that are no commands")))
                await asyncio.Event().wait()


async def _pump(outlet: Outlet, writer: asyncio.StreamWriter) -> None:
    while lines := await outlet.take():
        writer.write("".join(f"{line}\n" for line in lines).encode("ascii"))
        await writer.drain()


def peer_uid(connection: Any) -> int | None:
    """The user at the other end of a Unix socket; None where the system does not tell."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None or connection is None or connection.family != getattr(socket, "AF_UNIX", None):
        return None
    _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return int(uid)
