"""The session's hands: performs what the core decides, on one event loop, and reports what came of it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import MODEL_RATE, AudioIO, AudioOpened, Direction, MicChunk
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.commands import Command
from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError, ProtocolError, traceback_lines
from gemini_live_runtime.journal.wire_recorder import WireRecorder
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.session.agent import Agent
from gemini_live_runtime.session.core import SessionCore
from gemini_live_runtime.session.effects import (
    CancelTool,
    Cut,
    Effect,
    Emit,
    End,
    EndOfAudio,
    Microphone,
    Play,
    RunTool,
    Send,
    Speaker,
)
from gemini_live_runtime.session.interface import EventSink
from gemini_live_runtime.text import redactor
from gemini_live_runtime.tools.dispatch import Outcome, ToolDispatcher
from gemini_live_runtime.wire.connection import MAX_UNREADABLE, Connection
from gemini_live_runtime.wire.messages import AudioFrame

if TYPE_CHECKING:
    from gemini_live_runtime.audio.pcm import PcmConverter

TIMER_GRAIN_S = 0.001
"""Seconds by which a timer may be late."""

ENDING_S = 2.0
"""How long closing may take before what is left is abandoned, in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What the runner needs to open a session's connection. `connect` raises `GeminiLiveError`."""

    url: str
    connect: Callable[[WireRecorder], Awaitable[Connection]]
    deaf: str = ""
    """Why the server recognises no speech, as far as that is known; the session is typed then."""


