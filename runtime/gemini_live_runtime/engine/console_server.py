"""Serve consoles on a Unix socket, or on loopback TCP with a token.

Both kinds carry the same lines (see `link`). The folder is 0700, the socket and the token's file are 0600, and where
the system tells the peer's user id, other users are refused. The umask is set while the socket is bound: between bind
and a later chmod another user could connect.

Each connection has three tasks: one sends the lines of its outbox, one reads commands, one waits for the outbox to end.
The first that finishes decides: a console that closed needs no farewell, one whose outbox ended has `FAREWELL_S` to
read the last lines, and the orders of one that fell behind are taken until it has read them. An outbox, not the
socket's buffer, holds what waits for a slow console, so that its bound counts everything.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from gemini_live_runtime import paths
from gemini_live_runtime.commands import HangUp
from gemini_live_runtime.engine.console_outbox import ConsoleOutbox
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.link import MAX_COMMAND_BYTES, Closed, check_hello, encode
from gemini_live_runtime.engine.peer import peer_uid
from gemini_live_runtime.engine.registry import SOCKET_FILE, TOKEN_FILE
from gemini_live_runtime.engine.status import EngineStatus
from gemini_live_runtime.errors import EngineError, NewerFormatError, ProtocolError

ServerKind = Literal["unix", "tcp"]

MAX_CONSOLES = 16
"""Consoles attached at once; a further one is refused."""

MAX_HELLOS = 16
"""Connections that have not sent their hello yet; a further one is refused."""

MAX_MALFORMED = 50
"""Malformed lines a console may send before its link ends."""

HELLO_S = 5.0
"""Seconds for a console to send its hello."""

FAREWELL_S = 5.0
"""Seconds for a console to read the remaining lines once its link has ended."""

LINGER_S = 60.0
"""Seconds for which commands are taken from a console that fell behind and was let go."""

POKED = b'{"poked": true}\n'
"""Answer to a poke, after which the connection ends."""

_POKE = "poke"
_STATUS = "status"

_MAX_SOCKET_PATH = 103
"""Bytes of a socket's path on macOS, the shortest limit."""


def default_kind() -> ServerKind:
    """Return `unix` where the system and asyncio support it, else `tcp`."""
    return "unix" if hasattr(socket, "AF_UNIX") and hasattr(asyncio, "start_unix_server") else "tcp"


