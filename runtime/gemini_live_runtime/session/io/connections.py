"""A session's connections: made, read to their end, left in time, and made again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.errors import (
    ConnectionClosedError,
    GeminiLiveError,
    ProtocolError,
    UnreachableError,
)
from gemini_live_runtime.journal.recording.wire_recorder import WireRecorder
from gemini_live_runtime.records import keyword_record
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.session.core.effects import Effect, Play
from gemini_live_runtime.session.io.departure import Departure
from gemini_live_runtime.session.io.message_parts import in_parts
from gemini_live_runtime.session.io.round_trips import RoundTrips
from gemini_live_runtime.session.link.ends import LinkEnd, refuses_handle
from gemini_live_runtime.session.link.watchdog import SilenceWatchdog
from gemini_live_runtime.session.ports.provider import AdapterFactory, MeasuresRoundTrip, RealtimeProviderAdapter
from gemini_live_runtime.wire.connection import MAX_UNREADABLE
from gemini_live_runtime.wire.server import AudioFrame

if TYPE_CHECKING:
    from gemini_live_runtime.session.core.core import SessionCore
    from gemini_live_runtime.session.orchestrator import Orchestrator

MAX_FAULT = 500
"""Characters of a fault's text."""

MAX_AT_ONCE = 16
"""Messages taken in before other tasks run: a flood comes without a pause."""

LATEST_PONG_S = 5.0
"""Seconds after which a pong says something of the server's mood, not of the way: some come half a minute late."""


@keyword_record
class Opening:
    """Address and factory of a session's connections.

    `adapter(recorder, instruction, handle)` returns a connection yet to be made.
    """

    url: str
    adapter: AdapterFactory
    deaf: str = ""
    """Reason why the server recognises no speech, if known; the session is typed then."""


