"""Run one session on one event loop: perform what the core decides.

Order matters in three places:

- `_perform` performs effects in the order in which the core gave them; a tool call and its cancellation may come in one
  message, so calls that wait to be started are started before a cancellation is passed on.
- The core's deadline is looked at after every performance, because each may move it; one timer serves it.
- `_wind_up` closes tools and agent before the socket, so that answers and the last snapshot still find what they need,
  and gives each part its own time, so that one that hangs cannot keep the devices open.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, assert_never

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import (
    AudioIO,
    AudioOpened,
    ChangesDevices,
)
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.commands import (
    MAX_TEXT,
    ClearTurn,
    Command,
    CommitTurn,
    Connect,
    Drain,
    Order,
    SendText,
    SetDevices,
    SetOptions,
    SetVoice,
    Sleep,
)
from gemini_live_runtime.errors import AgentError, ConnectionClosedError, GeminiLiveError, traceback_lines
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.journal.view import SessionView
from gemini_live_runtime.journal.wire_recorder import WireRecorder
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.restarts import WITHIN_S
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.session.agent.consent import ConsentOptions
from gemini_live_runtime.session.agent.host import SessionHost
from gemini_live_runtime.session.control.command_router import CommandRouter
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.effects import (
    ApplyTurnOptions,
    CancelTool,
    Cut,
    Effect,
    Emit,
    End,
    EndActivity,
    EndOfAudio,
    InterruptModel,
    LeaveConnection,
    Microphone,
    Pause,
    Play,
    Prompt,
    RenewConnection,
    RunTool,
    Send,
    SendKeptAudio,
    Speaker,
    Tell,
    WakeConnection,
)
from gemini_live_runtime.session.core.state import FINISHING_TASKS
from gemini_live_runtime.session.core.taking_up import end_what_was_cut_off, take_up
from gemini_live_runtime.session.definition.description import describe
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.io.agent_session import AgentSession
from gemini_live_runtime.session.io.audio_input import AudioInput
from gemini_live_runtime.session.io.connections import ConnectionManager, Opening
from gemini_live_runtime.session.io.dormancy import Dormancy
from gemini_live_runtime.session.io.handle import LiveHandle
from gemini_live_runtime.session.io.model_sound import ModelSound
from gemini_live_runtime.session.io.run_context import RunContext
from gemini_live_runtime.session.io.sound_tap import sound_tap
from gemini_live_runtime.session.metrics.sound_health import SoundHealth
from gemini_live_runtime.session.orchestrator import Orchestrator
from gemini_live_runtime.session.outbound.wire_writer import WireWriter
from gemini_live_runtime.session.ports.capabilities import Capabilities
from gemini_live_runtime.session.ports.event_bus import EventBus
from gemini_live_runtime.session.ports.sink import EventSink

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.agent.autosave import OwnStore
    from gemini_live_runtime.session.definition.definition import Definition
    from gemini_live_runtime.session.ports.agent_source import Source

__all__ = ["LiveSession", "Opening"]

PLAYING_CHECK_S = 0.05
"""Seconds between looks at a speaker that plays, while something waits for quiet."""

TIMER_GRAIN_S = 0.001
"""Seconds by which a timer may be late."""

FAULT_REST_S = 1.0
"""Seconds before the timer looks again after a fault, which may still be there."""

ENDING_S = 2.0
"""Seconds that closing a part may take before it is abandoned."""

NOT_ON_DISK = "A message was sent before the disk had it: should the program end now, it may not know of it."

CoreHandler = Callable[[float, Any, str], list[Effect]]
"""Core's part of a command: it gets the time, the order and the command's id."""

AGENT_ENDING_S = 8.0
"""Seconds that closing the agent may take, which gives each of its own parts less."""


class LiveSession:
    """Running session: a core, an agent, a connection, sound and tools."""

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
        source: Source[SessionPlan] | None = None,
        own_store: OwnStore | None = None,
        speaks_with: Callable[[Definition, Definition], bool] = lambda one, other: True,
        agent_session: AgentSession | None = None,
        harness: HarnessWorker | None = None,
        dormant_after_s: float = 0.0,
        consent: ConsentOptions | None = None,
    ) -> None:
        """Create a session; `opening` prepares connections, `closing` ends that.

        `speaks_with` returns True when the same model serves two agents.
        `notices` are published first. `own_store` keeps the snapshots of a recorded session, and has what an earlier
        engine recorded of it: then it has been started. `agent_session` is a facade that a program has made before.
        `harness` keeps records that outlive the session. After `dormant_after_s` seconds of quiet the connection is
        closed until something is to be said; 0 is never. `consent` says who agrees to calls; None: the operator.
        """
        self._started = started
        self._speaks_with = speaks_with
        self._kept = None if own_store is None else own_store.kept
        self._core = core
        self._audio = audio
        self._closing = closing
        self._clock = clock
        self._notices = notices
        self._is_running = False
        self._changed = asyncio.Event()
        self._end: asyncio.Future[End] = asyncio.get_running_loop().create_future()
        self.done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Exit code, once the session has ended."""
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._sound = ModelSound(self._play, audio.end_of_turn)
        self._tasks: list[asyncio.Task[None]] = []
        self.bus = EventBus(sink, core.state.turns, core.state.ledger)
        view = SessionView() if self._kept is None else self._kept.view
        first = view.sent_samples, view.received_samples
        core.state.link.outbox.samples_sent = view.sent_samples
        self._recorder = WireRecorder(self.bus.emit, sink, clock.now, first=first)
        # A file has no microphone that could be mended.
        self._health = SoundHealth(self.bus.emit, clock.now) if isinstance(audio, ChangesDevices) else None
        if self._health is not None:
            self.bus.subscribe(self._health.on_event, *SoundHealth.KINDS)
        self.orchestrator = self._make_orchestrator(plan, capabilities, text_model, source, own_store, harness, consent)
        self.orchestrator.memory.session_id = started.session_id
        agent = self.orchestrator.agent
        if self._kept is not None:
            take_up(core.state, self._kept)
        self._writer = agent.writer
        self._model_sound = sound_tap(
            agent.telemetry, self.orchestrator.callbacks.inline_listeners("on_audio"), clock.now
        )
        self._connections = ConnectionManager(
            core,
            self.orchestrator,
            self._recorder,
            opening=opening,
            clock=clock,
            perform=self._perform,
            play=self._play_further,
            pause=self.until_quiet,
            on_begun=self._on_begun,
        )
        self.audio_input = AudioInput(
            core,
            audio,
            self.orchestrator,
            clock,
            perform=self._perform,
            on_change=self._changed.set,
            on_opened=lambda opened: self._on_audio_opened(opened, again=True),
        )
        self._dormancy = Dormancy(
            core.state, self._connections, self.bus, after_s=dormant_after_s, until_quiet=self.until_quiet
        )
        core.state.link.outbox.on_change = lambda: self._perform(core.audio.on_sound_waiting(self._now()))
        self._router = self._make_router()
        life = self.orchestrator.lifecycle
        self.handle = life.handle = self._make_handle()
        self.agent_session = agent_session or AgentSession()
        self.agent_session.attach(self.handle, self.orchestrator)
        life.session = self.handle.agent_session = self.agent_session
        self.handle.harness.on_changed = self.on_records_changed
        life.spawn_hook = self.agent_session.spawn_hook
        self.orchestrator.tools.dispatcher.make_context = partial(
            RunContext, session=self.agent_session, until=self.until, playing=lambda: bool(core.state.playing)
        )

    def _make_orchestrator(
        self,
        plan: SessionPlan,
        capabilities: Capabilities,
        text_model: TextModel | None,
        source: Source[SessionPlan] | None,
        own_store: OwnStore | None,
        harness: HarnessWorker | None,
        consent: ConsentOptions | None,
    ) -> Orchestrator:
        host = SessionHost(
            self._core,
            self._audio,
            self._clock,
            perform=self._perform,
            reconnect=self._renew_connection,
            move=self._move_connection,
            until=self.until,
            speaks_with=self._speaks_with,
            on_change=self._changed.set,
        )
        route = capabilities.route(plan.definition.instruction_route, model=self._started.model)
        writer = WireWriter(
            self._core.state.link,
            capabilities,
            route,
            emit=self.bus.emit,
            on_prompt=host.note_prompt,
            on_lost=self._on_send_lost,
        )
        return Orchestrator(
            plan,
            bus=self.bus,
            host=host,
            writer=writer,
            clock=self._clock,
            async_tools=capabilities.async_tools,
            text_model=text_model,
            source=source,
            own_store=own_store,
            harness=harness,
            session_id=self._started.session_id,
            consent=consent,
        )

    def _make_router(self) -> CommandRouter:
        router = CommandRouter(self.bus, self._core.is_over)
        for kind, handler in self._core.commands.handlers().items():
            if kind is SendText:
                router.register(SendText, partial(self._send_text, handler))
            else:
                router.register(kind, self._through_core(handler))
        router.register(SetDevices, self._change_devices)
        router.register(SetOptions, self._set_options)
        router.register(SetVoice, self._set_voice)
        router.register(CommitTurn, self.audio_input.turns.commit)
        router.register(ClearTurn, self.audio_input.turns.clear)
        router.register(Connect, self._connect)
        router.register(Drain, lambda order, command_id: self.drain())
        router.register(Sleep, self._sleep)
        self.orchestrator.register(router)
        return router

    def _make_handle(self) -> LiveHandle:
        return LiveHandle(
            self.orchestrator,
            self.audio_input,
            carry_out=self._router.dispatch,
            until_quiet=self.until_quiet,
            hang_up=self.hang_up,
            drain=self.drain,
            done=self.done,
        )

    def _through_core(self, handler: CoreHandler) -> Callable[[Order, str], None]:
        def carry_out(order: Order, command_id: str) -> None:
            self._perform(handler(self._now(), order, command_id))

        return carry_out

    async def _send_text(self, handler: CoreHandler, order: SendText, command_id: str) -> None:
        """Send a typed text once the disk has it, so that no death of ours loses it."""
        self.orchestrator.agent.input_times.on_typed(command_id)
        if order.text.strip() and len(order.text) <= MAX_TEXT:
            self.bus.emit(ev.SendIntended(kind="text", ref=command_id, text=order.text))
            if not await self.bus.written():
                self.bus.emit(ev.Notice(level="warning", code="not-on-disk", text=NOT_ON_DISK))
        self._perform(handler(self._now(), order, command_id))

    # -- host interface --------------------------------------------------------------------------------------------

    async def run(self) -> int:
        """Live until the end; return the exit code."""
        emit = self.bus.emit
        opening = asyncio.create_task(self._open_audio(), name="open audio")
        self._tasks = [
            asyncio.create_task(self._supervise(lambda: self._connections.run(opening)), name="converse"),
            asyncio.create_task(self._run_dormancy(), name="dormancy"),
        ]
        try:
            if self._kept is None:
                emit(self._started)
            emit(describe(self.orchestrator.agent.plan))
            self._perform(self._core.turn_detection.publish(self._now()))
            self._is_running = True
            for notice in self._notices:
                emit(notice)
            end = await self._end
            self.orchestrator.tools.tasks.end(f"The session ended: {end.reason}")
            await self._wind_up(opening)
            self.orchestrator.timers.report_losses()
            emit(ev.SessionState(word="offline", reason=end.reason))
            emit(ev.SessionEnded(reason=end.reason, exit_code=end.exit_code, by=end.by))
            self.bus.close()
            return self._finish(end.exit_code)
        except BaseException:
            # Cancelled, or broken: devices and socket are closed all the same, and `done` is set.
            self.orchestrator.tools.tasks.end("The session was stopped")
            try:
                await self._wind_up(opening)
            finally:
                self._finish(1)
            raise

    def _finish(self, exit_code: int) -> int:
        self.orchestrator.subscribers.end()
        if not self.done.done():
            self.done.set_result(exit_code)
        self._changed.set()
        return exit_code

    async def command(self, command: Command) -> str:
        """Carry out a command; return why it was refused, which is published too, or ""."""
        self.orchestrator.agent.answers.end()
        return await self._router.dispatch(command)

    def _on_begun(self) -> None:
        """End what an earlier engine did, now that the agent knows what went before."""
        kept, self._kept = self._kept, None
        if kept is not None:
            idempotent = {tool.name for tool in self.orchestrator.agent.plan.declared if tool.idempotent}
            self._perform(end_what_was_cut_off(self._core.state, kept.work, idempotent, self._now()))

    def _set_options(self, order: SetOptions, command_id: str) -> None:
        turns = self._core.turn_detection
        plans = (self.orchestrator.agent.plan, *(before.plan for before in self.orchestrator.handoff.paused))
        needs_own_turns = next((plan.needs_own_turns for plan in plans if plan.needs_own_turns), "")
        self._perform(turns.accept(self._now(), order, needs_own_turns))
        if turns.is_due:
            self._perform(turns.leave(self._now()))
            self._perform(turns.take(self._now()))

    def _set_voice(self, order: SetVoice, command_id: str) -> None:
        state = self._core.state
        voice = order.voice.strip()
        if state.turn_options.fixed:
            raise AgentError(
                f"The voice cannot change in this session: {state.turn_options.fixed}", field="voice", value=voice
            )
        if voice == state.voice:
            return
        state.voice = voice
        self.bus.emit(ev.VoiceChanged(voice=voice))
        if state.link.has_adapter:
            self._connections.renew()

    def _connect(self, order: Connect, command_id: str) -> None:
        self._connections.connect()

    def _sleep(self, order: Sleep, command_id: str) -> None:
        if not self._dormancy.sleep():
            raise GeminiLiveError("There is no connection to close, or the agent is held", field="session.sleep")

    def report(self, payload: ev.Payload) -> bool:
        """Publish what the host found out; return False once the session is over.

        Before the session's first event it waits.
        """
        if not self._is_running:
            self._notices = (*self._notices, payload)
        elif not self.bus.closed:
            self.bus.emit(payload)
        return not self.bus.closed

    def on_records_changed(self) -> None:
        """Look at the records that another program has changed."""
        self.orchestrator.tools.tasks.look_for_requests()
        self.orchestrator.notifications.look()
        self.orchestrator.memory.look()
        self.orchestrator.consent.look()

    @property
    def first_failure(self) -> GeminiLiveError | None:
        """Error that kept the session from its very first connection; None without one."""
        return self._connections.first_failure

    def hang_up(self, reason: str) -> None:
        """End in an orderly way."""
        self._perform(self._core.end(self._now(), reason, 0))

    def finish_tasks(self, reason: str) -> bool:
        """Leave the conversation and end once the last task has; False without one."""
        tasks = self.orchestrator.tools.tasks
        if tasks.is_idle or self._core.is_over():
            return False
        if not self._core.state.is_finishing:
            self._core.state.is_finishing = True
            self._tasks.append(asyncio.create_task(self._supervise(lambda: self._finish_tasks(reason)), name="finish"))
        return True

    async def _finish_tasks(self, reason: str) -> None:
        self._connections.sleep()
        await self._close_audio()
        self._on_audio_opened(AudioOpened(None, None, (FINISHING_TASKS,), ""))
        await self.until(lambda: self.orchestrator.tools.tasks.is_idle)
        self._perform(self._core.end(self._now(), f"{reason}; its tasks have ended", 0))

    def drain(self) -> None:
        """End once all that is owed is said; take nothing more of the user's."""
        if not (self._core.state.is_draining or self._core.is_over()):
            self._perform(self._core.drain(self._now()))
            self._tasks.append(asyncio.create_task(self._end_when_quiet(), name="drain"))

    async def _end_when_quiet(self) -> None:
        await self.until_quiet(0.0, tasks_too=True)
        self.orchestrator.take_leave()
        await self.until_quiet(0.0, tasks_too=True)
        self._perform(self._core.end(self._now(), "all that was owed is said", 0, "drain"))

    def on_console_attached(self, attached: bool) -> None:
        """Note that a console is there, or none.

        Without one a held agent goes on, and a lost link is made again for a limited time only.
        """
        self._connections.on_console_attached(attached)
        self.orchestrator.checkpoints.on_console_attached(attached)

    def on_watched(self, watched: bool) -> None:
        """Note at once that a console is there, or none, in which the model is read."""
        self.orchestrator.notifications.on_watched(watched)

    def sample(self) -> MeterSample:
        """Return the current meters."""
        meters = self._audio.levels()
        if self._health is not None:
            # What an outage has dropped is no fault of the sound.
            self._health.on_sample(meters)
        if dropped := self._core.state.link.outbox.audio.dropped:
            meters = replace(meters, mic_dropped=meters.mic_dropped + dropped)
        if answer := self._core.state.answer_word:
            meters = replace(meters, answer=answer)
        return meters

    @property
    def is_quiet(self) -> bool:
        """True when wire, speaker and agent are quiet and nothing is owed.

        So they are while calls wait for tasks, which wait for the user.
        """
        is_silent = not (self._audio.playing or self.audio_input.turns.is_completing)
        return self._core.is_quiet and is_silent and self.orchestrator.is_quiet

    async def until_quiet(self, seconds: float, *, microphone_too: bool = False, tasks_too: bool = False) -> None:
        """Return once the session was quiet for `seconds`, or is over.

        With `microphone_too`, after the microphone's file was read; with `tasks_too`, after the last task's end.
        """

        def is_quiet() -> bool:
            return self.is_quiet and (not tasks_too or self.orchestrator.tools.tasks.is_idle)

        while not self.done.done():
            if not is_quiet() or (microphone_too and not self._audio.finished):
                await self._change()
                continue
            if seconds <= 0:
                return
            try:
                async with asyncio.timeout(seconds):
                    while is_quiet() and not self.done.done():
                        await self._change()
            except TimeoutError:
                return

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once a condition holds, or the session is over."""
        while not (condition() or self.done.done()):
            await self._change()

    async def opened(self) -> None:
        """Return once the connection is ready, or will not be."""
        while self._core.connection.unsettled and not (self._end.done() or self.done.done()):
            await self._change()

    async def _change(self) -> None:
        self._changed.clear()
        # A speaker that drops what it had queued does not say so: look again.
        again_s = PLAYING_CHECK_S if self._audio.playing else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(again_s):
                await self._changed.wait()

    async def _supervise(self, part: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run a part of the session; a fault in it ends the session with a notice."""
        try:
            await part()
        except GeminiLiveError as error:
            text, remedy = redactor.text(error.message), redactor.text(error.remedy)
            self.bus.emit(ev.Notice(level="error", code=error.code, text=text, remedy=remedy))
            self._perform(self._core.end(self._now(), redactor.text(str(error)), error.exit_code))
        except Exception as error:
            text = self.orchestrator.faults.internal("The session failed", error)
            self._perform(self._core.end(self._now(), f"internal error: {text}", 1))

    async def _run_dormancy(self) -> None:
        """Let the session sleep; a fault in that costs a minute without sleep."""
        while True:
            try:
                await self._dormancy.run()
                return
            except Exception as error:
                self.orchestrator.faults.internal("The session does not sleep for a minute", error)
            await asyncio.sleep(WITHIN_S)

    def _log(self, error: Exception) -> None:
        for line in traceback_lines(error):
            self.bus.emit(ev.Log(source="engine", level="error", text=redactor.text(line)))

    # -- devices -----------------------------------------------------------------------------------------------------

    async def _open_audio(self) -> None:
        self._on_audio_opened(await self._audio.open(self.audio_input))

    def _on_audio_opened(self, opened: AudioOpened, *, again: bool = False) -> None:
        if opened.output is not None:
            self.orchestrator.observer.speaker_ms = opened.output.latency_ms
        self._perform(self._core.audio.on_opened(self._now(), _opened_event(opened, again=again)))

    async def _change_devices(self, order: SetDevices, command_id: str) -> None:
        if not isinstance(self._audio, ChangesDevices):
            raise AgentError("This session uses no sound devices")
        self._on_audio_opened(await self._audio.change(order.input or None, order.output or None, order.headphones))

    # -- the end -----------------------------------------------------------------------------------------------------

    async def _wind_up(self, opening: asyncio.Task[None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        opening.cancel()
        for task in self._tasks:
            task.cancel()
        parts: tuple[tuple[Callable[[], Awaitable[None]], float], ...] = (
            (lambda: self._end_tasks(opening), ENDING_S),
            (self.orchestrator.handoff.close, ENDING_S),
            (self.orchestrator.notifications.close, ENDING_S),
            (self.orchestrator.tools.close, 2 * ENDING_S),
            (self.orchestrator.close, AGENT_ENDING_S),
            (self._connections.hang_up, ENDING_S),
            (self._close_audio, ENDING_S),
        )
        for part, within_s in parts:
            try:
                async with asyncio.timeout(within_s):
                    await part()
            except TimeoutError:
                pass
            except Exception as error:
                self._log(error)
        self._perform(self._core.tools.abandon(self._now()))
        self._perform(self._core.connection.on_hung_up(self._now()))
        await self._closing()
        self._recorder.flush()

    async def _end_tasks(self, opening: asyncio.Task[None]) -> None:
        await asyncio.gather(opening, *self._tasks, return_exceptions=True)

    async def _close_audio(self) -> None:
        self._sound.close()
        try:
            await self._audio.close()
        except GeminiLiveError as error:
            self.bus.emit(ev.Notice(level="error", code=error.code, text=error.message, remedy=error.remedy))

    # -- effects -----------------------------------------------------------------------------------------------------

    def _perform(self, effects: list[Effect]) -> None:
        calls: list[RunTool] = []
        for effect in effects:
            match effect:
                case Emit(payload=ev.SessionState(word=word, reason=reason)) if (word, reason) != self._core.state.word:
                    # A handler of an earlier effect has changed the word, and published the newer one.
                    continue
                case Emit(payload=ev.TurnCompleted() as completed):
                    latency_ms = self.orchestrator.agent.telemetry.latency_so_far_ms
                    self.bus.publish(replace(completed, latency_ms=latency_ms), effect.turn, effect.gen)
                case Emit():
                    self.bus.publish(effect.payload, effect.turn, effect.gen)
                case Play():
                    self._sound.play(effect.gen, effect.pcm, effect.rate)
                case Send():
                    self._send(effect)
                case InterruptModel():
                    self._writer.interrupt()
                case Tell():
                    self._tell(effect)
                case Prompt():
                    self._prompt(effect.reason)
                case SendKeptAudio():
                    self.audio_input.send_kept(effect.chunks)
                case EndOfAudio():
                    self._sound.end_of_turn(effect.gen)
                case Cut():
                    # Barge-in: playback is cut here, and the core learns what was heard.
                    self._sound.cut(effect.cut_below)
                    self._audio.cut(effect.cut_below)
                    heard = self._audio.played_samples(effect.victim)
                    self._perform(self._core.audio.on_cut(self._now(), effect, heard))
                case Pause():
                    self._audio.set_paused(effect.on)
                    if effect.gen:
                        at = self._audio.played_samples(effect.gen)
                        self._perform(self._core.interruptions.on_paused(self._now(), effect, at))
                case Microphone():
                    self._audio.set_microphone(effect.on)
                    self.audio_input.on_microphone(effect.on)
                case Speaker():
                    self._audio.set_speaker(effect.on)
                case RunTool():
                    calls.append(effect)
                case CancelTool():
                    if calls:
                        self.orchestrator.on_calls(calls)
                        calls = []
                    self.orchestrator.cancel_call(effect.call_id)
                case LeaveConnection():
                    self._connections.leave(effect.reason)
                case EndActivity():
                    self.audio_input.turns.end_by_hand()
                case WakeConnection():
                    self._connections.wake(effect.by)
                case RenewConnection():
                    self._connections.renew()
                case ApplyTurnOptions():
                    self.audio_input.turns.apply_options()
                case End():
                    if not self._end.done():
                        self._end.set_result(effect)
                case _:
                    assert_never(effect)
        if calls:
            self.orchestrator.on_calls(calls)
        self._changed.set()
        self._schedule()

    def _send(self, send: Send) -> None:
        agent = self.orchestrator.agent
        if send.text:
            self.audio_input.turns.settle_now()
            self.orchestrator.steering.flush()
            if agent.context_queue.has_context:
                agent.user_writer.flush()
        self._writer.post(send)

    def _tell(self, tell: Tell) -> None:
        try:
            self._writer.send_context((tell.text,), tell.role, reason=tell.reason)
        except ConnectionClosedError:
            pass  # its reader reports the end
        except GeminiLiveError as error:
            text = f"Not sent: {error.message}"
            self.bus.emit(ev.Notice(level="error", code=error.code, text=text, remedy=error.remedy))

    def _prompt(self, reason: str) -> None:
        with contextlib.suppress(ConnectionClosedError):
            self._writer.prompt_model(reason)

    def _on_send_lost(self, send: Send) -> None:
        self._perform(self._core.on_not_sent(self._now(), send))

    def _move_connection(self, fresh: bool) -> None:
        self._connections.move_now(fresh=fresh)

    def _renew_connection(self) -> None:
        self._connections.renew()

    def _play_further(self, play: Play) -> None:
        """Play a piece of sound that has changed nothing else.

        So no deadline comes nearer: one that goes makes a tick with nothing to do.
        """
        self._sound.play(play.gen, play.pcm, play.rate)
        self._changed.set()

    def _play(self, gen: int, pcm: bytes) -> None:
        self._audio.play(gen, pcm)
        self._model_sound(pcm)

    # -- time --------------------------------------------------------------------------------------------------------

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
        guard = self.orchestrator.faults.guard
        if not guard("A timer failed", lambda: self._perform(self._core.tick(self._now()))) and not self._end.done():
            self._due = self._now() + FAULT_REST_S
            self._timer = asyncio.get_running_loop().call_at(self._due, self._tick)

    def _now(self) -> float:
        return self._clock.now()


def _opened_event(opened: AudioOpened, *, again: bool) -> ev.AudioOpened:
    return ev.AudioOpened(
        input=opened.input.name if opened.input else "",
        output=opened.output.name if opened.output else "",
        input_rate=opened.input.rate if opened.input else 0,
        output_rate=opened.output.rate if opened.output else 0,
        echo_canceller=opened.echo_canceller,
        problems=opened.problems,
        again=again,
    )