class ConsoleServer:
    """Server that listens in `folder` and attaches each console to `hub`.

    `submit(line)` gets a console's lines and returns True when the line was a command; it must not block.
    """

    def __init__(
        self,
        hub: Hub,
        folder: Path,
        submit: Callable[[bytes], bool],
        *,
        kind: ServerKind | None = None,
        on_poke: Callable[[], None] = lambda: None,
        status: Callable[[], EngineStatus] | None = None,
    ) -> None:
        """Create a server.

        A program's poke, that records have changed, calls `on_poke`; one that asks gets the `status`.
        """
        self._hub = hub
        self._folder = folder
        self._submit = submit
        self._on_poke = on_poke
        self._status = status
        self._kind: ServerKind = kind or default_kind()
        self._token = ""
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()
        self._hellos_awaited = 0

    async def open(self) -> None:
        """Start to listen; raises `EngineError` when that fails."""
        try:
            paths.own_folder(self._folder, create=True)
            if self._kind == "unix":
                await self._open_unix()
            else:
                await self._open_tcp()
        except OSError as error:
            raise EngineError(
                f"The engine cannot listen in {self._folder}: {error.strerror or error}",
                remedy="Set XDG_RUNTIME_DIR to a folder of your own",
                field="runtime folder",
            ) from None

    async def _open_unix(self) -> None:
        path = self._folder / SOCKET_FILE
        if len(os.fsencode(path)) > _MAX_SOCKET_PATH:
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
        self._server = await asyncio.start_unix_server(self._accept, sock=listener, limit=MAX_COMMAND_BYTES)

    async def _open_tcp(self) -> None:
        self._token = secrets.token_hex(32)
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=MAX_COMMAND_BYTES)
        port = self._server.sockets[0].getsockname()[1]
        paths.write_private(self._folder / TOKEN_FILE, {"port": port, "token": self._token})

    async def close(self) -> None:
        """Stop listening, and let attached consoles read their last lines.

        Connections that take longer than `FAREWELL_S` are cut.
        """
        if self._server is not None:
            self._server.close()
        for name in (SOCKET_FILE, TOKEN_FILE):
            with contextlib.suppress(OSError):
                (self._folder / name).unlink()
        if self._connections:
            _, late = await asyncio.wait(self._connections, timeout=FAREWELL_S)
            for visit in late:
                visit.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    # -- one connection ---------------------------------------------------------------------------------------------

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections.add(visit)
        visit.add_done_callback(self._connections.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # high=0: `drain` returns only when the kernel has everything, so lines wait in the outbox, which is bounded.
        writer.transport.set_write_buffer_limits(high=0)
        try:
            refusal = await self._admit(reader, writer)
            if refusal:
                writer.write(self._answer(refusal))
                async with asyncio.timeout(FAREWELL_S):
                    await writer.drain()
            else:
                await self._exchange(reader, writer)
        except (OSError, TimeoutError):
            pass  # the console is gone, as at the end of most connections
        finally:
            # Closing would wait for a console that does not read: abort instead.
            if writer.transport.get_write_buffer_size():
                writer.transport.abort()
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    def _answer(self, refusal: str) -> bytes:
        """Return the only line for a connection that attaches no console."""
        if refusal == _POKE:
            return POKED
        if refusal == _STATUS and self._status is not None:
            return json.dumps({_STATUS: asdict(self._status())}).encode() + b"\n"
        return f"{encode(Closed(refusal))}\n".encode()

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        """Return why this console is refused, or "" when it is admitted.

        `_POKE` after a poke and `_STATUS` after a question for it, which attach nothing.
        """
        caller = peer_uid(writer.get_extra_info("socket"))
        if caller is not None and caller != os.getuid():
            return "This engine belongs to another user"
        if self._hellos_awaited >= MAX_HELLOS:
            return f"{MAX_HELLOS} consoles are attaching to this engine already; try again in a moment"
        refusal = await self._refusal_of_hello(reader)
        # Only now, after the last wait before `attach`: consoles may have come meanwhile.
        if not refusal and self._hub.consoles >= MAX_CONSOLES:
            return f"This engine has {MAX_CONSOLES} consoles already; close one of them and attach again"
        return refusal

    async def _refusal_of_hello(self, reader: asyncio.StreamReader) -> str:
        from gemini_live_runtime import vocabulary

        self._hellos_awaited += 1
        try:
            async with asyncio.timeout(HELLO_S):
                line = await reader.readline()
            first = vocabulary.parse_object(line, "hello")
            kind = next((name for name in (_POKE, _STATUS) if name in first), "hello")
            hello = first.get(kind)
            token = hello.get("token") if isinstance(hello, dict) else None
            if self._token and not (
                isinstance(token, str) and hmac.compare_digest(token.encode("utf-8", "replace"), self._token.encode())
            ):
                return "The token is wrong"
            if kind == _POKE:
                self._on_poke()
            if kind != "hello":
                return kind
            check_hello(hello, "The console")
        except TimeoutError:
            return f"No hello within {HELLO_S:.0f} s"
        except ValueError:
            return "The hello is too long"
        except ProtocolError:
            return "The first line of a console must be a hello of gemini-live-tui"
        except NewerFormatError as error:
            return f"{error.message}. Attach with the version of gemini-live-tui that started this engine"
        finally:
            self._hellos_awaited -= 1
        return ""

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        outbox = self._hub.attach()
        loop = asyncio.get_running_loop()
        pump = loop.create_task(_send_lines(outbox, writer))
        listen = loop.create_task(self._receive_lines(reader, outbox))
        ended = loop.create_task(outbox.ended.wait())
        try:
            await asyncio.wait({pump, listen, ended}, return_when=asyncio.FIRST_COMPLETED)
            if outbox.ended.is_set() and not listen.done():
                await asyncio.wait({pump}, timeout=FAREWELL_S)
                if outbox.fell_behind:
                    self._hub.detach(outbox)
                    # What it orders before it has read so far must not be lost: it closes the link itself then.
                    await asyncio.wait({listen}, timeout=LINGER_S)
        finally:
            self._hub.detach(outbox)
            for task in (pump, listen, ended):
                task.cancel()
            await asyncio.gather(pump, listen, ended, return_exceptions=True)

    async def _receive_lines(self, reader: asyncio.StreamReader, outbox: ConsoleOutbox) -> None:
        malformed = 0
        while True:
            try:
                line = await reader.readline()
            except ValueError:
                outbox.end(encode(Closed(f"A line from the console was longer than {MAX_COMMAND_BYTES:,} bytes")))
                await asyncio.Event().wait()  # until the caller, which waits for the last line, cancels this task
            if not line.endswith(b"\n"):
                return
            if not self._submit(line):
                malformed += 1
            elif _is_hang_up(line):
                outbox.leave()
            if malformed > MAX_MALFORMED:
                outbox.end(encode(Closed(f"The console sent {malformed} lines that are no commands")))
                await asyncio.Event().wait()


def _is_hang_up(line: bytes) -> bool:
    """Return True for a hang-up, after which a console only waits for the end."""
    return HangUp.command.encode() in line and json.loads(line).get("command") == HangUp.command


async def _send_lines(outbox: ConsoleOutbox, writer: asyncio.StreamWriter) -> None:
    while lines := await outbox.take():
        writer.write("".join(f"{line}\n" for line in lines).encode())
        await writer.drain()