class ConnectionManager:
    """The connections of one session, one after the other."""

    def __init__(
        self,
        core: SessionCore,
        orchestrator: Orchestrator,
        recorder: WireRecorder,
        *,
        opening: Callable[[], Awaitable[Opening]],
        clock: Clock,
        perform: Callable[[list[Effect]], None],
        play: Callable[[Play], None],
        pause: Callable[[float], Awaitable[None]],
        begin: Callable[[], Awaitable[None]],
        on_begun: Callable[[], None],
    ) -> None:
        """`pause(seconds)` returns once the session has been quiet for so long.

        `play` gets a piece of the model's sound that has changed nothing else. `begin` begins the agent; then, before
        the first connection, `on_begun` is called.
        """
        self._begin = begin
        self._on_begun = on_begun
        self._core = core
        self._orchestrator = orchestrator
        self._agent = orchestrator.agent
        self._writer = orchestrator.agent.writer
        self._recorder = recorder
        self._opening = opening
        self._clock = clock
        self._perform = perform
        self._play = play
        self._emit = orchestrator.agent.emit
        self._link = core.state.link
        self.departure = departure = Departure(self._link, recorder, clock, pause)
        self._frames = 0
        """Frames received, over all connections."""
        self._round_trips = RoundTrips(
            SilenceWatchdog(self._link.policy), clock, frames=lambda: self._frames, on_pong=self._on_pong
        )
        self._handle_refused = False
        self._is_deaf = False
        self._asked = asyncio.Event()
        self.first_failure: GeminiLiveError | None = None
        """Error that kept the session from its very first connection."""
        orchestrator.agent.bus.subscribe(departure.on_go_away, ev.ConnectionGoAway)
        orchestrator.agent.bus.subscribe(self._on_held, ev.AgentHeld, ev.AgentReleased)
        orchestrator.agent.bus.subscribe(self._on_measured, ev.TurnMeasured)
        orchestrator.agent.bus.subscribe(self._on_word, ev.SessionState)

    async def run(self, opening_audio: asyncio.Task[None]) -> None:
        """Connect, read to the end, and again as long as that may help.

        Afterwards wait until a connection is asked for.
        """
        link = self._link
        began = self._clock.now()
        self._perform(self._core.connection.on_preparing(began))
        await self._begin()
        try:
            self._on_begun()
        except Exception as error:
            self._orchestrator.faults.internal("What the engine before had begun is left as it is", error)
        opening: Opening | None = None
        while True:
            known_end: LinkEnd | None = None
            try:
                opening = opening or await self._prepare()
                ended = await self._one(opening, opening_audio, began)
            except GeminiLiveError as error:
                await opening_audio
                ended = error
            except Exception as error:
                # What failed is one connection's: the session and the next connection can go on.
                ended, known_end = self._on_fault(error), LinkEnd.FAULT
            known_end = (
                known_end
                or (self.departure.left and self.departure.left[0])
                or (LinkEnd.HANDLE if self._handle_refused else None)
            )
            adapter = link.adapter
            self._disconnected(ended, known_end)
            if not link.connection and link.retry.delay_s is None:
                self.first_failure = self.first_failure or ended
            if adapter is not None:
                try:
                    await adapter.close()
                except Exception as error:
                    self._on_fault(error)
            if isinstance(ended, UnreachableError):
                # A server that we have started ourselves may be gone.
                opening = None
            await self._wait(link.retry.delay_s)
            began = self._clock.now()

    def _disconnected(self, ended: GeminiLiveError, known_end: LinkEnd | None) -> None:
        """Take in the end of a connection, or of an attempt."""
        try:
            self._perform(self._core.connection.on_disconnected(self._clock.now(), ended, known_end))
        except Exception as error:
            self._on_fault(error)
            if self._link.state not in ("restarting", "failed"):
                # The link did not hear of it yet.
                self._link.on_ended(LinkEnd.FAULT, self._clock.now())

    def _on_fault(self, error: Exception) -> GeminiLiveError:
        """Report a fault in this program; return it as the end of the connection."""
        self._recorder.flush()
        text = self._orchestrator.faults.internal("The link to the server failed", error)
        return GeminiLiveError(f"A fault in this program ended the connection: {text[:MAX_FAULT]}")

    async def _prepare(self) -> Opening:
        """Prepare connections; raises `GeminiLiveError`."""
        opening = await self._opening()
        if opening.deaf and not self._is_deaf:
            self._is_deaf = True
            self._perform(self._core.audio.server_is_deaf(self._clock.now(), opening.deaf))
        return opening

    async def _wait(self, delay_s: float | None) -> None:
        """Return after the delay, or once a connection is asked for; None waits for that."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay_s):
                await self._asked.wait()
        self._asked.clear()

    def connect(self) -> None:
        """Make the lost or refused connection now.

        Raises `GeminiLiveError` when there is one.
        """
        if self.wake("the operator"):
            return
        if not self._link.ask_to_connect():
            is_there = "There is a connection" if self._link.is_open else "The connection is being made"
            raise GeminiLiveError(is_there, remedy="Ask again when it is lost", field="connect")
        self._attempt_now()

    def wake(self, by: str) -> bool:
        """Make the connection again that `sleep` has closed; False without one."""
        if not self._link.wake(self._clock.now()):
            return False
        self._perform(self._core.connection.on_woken(self._clock.now(), by))
        self._asked.set()
        return True

    def on_console_attached(self, attached: bool) -> None:
        """Note that a console is there, or none: with one a lost link is made again."""
        if self._link.on_attached(attached):
            self._attempt_now()

    def _attempt_now(self) -> None:
        self._perform(self._core.connection.on_asked(self._clock.now()))
        self._asked.set()

    async def _one(self, opening: Opening, opening_audio: asyncio.Task[None], began: float) -> GeminiLiveError:
        """Connect and read to the end; return the error that ended it, or raise it."""
        self._handle_refused = False
        self.departure.begin()
        self._asked.clear()
        turns = self._core.turn_detection
        if turns.is_pending:
            self._perform(turns.leave(self._clock.now()))
            self._perform(turns.take(self._clock.now()))
        adapter, session, instruction, handle = await self._open(opening, opening_audio)
        now = self._clock.now()
        ms = round((now - began) * 1000, 1)
        self._perform(
            self._core.connection.on_connected(
                now,
                ms=ms,
                server_session=session,
                resumed=bool(handle),
                hold=True,
                non_blocking=self._orchestrator.agent.plan.non_blocking,
                adapter=adapter,
            )
        )
        self._orchestrator.lifecycle.on_connected(instruction, resumed=bool(handle))
        if turns.is_pending:
            # It was asked for while this connection was made.
            self.departure.renew()
        measuring = asyncio.create_task(self._measure(adapter), name="round trip")
        try:
            ended = await self._read(adapter)
        finally:
            measuring.cancel()
            self.departure.end()
        return ended if self.departure.left is None else self.departure.left[1]

    async def _open(
        self, opening: Opening, opening_audio: asyncio.Task[None]
    ) -> tuple[RealtimeProviderAdapter, str, str, str]:
        """Connect; return the connection, its session, instruction and handle.

        A connection whose setup is out of date by then is made again. Raises the error of an attempt that failed.
        """
        while True:
            handle = self._link.begin_opening()
            self._perform(self._core.connection.on_connecting(self._clock.now(), opening.url, resuming=bool(handle)))
            instruction = self._orchestrator.steering.instruction_for_setup()
            setup = self._orchestrator.lifecycle.setup_text(instruction, resuming=bool(handle))
            self.departure.is_outdated = False
            adapter = opening.adapter(self._recorder, setup, handle)
            try:
                session = await adapter.connect()
            except GeminiLiveError as error:
                # Some contexts are beyond resuming; the handle would fail for ever.
                self._handle_refused = bool(handle) and refuses_handle(error)
                raise
            try:
                await opening_audio
            except BaseException:
                await adapter.close()
                raise
            if not self.departure.is_outdated:
                return adapter, session, instruction, handle
            await adapter.close(1001, "moving to another connection")

    async def _measure(self, adapter: RealtimeProviderAdapter) -> None:
        """Measure the way to the server and back; leave a socket that shows no life."""
        if not isinstance(adapter, MeasuresRoundTrip):
            return
        dead_after_s = await self._round_trips.until_dead(adapter)
        if dead_after_s is not None:
            text = f"Nothing came from the server for {dead_after_s:g} s, not even an answer to a ping"
            error = ConnectionClosedError(text, close_code=1006, remedy="Check the network")
            self.departure.leave_at_once(adapter, LinkEnd.NETWORK, error)

    def _on_pong(self, seconds: float) -> None:
        self._link.on_pong(self._clock.now())
        if seconds <= LATEST_PONG_S:
            self._agent.telemetry.round_trip(seconds * 1000)

    async def _read(self, adapter: RealtimeProviderAdapter) -> GeminiLiveError:
        """Hear the server until the connection ends; how it ended."""
        core, clock = self._core, self._clock
        unreadable = 0
        while True:
            self._frames += 1
            if self._frames % MAX_AT_ONCE == 0:
                await asyncio.sleep(0)
            try:
                message = await adapter.receive()
            except ProtocolError as error:
                unreadable += 1
                if unreadable >= MAX_UNREADABLE:
                    self._recorder.flush()
                    text = f"The server sent {unreadable} unreadable frames in a row: {error.message}"
                    return ProtocolError(text, remedy="Check that the address is a Live API server")
                self._unreadable(error)
                continue
            except GeminiLiveError as error:
                self._recorder.flush()
                return error
            unreadable = 0
            if self.departure.is_unheard:
                continue
            self._link.sign_at = now = clock.now()
            self._link.received += 1
            if isinstance(message, AudioFrame):
                effects = core.server.on_audio(now, message)
                if len(effects) == 1 and isinstance(more := effects[0], Play):
                    self._play(more)
                else:
                    self._perform(effects)
                continue
            for part in in_parts(message):
                if part is not message:
                    await asyncio.sleep(0)
                self._perform(core.server.on_message(clock.now(), part))

    def _unreadable(self, error: ProtocolError) -> None:
        text = redactor.text(f"The server sent a frame that cannot be read: {error.message}")
        self._emit(ev.Notice(level="warning", code=error.code, text=text, remedy=error.remedy))

    def _on_held(self, event: ev.Event) -> None:
        """Let silence be no fault while the operator holds the agent."""
        self._perform(self._core.on_held(self._clock.now(), isinstance(event.payload, ev.AgentHeld)))

    def _on_word(self, event: ev.Event) -> None:
        """Look more closely for signs of life while the user speaks, waits or hears."""
        assert isinstance(event.payload, ev.SessionState)
        self._round_trips.set_user_waits(event.payload.word in ("hearing", "thinking", "speaking"))

    def _on_measured(self, event: ev.Event) -> None:
        measured = event.payload
        assert isinstance(measured, ev.TurnMeasured)
        if measured.first_byte_ms is not None:
            self._perform(self._core.connection.on_latency(self._clock.now(), measured.first_byte_ms))

    async def hang_up(self) -> None:
        """Close the connection that there is."""
        adapter = self._link.adapter
        self.departure.cancel()
        if adapter is None:
            return
        if not adapter.closed:
            self._recorder.flush()
            self._emit(ev.ConnectionClosed(close_code=1000, requested=True))
        await adapter.close()
        # What was not sent any more is reported before the end is; a future tells that one round of the loop later.
        await self._writer.drain()
        await asyncio.sleep(0)
        self._link.let_go()
