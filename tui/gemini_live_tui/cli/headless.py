"""Hold a conversation without a screen: print events, send texts, end it.

The engine runs in this process, and ends in an orderly way on signals.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import EngineError, GeminiLiveError, JournalError, UsageError
from gemini_live_tui.cli.agent_output import AgentOutput

if TYPE_CHECKING:
    from gemini_live_runtime import events as ev
    from gemini_live_runtime.engine.in_process import InProcessEngine
    from gemini_live_runtime.engine.spec import EngineSpec
    from gemini_live_runtime.journal.completion.missing_parts import Completion
    from gemini_live_runtime.journal.plain import PlainWriter
    from gemini_live_runtime.session.io.live_session import LiveSession

STUCK_S = 15.0
"""Seconds after a signal until the process ends even when code of the agent blocks it."""

IDLE_S = 1.0
"""Seconds without activity after which a conversation is over."""

DEVICES_IDLE_S = 5.0
"""The same with sound devices: a microphone has no end, and a person takes time to answer."""


class HeadlessConversation:
    """Headless session: print events, send texts one a turn, and end when idle."""

    def __init__(
        self,
        spec: EngineSpec,
        texts: deque[str],
        *,
        until_idle: bool,
        timeout: float,
        form: str,
        detail: str,
        interactive: bool,
        debug: bool,
    ) -> None:
        """`texts` are sent one a turn; `interactive`: lines of standard input follow them.

        `until_idle` hangs up after a while of quiet. Beyond `timeout` seconds it fails. `form` is `plain` or `json`,
        `detail` what plain lines tell of the agent. `debug`: tracebacks are printed, too.
        """
        self._spec = spec
        self._texts = texts
        self._until_idle = until_idle
        self._timeout = timeout
        self._form = form
        self._detail = detail
        self._interactive = interactive
        self._debug = debug
        self._session: LiveSession | None = None
        self._plain: PlainWriter | None = None
        self._session_created = asyncio.Event()
        self._text_taken = asyncio.Event()
        """Set when the last text was sent to the model, or refused."""
        self._consent_asked = asyncio.Event()
        """Set while a call waits for a yes or a no."""
        self._count = 0
        self._failure: Exception | None = None
        self._end_asked = False
        self._closed: ev.ConnectionClosed | None = None
        self._signal: signal.Signals | None = None
        self._guard: threading.Timer | None = None

    async def run(self) -> int:
        """Run the conversation and return the exit code."""
        from gemini_live_runtime.engine.in_process import in_process

        with AgentOutput(as_lines=self._form == "plain") as output:
            engine = in_process(self._spec, self._make)
            output.report = engine.host.hub.report
            printing = asyncio.create_task(self._print(engine, self._writer(output)))
            deciding = asyncio.create_task(self._decide(engine))
            with self._signals(engine):
                try:
                    async with asyncio.timeout(self._timeout):
                        code = await engine.wait()
                except TimeoutError:
                    sentence = f"The conversation did not end within {self._timeout:g} s"
                    self._fail(EngineError(sentence, remedy="Give more time with --timeout", field="timeout"))
                    code = await engine.hang_up("the time was up")
                finally:
                    deciding.cancel()
                    await asyncio.gather(deciding, return_exceptions=True)
            await printing
            if self._plain is not None and self._session is not None:
                for line in self._plain.completed(engine.host.hub.gate.completion()):
                    print(line, file=output.stdout, flush=True)
        if self._session is None:
            _discard_recording(engine.host.hub.folder)
        if self._signal is not None:
            print(f"gemini-live-tui: Interrupted by {self._signal.name}.", file=sys.stderr)
            return 128 + self._signal
        return self._exit_code(code, engine.host.hub.gate.completion())

    def _exit_code(self, code: int, completion: Completion) -> int:
        """Return the exit code of a session that ended with `code`.

        Prints the first error, or else what the run lacks to be complete.
        """
        from gemini_live_tui.cli.command_line import exit_code_of

        failure = self._failure
        if failure is None and not (code or completion.is_complete):
            failure = EngineError(f"The run is not complete: {completion.words}", remedy=completion.remedy)
        if failure is None:
            return code
        own = exit_code_of(failure, debug=self._debug)
        return code or completion.exit_code or own if isinstance(failure, GeminiLiveError) else own

    def _make(self, *arguments: Any) -> LiveSession:
        from gemini_live_runtime.engine.assemble import make_session

        try:
            self._session = make_session(*arguments)
        except Exception as error:
            self._fail(error)
            raise
        self._session_created.set()
        return self._session

    def _fail(self, error: Exception) -> None:
        """Record an error; the command ends with the first one."""
        self._failure = self._failure or error

    def _hang_up(self, engine: InProcessEngine, reason: str) -> None:
        self._end_asked = True
        engine.host.hang_up(reason)

    @contextlib.contextmanager
    def _signals(self, engine: InProcessEngine) -> Iterator[None]:
        """Hang up on a signal, so that the journal is closed; a second one ends at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()

        def asked(number: int, frame: FrameType | None) -> None:
            # Runs between two bytecodes, so also while code of the agent blocks the loop.
            if self._signal is not None:
                raise KeyboardInterrupt
            self._signal = signal.Signals(number)
            guard = self._guard = threading.Timer(STUCK_S, os._exit, (128 + number,))
            guard.daemon = True
            guard.start()
            reason = "interrupted" if number == signal.SIGINT else f"asked to stop by {self._signal.name}"
            loop.call_soon_threadsafe(self._hang_up, engine, reason)

        numbers = [signal.SIGINT, signal.SIGTERM]
        # nohup ignores SIGHUP, so that the process survives a closed terminal.
        if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
            numbers.append(signal.SIGHUP)
        before = [(number, signal.signal(number, asked)) for number in numbers]
        try:
            yield
        finally:
            for number, handler in before:
                signal.signal(number, handler)
            if self._guard is not None:
                self._guard.cancel()

    async def _print(self, engine: InProcessEngine, write: Callable[[ev.Event], None]) -> None:
        """Print events as they come, and judge whether the conversation failed."""
        async for event in _events(engine):
            if write is not _nothing:
                try:
                    write(event)
                except OSError as error:
                    self._fail(error)
                    write = _nothing
                    self._hang_up(engine, "the output cannot be written")
            self._judge(event.payload, engine)

    def _judge(self, payload: ev.Payload, engine: InProcessEngine) -> None:
        from gemini_live_runtime import events as ev

        if isinstance(payload, ev.TextSent | ev.CommandRefused) and payload.command_id == self._command_id:
            self._text_taken.set()
        if isinstance(payload, ev.ConsentAsked):
            self._consent_asked.set()
        elif isinstance(payload, ev.ConsentGiven):
            self._consent_asked.clear()
        if isinstance(payload, ev.ConnectionClosed) and not (payload.requested or payload.moved):
            self._closed = payload
        elif isinstance(payload, ev.LinkGivenUp) and self._closed is not None:
            self._fail(EngineError(self._closed.sentence, remedy=self._closed.remedy, field="connection"))
            self._hang_up(engine, self._closed.sentence)
        elif self._closed is not None and not self._interactive and _is_given_up(payload):
            # A text without an answer that is not sent again: the talk did not do what it was asked for.
            self._fail(EngineError(self._closed.sentence, remedy=self._closed.remedy, field="connection"))
            self._hang_up(engine, self._closed.sentence)
        elif isinstance(payload, ev.CommandRefused) and not self._interactive:
            self._fail(EngineError(payload.reason, field=payload.command))
            self._hang_up(engine, payload.reason)
        elif isinstance(payload, ev.AudioLost) and self._spec.audio == "files":
            # The talk goes on without the file, but did not do what it was asked for.
            self._fail(EngineError(payload.reason, field=payload.direction))
        elif isinstance(payload, ev.LimitReached) and payload.stage == "hang-up":
            self._end_asked = True
        elif isinstance(payload, ev.SessionEnded) and payload.exit_code:
            error = UsageError if payload.exit_code == UsageError.exit_code else EngineError
            self._fail(error(payload.reason, field="session"))
        elif isinstance(payload, ev.SessionEnded) and self._texts:
            unsent = f"{len(self._texts)} of the texts were not sent"
            self._fail(EngineError(f"{unsent}: {payload.reason}", field="text"))

    def _writer(self, output: AgentOutput) -> Callable[[ev.Event], None]:
        from gemini_live_runtime import events as ev

        stream = output.stdout
        if self._form == "json":
            # ASCII, whatever the encoding of the terminal or file.
            return lambda event: print(json.dumps(event.to_json(), separators=(",", ":")), file=stream, flush=True)
        from gemini_live_runtime.journal.agent_lines import agent_lines
        from gemini_live_runtime.journal.plain import PlainWriter

        writer = self._plain = PlainWriter(agent=agent_lines(self._detail), states=self._detail != "talk")

        def write(event: ev.Event) -> None:
            lines = writer.feed(event)
            # An agent that cannot be started is an error on standard error, not a conversation to print.
            if self._session is None or (isinstance(event.payload, ev.Log) and not self._shows(event.payload)):
                return
            for line in lines:
                print(line, file=stream, flush=True)

        return write

    def _shows(self, log: ev.Log) -> bool:
        """Return True for log lines to print.

        `AgentOutput` has printed the agent's own output already; tracebacks need `--debug`.
        """
        traceback = log.source == "engine" and log.level in ("debug", "error")
        return log.source not in ("stdout", "stderr") and (self._debug or not traceback)

    async def _decide(self, engine: InProcessEngine) -> None:
        """Send the next text when the session is quiet; hang up after a while of quiet."""
        try:
            await self._session_created.wait()
            assert self._session is not None
            if self._interactive:
                await self._read_lines(engine)
            elif not self._until_idle:
                return
            while self._texts:
                await self._session.until_quiet(0.0)
                if self._end_asked:
                    return
                await self._type(engine, self._texts.popleft())
                # Not "until the session is busy": the answer may begin and end before this task runs again.
                await self._text_taken.wait()
            if self._spec.audio == "devices":
                await self._session.until_quiet(DEVICES_IDLE_S, tasks_too=True)
            else:
                await self._session.until_quiet(IDLE_S, microphone_too=True, tasks_too=True)
            self._hang_up(engine, "input ended")
        except Exception as error:
            self._fail(error)
            self._hang_up(engine, "an internal error")

    async def _read_lines(self, engine: InProcessEngine) -> None:
        """Send standard input line by line, until its end."""
        from gemini_live_runtime.clock import hold_time
        from gemini_live_runtime.threads import start_daemon_thread

        lines: asyncio.Queue[str] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def read() -> None:
            # A read cannot be cancelled, so it runs in a daemon thread.
            with contextlib.suppress(RuntimeError):  # the loop has ended
                with contextlib.suppress(OSError, ValueError, AttributeError):  # standard input is closed
                    while line := sys.stdin.readline():
                        loop.call_soon_threadsafe(lines.put_nowait, line)
                loop.call_soon_threadsafe(lines.put_nowait, "")

        start_daemon_thread(read, "standard input")
        while True:
            with hold_time():
                line = await lines.get()
            if not line:
                return
            if line.strip():
                is_file = not sys.stdin.isatty()
                if is_file:
                    await self._until_next_line()
                await self._type(engine, line.strip())
                if is_file:
                    await self._text_taken.wait()

    async def _until_next_line(self) -> None:
        """Return when the model has answered, or a call waits for a yes or a no.

        Lines of a file come at once, while a text that is typed interrupts the answer to the one before.
        """
        assert self._session is not None
        quiet = asyncio.create_task(self._session.until_quiet(0.0))
        try:
            while not (quiet.done() or self._consent_asked.is_set()):
                asked = asyncio.create_task(self._consent_asked.wait())
                await asyncio.wait((quiet, asked), return_when=asyncio.FIRST_COMPLETED)
                asked.cancel()
        finally:
            quiet.cancel()

    async def _type(self, engine: InProcessEngine, text: str) -> None:
        from gemini_live_runtime.commands import Command, SendText

        self._count += 1
        self._text_taken.clear()
        await engine.link.send(Command(self._command_id, SendText(text=text)))

    @property
    def _command_id(self) -> str:
        return f"talk-{self._count}"


