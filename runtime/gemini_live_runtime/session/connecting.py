"""A session's connections: made, read to their end, left in time, and made again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.errors import GeminiLiveError, ProtocolError, SetupRejectedError
from gemini_live_runtime.journal.wire_recorder import WireRecorder
from gemini_live_runtime.session.effects import Effect
from gemini_live_runtime.session.reconnecting import Reconnecting
from gemini_live_runtime.text import redactor
from gemini_live_runtime.wire.connection import MAX_UNREADABLE, Connection
from gemini_live_runtime.wire.messages import AudioFrame

if TYPE_CHECKING:
    from gemini_live_runtime.session.conductor import Conductor
    from gemini_live_runtime.session.core import SessionCore
    from gemini_live_runtime.session.wire_writer import WireWriter

LEAVE_EARLY_S = 2.0
"""Seconds before the server closes at which the connection is left, whatever is going on."""

LEAVE_QUIET_S = 0.5
"""Seconds of quiet that are taken as a pause in which to leave."""


PING_EVERY_S = 30.0
"""Seconds between measurements of the way to the server and back."""

LATEST_PONG_S = 5.0
"""Seconds after which an answer says something of the server's mood, not of the way: some come half a minute late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What is needed to open a session's connections.

    `connect(recorder, instruction, handle)` begins a session with that instruction, or takes one up again where
    `handle` is not empty; it raises `GeminiLiveError`.
    """

    url: str
    connect: Callable[[WireRecorder, str, str], Awaitable[Connection]]
    deaf: str = ""
    """Why the server recognises no speech, as far as that is known; the session is typed then."""


class WireLife:
    """The connections of one session, one after the other."""

    def __init__(
        self,
        core: SessionCore,
        conductor: Conductor,
        writer: WireWriter,
        recorder: WireRecorder,
        *,
        opening: Callable[[], Awaitable[Opening]],
        clock: Clock,
        perform: Callable[[list[Effect]], None],
        emit: Callable[[ev.Payload], None],
        pause: Callable[[float], Awaitable[None]],
    ) -> None:
        """`pause(seconds)` returns once the session has been quiet for so long."""
        self._core = core
        self._conductor = conductor
        self._writer = writer
        self._recorder = recorder
        self._opening = opening
        self._clock = clock
        self._perform = perform
        self._emit = emit
        self._pause = pause
        self._reconnecting = Reconnecting()
        self._leaving: asyncio.Task[None] | None = None

    async def run(self, opening_audio: asyncio.Task[None]) -> None:
        """Connect, read to the end, and again as long as that may help."""
        began = self._clock.now()
        self._perform(self._core.preparing(began))
        await self._conductor.begin()
        try:
            opening = await self._opening()
        except GeminiLiveError as error:
            await opening_audio
            self._perform(self._core.disconnected(self._clock.now(), error))
            return
        if opening.deaf:
            self._perform(self._core.nobody_listens(self._clock.now(), opening.deaf))
        while True:
            was_connected = self._conductor.ever_connected
            ended, unresumable = await self._one(opening, opening_audio, began)
            delay = None
            if was_connected or self._conductor.ever_connected or unresumable:
                delay = self._reconnecting.delay(ended, unresumable=unresumable)
            self._perform(self._core.disconnected(self._clock.now(), ended, retrying=delay is not None))
            if self._writer.connection is not None:
                await self._writer.connection.close()
            if delay is None:
                return
            await self._clock.sleep(delay)
            began = self._clock.now()

    async def _one(
        self, opening: Opening, opening_audio: asyncio.Task[None], began: float
    ) -> tuple[GeminiLiveError, bool]:
        """Connect and read to the end; what ended it, and whether it was refused while resuming."""
        handle = self._core.resumption_handle if self._reconnecting.resumes else ""
        self._perform(self._core.connecting(self._clock.now(), opening.url, resuming=bool(handle)))
        instruction = self._conductor.instruction_for_setup()
        try:
            connection = await opening.connect(self._recorder, instruction, handle)
        except GeminiLiveError as error:
            await opening_audio
            refused = bool(handle) and isinstance(error, SetupRejectedError)
            if refused:
                # Some contexts are beyond resuming; the handle would fail for ever.
                self._core.resumption_handle = ""
            return error, refused
        self._writer.connection = connection
        await opening_audio
        now = self._clock.now()
        session = _session_id(connection)
        ms = round((now - began) * 1000, 1)
        self._perform(self._core.connected(now, ms=ms, server_session=session, resumed=bool(handle), hold=True))
        self._conductor.connected(instruction, resumed=bool(handle))
        measuring = asyncio.create_task(self._measure(connection), name="round trip")
        try:
            return await self._read(connection), False
        finally:
            measuring.cancel()
            if self._leaving is not None:
                self._leaving.cancel()
                self._leaving = None
            self._reconnecting.connected(self._clock.now() - now)

    async def _measure(self, connection: Connection) -> None:
        while (seconds := await connection.round_trip()) is not None:
            if seconds <= LATEST_PONG_S:
                self._conductor.telemetry.round_trip(seconds * 1000)
            await self._clock.sleep(PING_EVERY_S)

    async def _read(self, connection: Connection) -> GeminiLiveError:
        """Hear the server until the connection ends; how it ended."""
        core, clock = self._core, self._clock
        unreadable = 0
        try:
            while True:
                try:
                    message = await connection.receive()
                except ProtocolError as error:
                    unreadable += 1
                    if unreadable >= MAX_UNREADABLE:
                        text = f"The server sent {unreadable} unreadable frames in a row: {error.message}"
                        raise ProtocolError(text, remedy="Check that the address is a Live API server") from None
                    self._unreadable(error)
                    continue
                unreadable = 0
                if isinstance(message, AudioFrame):
                    self._perform(core.audio_frame(clock.now(), message))
                else:
                    self._perform(core.server_message(clock.now(), message))
        except GeminiLiveError as error:
            self._recorder.flush()
            return error

    def _unreadable(self, error: ProtocolError) -> None:
        text = redactor.text(f"The server sent a frame that cannot be read: {error.message}")
        self._emit(ev.Notice(level="warning", code=error.code, text=text, remedy=error.remedy))

    def leave(self, within_s: float | None) -> None:
        """The server will close this connection: move to another in a pause, at the latest just before it does.

        Without a handle there is nothing to move to; the loss is then dealt with when it comes.
        """
        if self._leaving is None and within_s is not None:
            self._leaving = asyncio.create_task(self._move(within_s), name="move to another connection")

    async def _move(self, within_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, within_s - LEAVE_EARLY_S)):
                await self._pause(LEAVE_QUIET_S)
        connection = self._writer.connection
        if connection is not None and self._core.resumption_handle:
            self._recorder.flush()
            await connection.close(1001, "moving to another connection")

    async def hang_up(self) -> None:
        """Close the connection that there is."""
        connection = self._writer.connection
        if self._leaving is not None:
            self._leaving.cancel()
        if connection is None:
            return
        if not connection.closed:
            self._recorder.flush()
            self._emit(ev.ConnectionClosed(close_code=1000, requested=True))
        await connection.close()
        # What was not sent any more is reported before the end is; a future tells that one round of the loop later.
        await self._writer.settled()
        await asyncio.sleep(0)


def _session_id(connection: Connection) -> str:
    complete = connection.setup_complete.setup_complete if connection.setup_complete is not None else None
    return (complete.session_id or "") if complete is not None else ""
