"""Run one session on one event loop, from its parts to its end.

The end has an order: tools and agent are closed before the socket, so that answers and the last snapshot still find
what they need, and each part has its own time, so that one that hangs cannot keep the devices open.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import (
    AudioIO,
    AudioOpened,
    ChangesDevices,
)
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.commands import (
    Command,
    Drain,
    SetDevices,
)
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.recording.wire_recorder import WireRecorder
from gemini_live_runtime.redactor import redactor, traceback_lines
from gemini_live_runtime.restarts import WITHIN_S
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.session.agent.host import SessionHost
from gemini_live_runtime.session.agent.tools.consent import ConsentOptions
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.microphone import FINISHING_TASKS
from gemini_live_runtime.session.core.taking_up import end_what_was_cut_off, take_up
from gemini_live_runtime.session.definition.description import describe
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.io.agent_session import AgentSession
from gemini_live_runtime.session.io.audio_input import AudioInput
from gemini_live_runtime.session.io.changes import Changes
from gemini_live_runtime.session.io.connections import ConnectionManager, Opening
from gemini_live_runtime.session.io.dormancy import Dormancy
from gemini_live_runtime.session.io.effect_performer import EffectPerformer
from gemini_live_runtime.session.io.handle import LiveHandle
from gemini_live_runtime.session.io.run_context import RunContext
from gemini_live_runtime.session.io.session_commands import SessionCommands
from gemini_live_runtime.session.lifespan import Lifespan
from gemini_live_runtime.session.metrics.sound_health import SoundHealth
from gemini_live_runtime.session.orchestrator import Orchestrator
from gemini_live_runtime.session.outbound.wire_writer import WireWriter
from gemini_live_runtime.session.ports.capabilities import Capabilities
from gemini_live_runtime.session.ports.event_bus import EventBus
from gemini_live_runtime.session.ports.sink import EventSink
from gemini_live_runtime.state.mutations import Origin, writing_as

if TYPE_CHECKING:
    from gemini_live_runtime.conversation.text_model import TextModel
    from gemini_live_runtime.session.agent.autosave import OwnStore
    from gemini_live_runtime.session.definition.definition import Definition
    from gemini_live_runtime.session.ports.agent_source import Source

__all__ = ["LiveSession", "Opening"]

ENDING_S = 2.0
"""Seconds that closing a part may take before it is abandoned."""

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
        self.done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        """Exit code, once the session has ended."""
        self._tasks: list[asyncio.Task[None]] = []
        self.bus = EventBus(sink, core.state.turns, core.state.ledger)
        self._changes = Changes(audio, self.done)
        self._performer = EffectPerformer(core, audio, self.bus, clock, self._changes)
        self._perform = self._performer.perform
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
        self._lifespan = Lifespan(self.orchestrator)
        if self._kept is not None:
            take_up(core.state, self._kept)
        self._connections = ConnectionManager(
            core,
            self.orchestrator,
            self._recorder,
            opening=opening,
            clock=clock,
            perform=self._perform,
            play=self._performer.play_further,
            pause=self.until_quiet,
            begin=self._lifespan.begin,
            on_begun=self._on_begun,
        )
        self.audio_input = AudioInput(
            core,
            audio,
            self.orchestrator,
            clock,
            perform=self._perform,
            on_change=self._changes.note,
            on_opened=lambda opened: self._on_audio_opened(opened, again=True),
        )
        self._performer.attach(self.orchestrator, self._connections, self.audio_input)
        self._dormancy = Dormancy(
            core.state, self._connections, self.bus, after_s=dormant_after_s, until_quiet=self.until_quiet
        )
        core.state.link.outbox.on_change = lambda: self._perform(core.audio.on_sound_waiting(self._clock.now()))
        commands = SessionCommands(
            core,
            self.orchestrator,
            self._connections,
            self._dormancy,
            self.audio_input.turns,
            self.bus,
            clock,
            perform=self._perform,
        )
        self._router = commands.make_router()
        self._router.register(SetDevices, self._change_devices)
        self._router.register(Drain, lambda order, command_id: self.drain())
        life = self.orchestrator.lifecycle
        self.handle = life.handle = self._make_handle()
        self.agent_session = agent_session or AgentSession()
        self.agent_session.attach(self.handle, self.orchestrator)
        life.session = self.handle.agent_session = self.agent_session
        self.handle.harness.on_changed = self.on_records_changed
        life.spawn_hook = self.agent_session.spawn_hook
        self.orchestrator.tools.dispatcher.make_context = partial(
            RunContext, session=self.agent_session, until=self._changes.until, playing=lambda: bool(core.state.playing)
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
            reconnect=lambda: self._connections.departure.renew(),
            move=lambda fresh: self._connections.departure.move_now(fresh=fresh),
            until=self._changes.until,
            speaks_with=self._speaks_with,
            on_change=self._changes.note,
        )
        route = capabilities.route(plan.definition.instruction_route, model=self._started.model)
        writer = WireWriter(
            self._core.state.link,
            capabilities,
            route,
            emit=self.bus.emit,
            on_prompt=host.note_prompt,
            on_lost=self._performer.on_send_lost,
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

    # -- host interface --------------------------------------------------------------------------------------------

    async def run(self) -> int:
        """Live until the end; return the exit code."""
        emit = self.bus.emit
        opening = asyncio.create_task(self._open_audio(), name="open audio")
        # It calls listeners to sound directly: naming the writer at each piece would cost more than the piece.
        with writing_as(Origin("callback", "on_audio")):
            converse = asyncio.create_task(self._supervise(lambda: self._connections.run(opening)), name="converse")
        self._tasks = [converse, asyncio.create_task(self._run_dormancy(), name="dormancy")]
        try:
            if self._kept is None:
                emit(self._started)
            emit(describe(self.orchestrator.agent.plan))
            self._perform(self._core.turn_detection.publish(self._clock.now()))
            self._is_running = True
            for notice in self._notices:
                emit(notice)
            end = await self._performer.end
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
        self._changes.note()
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
            self._perform(end_what_was_cut_off(self._core.state, kept.work, idempotent, self._clock.now()))

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
        self._perform(self._core.end(self._clock.now(), reason, 0))

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
        self._connections.departure.sleep()
        await self._close_audio()
        self._on_audio_opened(AudioOpened(None, None, (FINISHING_TASKS,), ""))
        await self._changes.until(lambda: self.orchestrator.tools.tasks.is_idle)
        self._perform(self._core.end(self._clock.now(), f"{reason}; its tasks have ended", 0))

    def drain(self) -> None:
        """End once all that is owed is said; take nothing more of the user's."""
        if not (self._core.state.is_draining or self._core.is_over()):
            self._perform(self._core.drain(self._clock.now()))
            self._tasks.append(asyncio.create_task(self._end_when_quiet(), name="drain"))

    async def _end_when_quiet(self) -> None:
        await self.until_quiet(0.0, tasks_too=True)
        self._lifespan.take_leave()
        await self.until_quiet(0.0, tasks_too=True)
        self._perform(self._core.end(self._clock.now(), "all that was owed is said", 0, "drain"))

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
        return self._core.is_quiet and is_silent and self._lifespan.is_quiet

    async def until_quiet(self, seconds: float, *, microphone_too: bool = False, tasks_too: bool = False) -> None:
        """Return once the session was quiet for `seconds`, or is over.

        With `microphone_too`, after the microphone's file was read; with `tasks_too`, after the last task's end.
        """

        def is_quiet() -> bool:
            return self.is_quiet and (not tasks_too or self.orchestrator.tools.tasks.is_idle)

        def is_ready() -> bool:
            return not microphone_too or self._audio.finished

        await self._changes.until_quiet(seconds, is_quiet, is_ready)

    async def opened(self) -> None:
        """Return once the connection is ready, or will not be."""
        await self._changes.until(lambda: self._performer.end.done() or not self._core.connection.unsettled)

    async def _supervise(self, part: Callable[[], Coroutine[None, None, None]]) -> None:
        """Run a part of the session; a fault in it ends the session with a notice."""
        try:
            await part()
        except GeminiLiveError as error:
            text, remedy = redactor.text(error.message), redactor.text(error.remedy)
            self.bus.emit(ev.Notice(level="error", code=error.code, text=text, remedy=remedy))
            self._perform(self._core.end(self._clock.now(), redactor.text(str(error)), error.exit_code))
        except Exception as error:
            text = self.orchestrator.faults.internal("The session failed", error)
            self._perform(self._core.end(self._clock.now(), f"internal error: {text}", 1))

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
            self.bus.emit(ev.Log(source="engine", level="error", text=line))

    # -- devices -----------------------------------------------------------------------------------------------------

    async def _open_audio(self) -> None:
        self._on_audio_opened(await self._audio.open(self.audio_input))

    def _on_audio_opened(self, opened: AudioOpened, *, again: bool = False) -> None:
        if opened.output is not None:
            self.orchestrator.observer.speaker_ms = opened.output.latency_ms
        self._perform(self._core.audio.on_opened(self._clock.now(), _opened_event(opened, again=again)))

    async def _change_devices(self, order: SetDevices, command_id: str) -> None:
        if not isinstance(self._audio, ChangesDevices):
            raise AgentError("This session uses no sound devices")
        self._on_audio_opened(await self._audio.change(order.input or None, order.output or None, order.headphones))

    # -- the end -----------------------------------------------------------------------------------------------------

    async def _wind_up(self, opening: asyncio.Task[None]) -> None:
        self._performer.stop()
        opening.cancel()
        for task in self._tasks:
            task.cancel()
        parts: tuple[tuple[Callable[[], Awaitable[None]], float], ...] = (
            (lambda: self._end_tasks(opening), ENDING_S),
            (self.orchestrator.handoff.close, ENDING_S),
            (self.orchestrator.notifications.close, ENDING_S),
            (self.orchestrator.tools.close, 2 * ENDING_S),
            (self._lifespan.close, AGENT_ENDING_S),
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
        self._perform(self._core.tools.abandon(self._clock.now()))
        self._perform(self._core.connection.on_hung_up(self._clock.now()))
        await self._closing()
        self._recorder.flush()

    async def _end_tasks(self, opening: asyncio.Task[None]) -> None:
        await asyncio.gather(opening, *self._tasks, return_exceptions=True)

    async def _close_audio(self) -> None:
        self._performer.sound.close()
        try:
            await self._audio.close()
        except GeminiLiveError as error:
            self.bus.emit(ev.Notice(level="error", code=error.code, text=error.message, remedy=error.remedy))


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