def _discard_recording(folder: str) -> None:
    """Delete the recording of a session that could not begin: it holds nothing."""
    from gemini_live_runtime.journal.sessions.retention import delete_folders

    if folder:
        delete_folders([Path(folder)])


async def _events(engine: InProcessEngine) -> AsyncIterator[ev.Event]:
    """Yield the events of a session to its end.

    An output that is slower than the session is let go by the engine: attach again, and read what it missed from the
    recording. Without a recording say how much is lost.
    """
    from gemini_live_runtime import events as ev
    from gemini_live_runtime.engine.link import Bye, LinkClosed, Snapshot
    from gemini_live_runtime.journal.history.missed_events import missed_events

    last = 0
    while True:
        try:
            message = await engine.link.receive()
        except LinkClosed:
            engine.link = await engine.link.reattach()
            continue
        if isinstance(message, Bye):
            return
        if isinstance(message, Snapshot) and message.view.seq > last:
            until, hub = message.view.seq, engine.host.hub
            try:
                if hub.journal is None:
                    raise JournalError("The session is not recorded")
                await asyncio.to_thread(hub.journal.flush)
                async for event in missed_events(Path(hub.folder), last, until):
                    last = event.seq
                    yield event
            except (JournalError, OSError):
                print(f"gemini-live-tui: {until - last:,} events were too fast to be printed.", file=sys.stderr)
            last = until
        elif isinstance(message, ev.Event):
            last = message.seq
            yield message


def _nothing(event: ev.Event) -> None:
    """Drop an event: the output cannot be written."""


def _is_given_up(payload: ev.Payload) -> bool:
    from gemini_live_runtime import events as ev

    return isinstance(payload, ev.SendSettled) and payload.outcome == "unknown"
