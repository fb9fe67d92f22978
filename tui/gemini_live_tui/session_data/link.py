"""Read the session's link into the store, send commands in order, hang up."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable

from gemini_live_runtime.commands import Command, HangUp, Order
from gemini_live_runtime.engine.link import Bye, Link, LinkClosed
from gemini_live_runtime.errors import GeminiLiveError, NewerFormatError, ProtocolError
from gemini_live_tui.session_data.store import NotSent, Store

LinkSource = Callable[[], Awaitable[Link]]
"""Starts or finds an engine and returns the link to it; raises `GeminiLiveError` with a sentence."""

MAX_UNSENT = 256
"""Commands waiting to go out; more are refused with a sentence."""

MAX_BAD_LINES = 20
"""Lines in a row that cannot be decoded before the link is given up."""


class SessionLink:
    """Link of one session, from opening to the engine's last message.

    `failed` receives commands that were queued but could not be handed over, with a sentence.
    """

    def __init__(self, source: LinkSource, store: Store, failed: Callable[[Command, str], None]) -> None:
        self._source = source
        self._store = store
        self._failed = failed
        self._link: Link | None = None
        self._outbox: asyncio.Queue[Command] = asyncio.Queue(MAX_UNSENT)
        self._count = 0
        self._ended = asyncio.Event()
        self.bad_lines = 0

    async def run(self) -> None:
        """Open the link and read it to its end; report every ending to the store."""
        try:
            self._link = await self._open()
            writer = asyncio.create_task(self._write(self._link))
            try:
                await self._read(self._link)
            finally:
                writer.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await writer
        except LinkClosed as end:
            self._store.lose(end.reason)
        except GeminiLiveError as error:
            self._store.lose(str(error))
        except OSError as error:
            self._store.lose(f"The link to the engine failed: {error.strerror or error}.")
        except Exception as error:
            self._store.lose(f"The console cannot follow the session: {type(error).__name__}: {error}")
        finally:
            self._ended.set()
            self._refuse_the_rest()

    async def _open(self) -> Link:
        opening = asyncio.ensure_future(self._source())
        try:
            # Import the decoder while the engine starts. It takes tens of milliseconds,
            # so not on the loop that answers keys.
            await asyncio.sleep(0)
            await asyncio.to_thread(_import_vocabulary)
            return await opening
        finally:
            opening.cancel()

    async def _read(self, link: Link) -> None:
        bad = 0
        while True:
            try:
                message = await link.receive()
            except NewerFormatError:
                raise
            except ProtocolError:
                self.bad_lines += 1
                bad += 1
                if bad >= MAX_BAD_LINES:
                    raise
                continue
            bad = 0
            await self._store.put(message)
            if isinstance(message, Bye):
                return

    async def _write(self, link: Link) -> None:
        while True:
            command = await self._outbox.get()
            try:
                await link.send(command)
            except (LinkClosed, OSError) as error:
                self._failed(command, getattr(error, "reason", "") or "The engine does not answer.")

    def _refuse_the_rest(self) -> None:
        while not self._outbox.empty():
            self._failed(self._outbox.get_nowait(), "The engine is gone.")

    def send(self, order: Order) -> str:
        """Queue a command and return its id; raise `NotSent`."""
        if self._ended.is_set():
            raise NotSent("The session is over.")
        if self._link is None:
            raise NotSent("The engine is not ready yet.")
        self._count += 1
        # Several consoles may be attached to one engine: the process number keeps their ids apart.
        command = Command(f"c{os.getpid()}-{self._count}", order)
        try:
            self._outbox.put_nowait(command)
        except asyncio.QueueFull:
            raise NotSent("The engine does not take commands at the moment.") from None
        return command.id

    async def hang_up(self, timeout_s: float) -> None:
        """Ask the engine to end and wait at most `timeout_s` for its last message."""
        with contextlib.suppress(NotSent):
            self.send(HangUp())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), timeout_s)

    async def close(self) -> None:
        """Close the link."""
        if self._link is not None:
            with contextlib.suppress(LinkClosed, OSError):
                await self._link.close()


def _import_vocabulary() -> None:
    import gemini_live_runtime.vocabulary  # noqa: F401
