"""Host one session: create it, run it, carry out commands, end it.

The host knows nothing of processes; `process` wraps it in one, `in_process` runs it inside the caller's event loop.

Order of a life: the hub and the journal exist before the session, so that a session that cannot be created still ends
with events that say why. `session.started` is always the first event and `session.ended` the last, whichever way it
ends: by itself, by a hang-up, by a crash, or cancelled. Only commands that came too late are refused after it, and a
failing disk is reported: the journal is flushed first, then consoles get their goodbye, then the journal is closed.

Commands wait in a bounded queue and are carried out one after the other, in the order of their arrival. A hang-up does
not wait in that queue: it must also end a session whose current command never returns.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime import __version__, paths
from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import error_text
from gemini_live_runtime.clock import Clock, LoopClock
from gemini_live_runtime.commands import Command, HangUp
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.saved_spec import save_spec
from gemini_live_runtime.engine.spec import EngineSpec
from gemini_live_runtime.engine.status import EngineStatus
from gemini_live_runtime.errors import GeminiLiveError, ProtocolError
from gemini_live_runtime.journal.recording.flac import convert_in_background, convert_left_over
from gemini_live_runtime.journal.recording.kept_journal import KeptJournal, read_kept
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.journal.sessions.retention import track_files
from gemini_live_runtime.redactor import redactor, traceback_lines
from gemini_live_runtime.restarts import is_reported
from gemini_live_runtime.threads import start_daemon_thread

if TYPE_CHECKING:
    from gemini_live_runtime.session.ports.sink import RunnableSession

SessionFactory = Callable[[EngineSpec, Hub, Clock], "RunnableSession"]
"""Function that creates the session of a spec. An exception ends the engine with a notice."""

MAX_COMMANDS = 1000
"""Commands that may wait; further ones are refused."""

HANG_UP_S = 10.0
"""Seconds for a session to end after a hang-up, before it is cancelled."""

DETACHED_S = 10.0
"""Seconds without a console after which a held agent continues; a console that lost its terminal is back sooner."""

FIRST_CONSOLE_S = 5.0
"""Seconds that an ended session waits for its first console, which shows the reason."""


PROGRAM = f"{paths.APP} {__version__}"


class Host:
    """Host of one session: `run` it to the end, then `close`."""

    def __init__(self, spec: EngineSpec, factory: SessionFactory, *, clock: Clock | None = None) -> None:
        self.spec = spec
        self._factory = factory
        self._clock = clock or LoopClock()
        self._loop = asyncio.get_running_loop()
        self._session: RunnableSession | None = None
        self._task: asyncio.Task[int] | None = None
        self._faults: Counter[str] = Counter()
        self._commands: deque[Command] = deque()
        self._command_queued = asyncio.Event()
        self._hang_up_reason = ""
        self._hang_up_timer: asyncio.TimerHandle | None = None
        self._linger_timer: asyncio.TimerHandle | None = None
        self._detached_timer: asyncio.TimerHandle | None = None
        self._alone_since: float | None = self._loop.time()
        """Loop time since which no console is attached; None with one."""
        self._awaits_console = False
        """True for an engine of its own, whose model only consoles and loudspeakers make heard."""
        self._finishes_tasks = False
        self._finished = False
        self._stop_reason = ""
        self._console_attached = asyncio.Event()
        self._early: list[ev.Payload] = []
        """Reports from before the session exists."""
        self.failure: Exception | None = None
        """Error that kept the session from starting, or that it broke down with."""
        kept = read_kept(self._root / paths.safe_name(spec.session_id)) if spec.resume else None
        last, was_ended = 0, False
        if kept is not None:
            # The view goes on with the first event of this engine.
            self.spec, last, was_ended = replace(spec, record=kept.view.record), kept.view.seq, kept.is_ended
        self.hub = Hub(
            paths.safe_name(spec.session_id, field="session_id"),
            self._clock,
            program=PROGRAM,
            pid=os.getpid(),
            on_consoles=self._consoles_changed,
            kept=kept,
        )
        self.hub.harness_root = self.spec.harness_root
        self._open_journal(kept)
        if kept is not None:
            self.hub.tell(
                ev.SessionResumed(
                    kept=last,
                    after="end" if was_ended else "crash",
                    wall=self._clock.wall(),
                    record=self.spec.record,
                    program=PROGRAM,
                )
            )

    @property
    def _root(self) -> Path:
        """Folder of all recordings."""
        return Path(self.spec.data_dir) / "sessions" if self.spec.data_dir else paths.sessions_dir()

    def _open_journal(self, kept: KeptJournal | None) -> None:
        spec = self.spec
        if spec.record == "off":
            return
        root = self._root
        try:
            journal = JournalWriter(
                root,
                spec.session_id,
                audio=spec.record == "audio",
                report=self._report_from_thread,
                cap_bytes=spec.record_cap_bytes,
                kept=kept,
            )
            save_spec(journal.folder, spec)
            if spec.record == "audio":
                # In a thread: looking at all recorded sessions takes seconds when the disk is cold.
                start_daemon_thread(lambda: convert_left_over(root), "convert")
            self.hub.journal, self.hub.folder = journal, str(journal.folder.absolute())
        except GeminiLiveError as error:
            # The session's events say what is recorded, which must be true.
            self.spec = replace(spec, record="off")
            self._early.append(_notice("not-recorded", error))

    def _report_from_thread(self, payload: ev.Payload) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the session
            self._loop.call_soon_threadsafe(self._report, payload)

    def _report(self, payload: ev.Payload) -> None:
        """Publish what the journal reports as an event of the session.

        So its program hears of it, and counts errors.
        """
        if self._session is None and not self._finished:
            self._early.append(payload)
        elif self._session is None or not self._session.report(payload):
            self.hub.tell(payload)

    def report_fault(self, error: Exception) -> None:
        """Publish a fault that reached the event loop.

        The same one is published exponentially less often.
        """
        text = f"A part of the engine failed: {redactor.text(error_text(error))[:500]}"
        self._faults[text] += 1
        if is_reported(self._faults[text]) and not self._finished:
            self._report(ev.Notice(level="error", code="internal", text=text, remedy="The log has the traceback"))

    # -- commands ---------------------------------------------------------------------------------------------------

    def submit(self, line: bytes) -> bool:
        """Queue one line from a console; return True when it was a command.

        Refusals become events.
        """
        from gemini_live_runtime import vocabulary

        try:
            command = vocabulary.command_from_line(line)
        except ProtocolError as error:
            self._refuse(*_id_and_name(line), str(error))
            return False
        if self._finished:
            self._refuse(command.id, command.order.command, "The session is over.")
        elif isinstance(command.order, HangUp):
            self.hang_up(command.order.reason, finish_tasks=command.order.finish_tasks)
        elif len(self._commands) >= MAX_COMMANDS:
            self._refuse(command.id, command.order.command, f"{MAX_COMMANDS} commands are waiting already.")
        else:
            self._commands.append(command)
            self._command_queued.set()
        return True

    def _refuse(self, ident: str, name: str, reason: str) -> None:
        self.hub.tell(ev.CommandRefused(command_id=ident, command=name, reason=redactor.text(reason)))

    async def _carry_out(self, session: RunnableSession) -> None:
        while True:
            while self._commands:
                command = self._commands.popleft()
                try:
                    await session.command(command)
                except Exception as error:
                    self._refuse(command.id, command.order.command, f"It failed: {redactor.text(repr(error)):.300}")
            self._command_queued.clear()
            await self._command_queued.wait()

    def on_records_changed(self) -> None:
        """Note that another program has changed tasks or notifications."""
        if self._session is not None and not self._finished:
            self._session.on_records_changed()

    # -- the end ----------------------------------------------------------------------------------------------------

    def hang_up(self, reason: str, *, finish_tasks: bool = False) -> None:
        """Ask the session to end in an orderly way; cancel it after `HANG_UP_S`.

        With `finish_tasks` one with tasks leaves the conversation, and ends once they have.
        """
        if self._hang_up_reason:
            return
        if finish_tasks and self._session is not None and self._session.finish_tasks(reason):
            self._finishes_tasks = True
            return
        self._hang_up_reason = reason or "hung up"
        if self._session is not None:
            self._ask_to_end(self._session)

    def _ask_to_end(self, session: RunnableSession) -> None:
        self._hang_up_timer = self._loop.call_later(
            HANG_UP_S, self.stop_at_once, f"the session did not end within {HANG_UP_S:.0f} s of being asked to"
        )
        session.hang_up(self._hang_up_reason)

    def stop_at_once(self, reason: str) -> None:
        """Cancel the session; the journal is still closed properly."""
        self._stop_reason = self._stop_reason or reason
        if self._task is not None:
            self._task.cancel()

    def _consoles_changed(self, count: int) -> None:
        if self._detached_timer is not None:
            self._detached_timer.cancel()
            self._detached_timer = None
        if bool(count) is (self._alone_since is not None):
            self._alone_since = None if count else self._loop.time()
        if self._session is not None and not self._finished:
            self._session.on_watched(count > 0)
        if count:
            self._console_attached.set()
            self._set_attached(True)
        elif self._console_attached.is_set() and not self._finished:
            self._detached_timer = self._loop.call_later(DETACHED_S, self._set_attached, False)
        if self._linger_timer is not None:
            self._linger_timer.cancel()
            self._linger_timer = None
        if not count and not self._finished:
            linger = self.spec.linger_s
            reason = f"no console for {linger / 60:.0f} min" if linger >= 60 else f"no console for {linger:.0f} s"
            self._linger_timer = self._loop.call_later(linger, partial(self.hang_up, reason, finish_tasks=True))

    def _set_attached(self, attached: bool) -> None:
        if self._session is not None and not self._finished:
            self._session.on_console_attached(attached)

    def status(self) -> EngineStatus:
        """Return what the engine does."""
        now, timer = self._loop.time(), self._linger_timer
        is_ending = timer is not None and not timer.cancelled() and timer.when() > now
        view = self.hub.view
        return EngineStatus(
            word=view.word,
            consoles=self.hub.consoles,
            alone_s=None if self._alone_since is None else now - self._alone_since,
            ends_in_s=timer.when() - now if is_ending and timer is not None else None,
            tasks=len(view.harness.running),
            finishes=self._finishes_tasks,
            harness_root=self.hub.harness_root,
        )

    # -- life cycle -------------------------------------------------------------------------------------------------

    async def run(self, *, await_console: bool = True, started: Callable[[], None] | None = None) -> int:
        """Create the session, run it to its end and return its exit code.

        With `await_console` it ends `linger_s` after the last console detached. `started` is called when the session
        exists.
        """
        self._awaits_console = await_console
        if await_console:
            self._consoles_changed(self.hub.consoles)
        try:
            code = await self._live(started)
        finally:
            self._finished = True
            for timer in (self._hang_up_timer, self._linger_timer, self._detached_timer):
                if timer is not None:
                    timer.cancel()
        if await_console and not self._console_attached.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._console_attached.wait(), FIRST_CONSOLE_S)
        if self.hub.journal is not None:
            # A disk that fails at the very end is reported while consoles are still attached.
            has_end = await asyncio.to_thread(_flush, self.hub.journal)
            self.hub.gate.on_journal_closed(self.hub.journal.missing_events, has_end=has_end)
            self._tell_missing(self.hub.journal)
        self.hub.bye(self.hub.view.ended or "ended", code)
        return code

    def _tell_missing(self, journal: JournalWriter) -> None:
        missing, cut = journal.missing_events, self.hub.values_cut
        if missing:
            events = "1 event is" if missing == 1 else f"{missing:,} events are"
            self.hub.tell(
                ev.Notice(
                    level="error",
                    code="events-missing",
                    text=f"{events} missing in the session file.",
                    remedy=f"{journal.remedy} before the next session",
                )
            )
        if cut > 1:
            text = f"{cut:,} values were too large for an event and were cut."
            self.hub.tell(ev.Notice(level="warning", code="values-cut", text=text))

    async def close(self) -> None:
        """Close the journal; nothing is emitted after this."""
        journal, self.hub.journal = self.hub.journal, None
        if journal is not None:
            await asyncio.to_thread(_close, journal)

    async def _live(self, started: Callable[[], None] | None) -> int:
        try:
            session = self._session = self._factory(self.spec, self.hub, self._clock)
        except Exception as error:
            return self._fail("The session cannot be started", error)
        for payload in self._early:
            session.report(payload)
        if self._awaits_console:
            session.on_watched(self.hub.consoles > 0)
        if started is not None:
            started()
        self.hub.sample_source = session.sample
        self._task = self._loop.create_task(session.run())
        commands = self._loop.create_task(self._carry_out(session))
        if self._hang_up_reason:
            # The hang-up came while the session was created: its task must take a first step before.
            self._loop.call_soon(self._ask_to_end, session)
        if self._stop_reason:
            self._task.cancel()
        try:
            code = await self._task
        except asyncio.CancelledError:
            if not self._stop_reason:
                raise
            code = self._end(f"Stopped: {self._stop_reason}", 1)
        except Exception as error:
            return self._fail("The session broke down", error)
        finally:
            commands.cancel()
            await asyncio.gather(commands, return_exceptions=True)
            for command in self._commands:
                self._refuse(command.id, command.order.command, "The session ended first.")
        return self._end("The session ended", code)

    def _fail(self, what: str, error: Exception) -> int:
        self.failure = error
        if not self.hub.view.seq:
            spec = self.spec
            self.hub.tell(
                ev.SessionStarted(
                    session_id=spec.session_id,
                    agent=spec.agent,
                    model=spec.model,
                    backend=redactor.text(spec.backend),
                    wall=self.hub.wall,
                    record=spec.record,
                    mode=spec.mode,
                    program=PROGRAM,
                )
            )
        if self._session is None:
            for payload in self._early:
                self.hub.tell(payload)
        if isinstance(error, GeminiLiveError):
            self.hub.tell(_notice(error.code, error))
            return self._end(redactor.text(str(error)), error.exit_code)
        sentence = f"{what}: {type(error).__name__}: {redactor.text(str(error))[:500]}"
        self.hub.tell(ev.Notice(level="error", code="crash", text=sentence, remedy="The log has the traceback"))
        for line in traceback_lines(error):
            self.hub.tell(ev.Log(source="engine", level="error", text=line))
        return self._end(sentence, 1)

    def _end(self, reason: str, code: int) -> int:
        if not self.hub.view.ended:
            self.hub.tell(ev.SessionEnded(reason=reason, exit_code=code, by="error" if code else "request"))
        return code


def _notice(code: str, error: GeminiLiveError) -> ev.Notice:
    return ev.Notice(
        level="error",
        code=code,
        text=redactor.text(f"{error.message.rstrip('.')}."),
        remedy=redactor.text(error.remedy),
    )


def _flush(journal: JournalWriter) -> bool:
    """Write what waits; return True when the newest event is in the file."""
    journal.flush()
    return journal.is_written


def _close(journal: JournalWriter) -> None:
    journal.close()
    if any(track_files(journal.folder)):
        convert_in_background(journal.folder.parent, (journal.folder.name,))


def _id_and_name(line: bytes) -> tuple[str, str]:
    """Return the id and name of a malformed command, "" for one that is missing."""
    from gemini_live_runtime import vocabulary

    try:
        value = vocabulary.parse_object(line, "command")
    except ProtocolError:
        return "", ""
    return tuple(str(value.get(key, ""))[:80] for key in ("id", "command"))  # type: ignore[return-value]
