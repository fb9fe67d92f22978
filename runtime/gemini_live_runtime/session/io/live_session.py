"""The session's hands: performs what the core decides, on one event loop, and reports what came of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import (
    MODEL_RATE,
    AudioIO,
    AudioOpened,
    ChangesDevices,
)
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.commands import Command, Order, SetDevices
from gemini_live_runtime.errors import GeminiLiveError, traceback_lines
from gemini_live_runtime.journal.wire_recorder import WireRecorder
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.effects import (
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
from gemini_live_runtime.session.debugger.command_router import CommandRouter
from gemini_live_runtime.session.definition.description import describe
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.io.audio_input import AudioInput
from gemini_live_runtime.session.io.connections import ConnectionManager, Opening
from gemini_live_runtime.session.io.handle import LiveHandle
from gemini_live_runtime.session.io.host_adapter import HostAdapter
from gemini_live_runtime.session.io.sound_tap import sound_tap
from gemini_live_runtime.session.io.wire_writer import WireWriter
from gemini_live_runtime.session.orchestrator import Orchestrator
from gemini_live_runtime.session.outbound.capabilities import Capabilities
from gemini_live_runtime.session.ports.host import SessionServices
from gemini_live_runtime.session.ports.sink import EventSink
from gemini_live_runtime.text import redactor

if TYPE_CHECKING:
    from gemini_live_runtime.audio.resample import PcmConverter
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.debugger.hot_reload import Source

__all__ = ["LiveSession", "Opening"]

TIMER_GRAIN_S = 0.001
"""Seconds by which a timer may be late."""

ENDING_S = 2.0
"""How long closing a part may take before what is left of it is abandoned, in seconds."""

MIND_ENDING_S = 8.0
"""The same for the mind, which gives each of its own parts less."""


BEFORE_STATE = frozenset((ev.StateChanged, ev.SessionStarted, ev.AgentDescribed))
"""What is told before changes of the state that wait; everything else comes after them."""


class LiveSession:
    """One running session: a core, a mind, a connection, sound and tools."""

    def __init__(
        self,
        *,
        started: ev.SessionStarted,
        plan: SessionPlan,
        core: SessionCore,
        capabilities: Capabilities,
        sink: EventSink,
        audio: AudioIO,
        opening: Callable[[], Awaitable[Opening]],
        closing: Callable[[], Awaitable[None]],
        clock: Clock,
        notices: tuple[ev.Payload, ...] = (),
        text_model: TextModel | None = None,
        source: Source | None = None,
    ) -> None:
        self._started = started
        self._core = core
        self._sink = sink
        self._audio = audio
        self._closing = closing
        self._clock = clock
        self._notices = notices
        self._changed = asyncio.Event()
        self._body = HostAdapter(
            core,
            audio,
            clock,
            perform=self._perform,
            publish=self._publish,
            reconnect=lambda: self._wire.renew(),
            changed=self._changed.set,
        )
        self._recorder = WireRecorder(self._emit, sink)
        route = capabilities.route(plan.definition.instruction_route, model=started.model)
        self._writer = WireWriter(
            capabilities, route, emit=self._emit, on_prompt=self._body.prompted, on_lost=self._send_lost
        )
        self.conductor = Orchestrator(
            plan,
            self._body,
            SessionServices(
                clock=clock,
                writer=self._writer,
                async_tools=capabilities.async_tools,
                text_model=text_model,
                on_notify=self._tool_notifies,
                source=source,
            ),
        )
        self.orders = CommandRouter(self._emit)
        self.conductor.stops.take_orders(self.orders)
        self.conductor.operator.take_orders(self.orders)
        self.conductor.reloader.take_orders(self.orders)
        self.handle = self.conductor.fast.handle = LiveHandle(self)
        self._model_sound = sound_tap(
            self.conductor.telemetry, self.conductor.callbacks.inline_listeners("on_audio"), clock.now
        )
        self._wire = ConnectionManager(
            core,
            self.conductor,
            self._writer,
            self._recorder,
            opening=opening,
            clock=clock,
            perform=self._perform,
            emit=self._emit,
            pause=self.until_quiet,
        )
        self.ears = AudioInput(
            core, audio, self._writer, self.conductor, clock, perform=self._perform, changed=self._changed.set
        )
        self._end: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self.done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """The exit code, once the session has ended."""
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._conversion: PcmConverter | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._asked = ""
        self._refused = ""
        self._ended = False

    # -- what the host calls -----------------------------------------------------------------------------------------

    async def run(self) -> int:
        """Live until the end; the exit code."""
        self._emit(self._started)
        self._emit(describe(self.conductor.plan))
        for notice in self._notices:
            self._emit(notice)
        opening = asyncio.create_task(self._open_audio(), name="open audio")
        self._tasks = [asyncio.create_task(self._supervised(lambda: self._wire.run(opening)), name="converse")]
        try:
            end = await self._end
            await self._wind_up(opening)
            self.conductor.fast.tell_losses()
            self._emit(ev.SessionState(word="offline", reason=end.reason))
            self._emit(ev.SessionEnded(reason=end.reason, exit_code=end.exit_code))
            self._ended = True
            return self._over(end.exit_code)
        except BaseException:
            # Cancelled, or broken: devices and socket are closed all the same, and nobody waits in vain.
            try:
                await self._wind_up(opening)
            finally:
                self._over(1)
            raise

    def _over(self, exit_code: int) -> int:
        self.conductor.subscribers.end()
        if not self.done.done():
            self.done.set_result(exit_code)
        return exit_code

    async def command(self, command: Command) -> None:
        """Carry out or refuse a command."""
        order = command.order
        if isinstance(order, SetDevices) and not self._core.over:
            await self._change_devices(command.id, order)
        elif self._core.over or not self.orders.carry_out(command):
            self._perform(self._core.command(self._now(), command))

    async def carried_out(self, command: Command) -> str:
        """Carry out a command; why it was refused, "" when it was not."""
        self._asked, self._refused = command.id, ""
        await self.command(command)
        self._asked = ""
        return self._refused

    def hang_up(self, reason: str) -> None:
        """End in an orderly way."""
        self._perform(self._core.ending(self._now(), reason, 0))

    def watched(self, somebody: bool) -> None:
        """Whether a console is there to let a held agent go on."""
        self.conductor.stops.watched(somebody)

    def sample(self) -> MeterSample:
        """The current meters."""
        levels = self._audio.levels()
        connection = self._writer.connection
        unsent = connection.audio_dropped if connection is not None else 0
        return replace(levels, mic_dropped=levels.mic_dropped + unsent)

    @property
    def quiet(self) -> bool:
        """Nothing is going on and nothing is owed: on the wire, in the speaker and in the mind."""
        return self._core.quiet and not self._audio.playing and self.conductor.quiet

    @property
    def takes_audio(self) -> bool:
        """Whether microphone audio goes anywhere: voice mode, an input, not muted, a connection or one to come."""
        core = self._core
        return core.mode == "voice" and core.microphone_on and core.input_open and not self._end.done()

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

    async def opened(self) -> None:
        """Return once the connection is ready, or will not be."""
        while self._core.unsettled and not self._end.done():
            await self._change()

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

    async def _open_audio(self) -> None:
        self._sound_is_open(await self._audio.open(self.ears))

    def _sound_is_open(self, opened: AudioOpened) -> None:
        if opened.output is not None:
            self.conductor.fast.speaker_ms = opened.output.latency_ms
        self._perform(self._core.audio_opened(self._now(), _opened_event(opened)))

    async def _change_devices(self, command_id: str, order: SetDevices) -> None:
        if not isinstance(self._audio, ChangesDevices):
            self._emit(_refused(command_id, order, "This session uses no sound devices"))
            return
        try:
            opened = await self._audio.change(order.input or None, order.output or None)
        except GeminiLiveError as error:
            self._emit(_refused(command_id, order, redactor.text(str(error))))
        else:
            self._sound_is_open(opened)

    async def _wind_up(self, opening: asyncio.Task[None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        opening.cancel()
        for task in self._tasks:
            task.cancel()
        # The mind bounds its parts itself, so that one of them cannot cost it the last snapshot.
        parts: tuple[tuple[Callable[[], Awaitable[None]], float], ...] = (
            (lambda: self._end_tasks(opening), ENDING_S),
            (self.conductor.tools.close, ENDING_S),
            (self.conductor.close, MIND_ENDING_S),
            (self._wire.hang_up, ENDING_S),
            (self._close_audio, ENDING_S),
        )
        for part, within_s in parts:
            # Each has its own time: a tool that will not be cancelled must not keep the socket or the devices open.
            try:
                async with asyncio.timeout(within_s):
                    await part()
            except TimeoutError:
                pass
            except Exception as error:
                for line in traceback_lines(error):
                    self._emit(ev.Log(source="engine", level="error", text=redactor.text(line)))
        self._perform(self._core.calls_abandoned(self._now()))
        await self._closing()
        self._recorder.flush()

    async def _end_tasks(self, opening: asyncio.Task[None]) -> None:
        await asyncio.gather(opening, *self._tasks, return_exceptions=True)

    async def _close_audio(self) -> None:
        try:
            await self._audio.close()
        except GeminiLiveError as error:
            self._emit(ev.Notice(level="error", code=error.code, text=error.message, remedy=error.remedy))

    # -- effects -----------------------------------------------------------------------------------------------------

    def _perform(self, effects: list[Effect]) -> None:
        calls: list[RunTool] = []
        for effect in effects:
            match effect:
                case Emit():
                    self._publish(effect.payload, effect.turn, effect.gen)
                case Play():
                    self._play(effect)
                case Send():
                    if effect.text and self.conductor.pending.has_context:
                        self.conductor.user_writer.flush()
                    self._writer.post(effect)
                case EndOfAudio():
                    self._audio.end_of_turn(effect.gen)
                case Cut():
                    self._audio.cut(effect.cut_below)
                    heard = self._audio.played_samples(effect.victim)
                    self._perform(self._core.cut_performed(self._now(), effect, heard))
                case Microphone():
                    self._audio.set_microphone(effect.on)
                    self.ears.microphone(effect.on)
                case Speaker():
                    self._audio.set_speaker(effect.on)
                case RunTool():
                    calls.append(effect)
                case CancelTool():
                    if calls:
                        # A call and its cancellation may come in one message.
                        self.conductor.calls(calls)
                        calls = []
                    self.conductor.cancel_call(effect.call_id)
                case End():
                    if not self._end.done():
                        self._end.set_result(effect)
                case _:
                    assert_never(effect)
        if calls:
            self.conductor.calls(calls)
        self._changed.set()
        self._schedule()

    def _send_lost(self, send: Send) -> None:
        self._perform(self._core.not_sent(self._now(), send))

    def _publish(self, payload: ev.Payload, turn: int, gen: int) -> None:
        if self._ended and not isinstance(payload, ev.CommandRefused):
            # A program may hold on to the state; what it writes there is no longer part of the session.
            return
        if type(payload) not in BEFORE_STATE:
            # What was written before this happened is told before it.
            self.conductor.publish_state()
        event = self._sink.emit(payload, turn=turn, gen=gen)
        if self._asked and isinstance(payload, ev.CommandRefused) and payload.command_id == self._asked:
            self._refused = payload.reason
        self.conductor.observe(event)
        if isinstance(payload, ev.ConnectionGoAway):
            self._wire.leave(payload.time_left_s)

    def _play(self, effect: Play) -> None:
        pcm = effect.pcm
        if effect.rate != MODEL_RATE:
            pcm = self._converter(effect.rate).convert(pcm)
        self._audio.play(effect.gen, pcm)
        self._model_sound(pcm)

    def _converter(self, rate: int) -> PcmConverter:
        if self._conversion is None or self._conversion.source != rate:
            # numpy takes a tenth of a second to import, and no server is known to send another rate.
            from gemini_live_runtime.audio.resample import PcmConverter

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
        self._body.emit(payload)

    # -- the mind's ways in and out ------------------------------------------------------------------------------------

    def _tool_notifies(self, tool: str, text: str) -> None:
        self._emit(ev.Notice(level="info", code=f"tool.{tool}", text=redactor.text(text)))


def _refused(command_id: str, order: Order, reason: str) -> ev.CommandRefused:
    return ev.CommandRefused(command_id=command_id, command=order.command, reason=reason)


def _opened_event(opened: AudioOpened) -> ev.AudioOpened:
    return ev.AudioOpened(
        input=opened.input.name if opened.input else "",
        output=opened.output.name if opened.output else "",
        input_rate=opened.input.rate if opened.input else 0,
        output_rate=opened.output.rate if opened.output else 0,
        echo_canceller=opened.echo_canceller,
        problems=opened.problems,
    )