class LiveSession:
    """One running session: a core, a connection, sound and tools."""

    def __init__(
        self,
        *,
        started: ev.SessionStarted,
        agent: Agent,
        core: SessionCore,
        sink: EventSink,
        audio: AudioIO,
        opening: Callable[[], Awaitable[Opening]],
        closing: Callable[[], Awaitable[None]],
        clock: Clock,
        notices: tuple[ev.Notice, ...] = (),
    ) -> None:
        self._started = started
        self._core = core
        self._sink = sink
        self._audio = audio
        self._opening = opening
        self._closing = closing
        self._clock = clock
        self._notices = notices
        self._recorder = WireRecorder(self._emit, sink)
        self._tools = ToolDispatcher(
            agent.declared, clock=clock, on_finished=self._tool_finished, on_notify=self._tool_notifies
        )
        self._connection: Connection | None = None
        self._changed = asyncio.Event()
        self._microphone_finished = False
        self._end: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._conversion: PcmConverter | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._sending: set[asyncio.Future[None]] = set()

    # -- what the host calls -----------------------------------------------------------------------------------------

    async def run(self) -> int:
        """Live until the end; the exit code."""
        self._emit(self._started)
        for notice in self._notices:
            self._emit(notice)
        opening = asyncio.create_task(self._open_audio(), name="open audio")
        self._tasks = [asyncio.create_task(self._supervised(lambda: self._converse(opening)), name="converse")]
        try:
            end = await self._end
        finally:
            await self._wind_up(opening)
        self._emit(ev.SessionState(word="offline", reason=end.reason))
        self._emit(ev.SessionEnded(reason=end.reason, exit_code=end.exit_code))
        return end.exit_code

    async def command(self, command: Command) -> None:
        """Carry out or refuse a command."""
        self._perform(self._core.command(self._now(), command))

    def hang_up(self, reason: str) -> None:
        """End in an orderly way."""
        self._perform(self._core.ending(self._now(), reason, 0))

    def sample(self) -> MeterSample:
        """The current meters."""
        levels = self._audio.levels()
        unsent = self._connection.audio_dropped if self._connection is not None else 0
        return MeterSample(
            mic_db=levels.mic_rms,
            mic_peak_db=levels.mic_peak,
            clean_db=levels.clean_rms,
            out_db=levels.out_rms,
            clipped=levels.clipped,
            speech=levels.speech,
            erle_db=levels.erle_db,
            buffer_ms=levels.buffer_ms,
            underruns=levels.underruns,
            mic_dropped=levels.mic_dropped + unsent,
        )

    @property
    def quiet(self) -> bool:
        """Nothing is going on and nothing is owed, on the wire and in the speaker."""
        return self._core.quiet and not self._audio.playing

    async def until_quiet(self, seconds: float, *, microphone_too: bool = False) -> None:
        """Return once the session has been quiet for `seconds`; with `microphone_too`, after its file was read."""
        while True:
            if not self.quiet or (microphone_too and not self._audio.finished):
                await self._change()
                continue
            if seconds <= 0:
                return
            try:
                async with asyncio.timeout(seconds):
                    while self.quiet:
                        await self._change()
            except TimeoutError:
                return

    async def until_busy(self) -> None:
        """Return once something goes on."""
        while self.quiet and not self._end.done():
            await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()

    async def _supervised(self, part: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run a part of the session; a fault in it ends the session in a sentence instead of silence."""
        try:
            await part()
        except GeminiLiveError as error:
            text, remedy = redactor.text(error.message), redactor.text(error.remedy)
            self._emit(ev.Notice(level="error", code=error.code, text=text, remedy=remedy))
            self._perform(self._core.ending(self._now(), redactor.text(str(error)), error.exit_code))
        except Exception as error:
            for line in traceback_lines(error):
                self._emit(ev.Log(source="engine", level="error", text=redactor.text(line)))
            text = redactor.text(f"{type(error).__name__}: {error}")
            self._emit(ev.Notice(level="error", code="internal", text=f"The session failed: {text}"))
            self._perform(self._core.ending(self._now(), f"internal error: {text}", 1))

    # -- life --------------------------------------------------------------------------------------------------------

    async def _converse(self, opening_audio: asyncio.Task[None]) -> None:
        began = self._now()
        self._perform(self._core.preparing(began))
        try:
            opening = await self._opening()
            self._perform(self._core.connecting(self._now(), opening.url))
            if opening.deaf:
                self._perform(self._core.nobody_listens(self._now(), opening.deaf))
            connection = await opening.connect(self._recorder)
        except GeminiLiveError as error:
            await opening_audio
            self._perform(self._core.disconnected(self._now(), error))
            return
        self._connection = connection
        await opening_audio
        ms = (self._now() - began) * 1000
        self._perform(self._core.connected(self._now(), ms=round(ms, 1), server_session=_session_id(connection)))
        await self._read(connection)

    async def _read(self, connection: Connection) -> None:
        core = self._core
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
                    self._perform(core.audio_frame(self._now(), message))
                else:
                    self._perform(core.server_message(self._now(), message))
        except GeminiLiveError as error:
            self._recorder.flush()
            self._perform(core.disconnected(self._now(), error))
            await connection.close()

    def _unreadable(self, error: ProtocolError) -> None:
        text = redactor.text(f"The server sent a frame that cannot be read: {error.message}")
        self._emit(ev.Notice(level="warning", code=error.code, text=text, remedy=error.remedy))

    async def _open_audio(self) -> None:
        opened = await self._audio.open(self)
        self._perform(self._core.audio_opened(self._now(), _opened_event(opened)))

    async def _wind_up(self, opening: asyncio.Task[None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        opening.cancel()
        for task in self._tasks:
            task.cancel()
        for part in (self._end_tasks(opening), self._tools.close(), self._hang_up_wire(), self._close_audio()):
            # Each has its own time: a tool that will not be cancelled must not keep the socket or the devices open.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(ENDING_S):
                    await part
        await self._closing()
        self._recorder.flush()

    async def _end_tasks(self, opening: asyncio.Task[None]) -> None:
        await asyncio.gather(opening, *self._tasks, return_exceptions=True)

    async def _hang_up_wire(self) -> None:
        if self._connection is None:
            return
        if not self._connection.closed:
            self._recorder.flush()
            self._emit(ev.ConnectionClosed(close_code=1000, requested=True))
        await self._connection.close()
        # What was not sent any more is reported before the end is; a future tells that one round of the loop later.
        await asyncio.gather(*self._sending, return_exceptions=True)
        await asyncio.sleep(0)

    async def _close_audio(self) -> None:
        try:
            await self._audio.close()
        except GeminiLiveError as error:
            self._emit(ev.Notice(level="error", code=error.code, text=error.message, remedy=error.remedy))

    # -- effects -----------------------------------------------------------------------------------------------------

    def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Emit():
                    self._sink.emit(effect.payload, turn=effect.turn, gen=effect.gen)
                case Play():
                    self._play(effect)
                case Send():
                    self._send(effect)
                case EndOfAudio():
                    self._audio.end_of_turn(effect.gen)
                case Cut():
                    self._audio.cut(effect.cut_below)
                    heard = self._audio.heard(effect.victim)
                    self._perform(self._core.cut_performed(self._now(), effect, heard))
                case Microphone():
                    self._audio.set_microphone(effect.on)
                case Speaker():
                    self._audio.set_speaker(effect.on)
                case RunTool():
                    self._tools.start(effect.call_id, effect.name, effect.args)
                case CancelTool():
                    self._tools.cancel(effect.call_id)
                case End():
                    if not self._end.done():
                        self._end.set_result(effect)
                case _:
                    assert_never(effect)
        self._changed.set()
        self._schedule()

    def _send(self, effect: Send) -> None:
        if self._connection is None:
            return
        try:
            sending = self._connection.post(effect.message)
        except ConnectionClosedError:
            # That it ended is the reader's to report: one end, one event.
            self._perform(self._core.not_sent(self._now(), effect))
        except GeminiLiveError as error:
            text = f"Not sent: {error.message}"
            self._emit(ev.Notice(level="error", code=error.code, text=text, remedy=error.remedy))
        else:
            self._sending.add(sending)
            sending.add_done_callback(lambda done: self._sent(effect, done))

    def _sent(self, effect: Send, sending: asyncio.Future[None]) -> None:
        self._sending.discard(sending)
        if not sending.cancelled() and sending.exception() is not None:
            self._perform(self._core.not_sent(self._now(), effect))

    def _play(self, effect: Play) -> None:
        pcm = effect.pcm
        if effect.rate != MODEL_RATE:
            pcm = self._converter(effect.rate).convert(pcm)
        self._audio.play(effect.gen, pcm)

    def _converter(self, rate: int) -> PcmConverter:
        if self._conversion is None or self._conversion.source != rate:
            # numpy takes a tenth of a second to import, and no server is known to send another rate.
            from gemini_live_runtime.audio.pcm import PcmConverter

            self._conversion = PcmConverter(rate, MODEL_RATE)
        return self._conversion

    def _schedule(self) -> None:
        now = self._now()
        wait = self._core.deadline(now)
        # A hair later than asked: rounding must not make a timer fire before its moment, again and again.
        due = None if wait is None or self._end.done() else now + wait + TIMER_GRAIN_S
        # Most effects leave the deadline where it was: a timer is only made when it moves.
        if self._timer is not None and due is not None and abs(self._due - due) < TIMER_GRAIN_S:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due is not None:
            self._due = due
            self._timer = asyncio.get_running_loop().call_at(due, self._tick)

    def _tick(self) -> None:
        self._timer = None
        self._perform(self._core.tick(self._now()))

    def _now(self) -> float:
        return self._clock.now()

    def _emit(self, payload: ev.Payload) -> None:
        self._sink.emit(payload, turn=self._core.turns.number, gen=self._core.ledger.number)

    # -- tools -------------------------------------------------------------------------------------------------------

    def _tool_finished(self, outcome: Outcome) -> None:
        self._perform(self._core.tool_finished(self._now(), outcome))

    def _tool_notifies(self, tool: str, text: str) -> None:
        self._emit(ev.Notice(level="info", code=f"tool.{tool}", text=redactor.text(text)))

    # -- sound (AudioListener) ---------------------------------------------------------------------------------------

    def mic_chunk(self, chunk: MicChunk) -> None:
        """20 ms of microphone: straight to the socket."""
        if self._audio.finished is not self._microphone_finished:
            self._microphone_finished = self._audio.finished
            self._changed.set()
        if self._connection is None or not self._core.taking_audio:
            return
        before = self._core.audio_flows()
        if before:
            self._perform(before)
        self._connection.send_audio(chunk.pcm)

    def playback_started(self, gen: int) -> None:
        """The first sample of `gen` was played."""
        self._perform(self._core.playback_started(self._now(), gen))

    def playback_heard(self, gen: int, first: int, count: int) -> None:
        """Samples of `gen` were played."""
        self._perform(self._core.playback_heard(self._now(), gen, first, count))

    def playback_drained(self, gen: int) -> None:
        """All of `gen` was played."""
        self._perform(self._core.playback_drained(self._now(), gen))

    def voice(self, speaking: bool) -> None:
        """The local voice mark changed."""
        self._perform(self._core.voice(self._now(), speaking))

    def echo_warning(self, leaking: bool) -> None:
        """Echo is reduced too little, or again enough."""
        self._perform(self._core.echo_warning(self._now(), leaking))

    def device_lost(self, direction: Direction, reason: str) -> None:
        """A device vanished."""
        self._perform(self._core.device_lost(self._now(), direction, reason))


def _opened_event(opened: AudioOpened) -> ev.AudioOpened:
    return ev.AudioOpened(
        input=opened.input.name if opened.input else "",
        output=opened.output.name if opened.output else "",
        input_rate=opened.input.rate if opened.input else 0,
        output_rate=opened.output.rate if opened.output else 0,
        echo_canceller=opened.echo_canceller,
        problems=opened.problems,
    )


def _session_id(connection: Connection) -> str:
    complete = connection.setup_complete.setup_complete if connection.setup_complete is not None else None
    return (complete.session_id or "") if complete is not None else ""
