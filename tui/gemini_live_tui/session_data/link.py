"""Read the session's link into the store, send commands in order, hang up."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path

from gemini_live_runtime.commands import Command, HangUp, Order, SendText
from gemini_live_runtime.engine.link import Bye, Hello, Link, LinkClosed, LinkMessage, Snapshot
from gemini_live_runtime.errors import EngineError, GeminiLiveError, NewerFormatError, ProtocolError
from gemini_live_runtime.events import CommandRefused, Event, SessionEnded, TextSent
from gemini_live_runtime.journal.completion.missing_parts import MissingPart
from gemini_live_tui.session_data.store import NotSent, Store, Takeover

LinkSource = Callable[[], Awaitable[Link]]
"""Starts or finds an engine and returns the link to it; raises `GeminiLiveError` with a sentence."""

MAX_UNSENT = 256
"""Commands waiting to go out; more are refused with a sentence."""

MAX_AT_ONCE = 16
"""Messages decoded before keys are answered: a backlog comes without a pause."""

MAX_BAD_LINES = 20
"""Lines in a row that cannot be decoded before the link is given up."""

REATTACH_S = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
"""Seconds to wait before each attempt to attach again to an engine that let this console go."""

UNSENT_S = 5.0
"""Seconds for which a command waits for the next link when its own has ended."""

HANG_UP_TIMEOUT_S = 20.0
"""Seconds to wait for the end of a session that goes on talking: twice what its engine gives it."""

WAITS = 5
"""Parts of the wait for an answer to the hang-up; in none of them may a message come."""

SILENT_S = 4
"""Seconds without a message after which an engine counts as silent; it sends one at least every `Hello.beat_s`."""

START_S = 20
"""Seconds in which an engine that was just started need not answer: it imports the agent."""

MAX_DEATHS = 5
"""Engines that may die within `DEATHS_S` before no other one is started."""

DEATHS_S = 60.0

MAX_MISSED = 50_000
"""Missed events that are read from the recording; after more of them the console goes to the present at once."""


def _missing(folder: Path) -> tuple[MissingPart, ...]:
    """Return what the run of a recording lacks to be complete."""
    from gemini_live_runtime.journal.recording.reader import completion_of, read_journal

    with contextlib.suppress(GeminiLiveError, OSError):
        return completion_of(read_journal(folder)).missing
    return ()


async def _resume(folder: Path) -> Link:
    from gemini_live_runtime.engine.resume import resume_engine

    return await resume_engine(folder, asked=False)


class SessionLink:
    """Link of one session, from opening to the engine's last message.

    A console that fell behind is let go by its engine: it attaches again, and goes on where it was. When the engine has
    died, `resume` starts another one for the recording in a folder. `failed` receives commands that were queued but
    could not be handed over, with a sentence. An engine that `is_running` since before answers soon.
    """

    def __init__(
        self,
        source: LinkSource,
        store: Store,
        failed: Callable[[Command, str], None],
        *,
        is_running: bool = False,
        resume: Callable[[Path], Awaitable[Link]] = _resume,
    ) -> None:
        self._resume = resume
        self._deaths: deque[float] = deque(maxlen=MAX_DEATHS)
        """Times (s) at which an engine was found dead."""
        self._pid = 0
        """Number of the engine's process; 0 before its hello."""
        self._is_resumed = False
        """True when another engine goes on with the session, until its view was taken."""
        self._source = source
        self._hello_s = SILENT_S if is_running else START_S
        self._store = store
        self._failed = failed
        self._link: Link | None = None
        self._outbox: asyncio.Queue[Command] = asyncio.Queue(MAX_UNSENT)
        self._hang_up_sent = asyncio.Event()
        self._texts: dict[str, Command] = {}
        """Texts that were handed over and not heard of since, by the ids of their commands."""
        self._taken: dict[str, Command] = {}
        """Those of them that a dead engine has perhaps taken with it."""
        self._unsent: Command | None = None
        """Command that a link did not take, the first for the next link."""
        self._count = 0
        self._attempts = 0
        """Attempts to attach again since the last one that was answered."""
        self._received = 0
        """Number of lines read, from all links."""
        self._is_leaving = False
        self._is_reading = False
        """True while the next message is waited for."""
        self._beats = False
        """True when the engine sends a message every second or so."""
        self._admitted = False
        """True once the engine has said hello."""
        self._folder = ""
        self._seq = 0
        """Number of the last event that the store has, or waits for."""
        self._end: SessionEnded | None = None
        self._ended = asyncio.Event()
        self.bad_lines = 0

    async def run(self) -> None:
        """Open the link and read it to its end; report every ending to the store."""
        try:
            link: Link | None = await self._open()
            while link is not None:
                self._link = link
                try:
                    await self._follow(link)
                    return
                except LinkClosed as end:
                    link = await self._attach_again(link, end)
        except LinkClosed as end:
            self._store.lose(end.reason)
        except GeminiLiveError as error:
            self._store.lose(str(error), goes_on=self._admitted)
        except OSError as error:
            self._store.lose(f"The link to the engine failed: {error.strerror or error}.", goes_on=self._admitted)
        except Exception as error:
            reason = f"The console cannot follow the session: {type(error).__name__}: {error}"
            self._store.lose(reason, goes_on=self._admitted)
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

    async def _follow(self, link: Link) -> None:
        """Read a link to the engine's last message.

        Raises `LinkClosed` when it ends before.
        """
        tasks = (asyncio.create_task(self._write(link)), asyncio.create_task(self._watch()))
        try:
            await self._read(link)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self) -> None:
        """Tell the store when the engine falls silent.

        Only seconds in which a message was waited for count, so not those in which this process stood still.
        """
        quiet = 0
        while True:
            before = self._received
            await asyncio.sleep(1.0)
            waited = self._is_reading and self._received == before and (self._beats or not self._admitted)
            quiet = quiet + 1 if waited else 0
            if quiet == (SILENT_S if self._admitted else self._hello_s):
                self._store.note_silence(True, quiet)

    async def _read(self, link: Link) -> None:
        bad = 0
        for number in itertools.count(1):
            if number % MAX_AT_ONCE == 0:
                await asyncio.sleep(0)
            try:
                self._is_reading = True
                message = await link.receive()
                self._received += 1
            except NewerFormatError:
                raise
            except ProtocolError:
                self.bad_lines += 1
                bad += 1
                if bad >= MAX_BAD_LINES:
                    raise
                continue
            finally:
                self._is_reading = False
            if self._store.is_silent:
                self._store.note_silence(False)
            bad = 0
            if isinstance(message, Snapshot) and self._is_resumed:
                await self._take_over(link, message)
            elif isinstance(message, Snapshot) and self._seq and not self._is_leaving:
                await self._catch_up(message)
            else:
                await self._put(message)
            if isinstance(message, Bye):
                return

    async def _put(self, message: LinkMessage) -> None:
        if isinstance(message, Event):
            self._seq = message.seq
            if isinstance(message.payload, SessionEnded):
                self._end = message.payload
            elif isinstance(message.payload, TextSent | CommandRefused):
                self._texts.pop(message.payload.command_id, None)
        elif isinstance(message, Snapshot):
            self._seq, self._attempts = message.view.seq, 0
        elif isinstance(message, Hello):
            self._is_resumed = self._pid not in (0, message.pid)
            self._pid = message.pid
            self._admitted, self._folder, self._beats = True, message.folder, message.beat_s > 0
        await self._store.put(message)

    # -- attaching again ---------------------------------------------------------------------------------------------

    async def _attach_again(self, link: Link, end: LinkClosed) -> Link | None:
        """Return a new link to the same engine; None when the session is over.

        Raises `LinkClosed` when the engine is gone, `EngineError` when it does not take this console back.
        """
        while self._admitted and self._attempts < len(REATTACH_S):
            await asyncio.sleep(REATTACH_S[self._attempts])
            self._attempts += 1
            try:
                link = await link.reattach()
                if self._is_leaving:
                    # The link that ended may have taken the hang-up with it.
                    self._send_hang_up()
                return link
            except (ConnectionRefusedError, FileNotFoundError):
                if await self._read_the_end():
                    return None
                return await self._start_another(end)
            except OSError:
                continue
        if self._admitted:
            raise EngineError(f"The engine does not take this console back: {end.reason.rstrip('.')}")
        raise end

    async def _start_another(self, end: LinkClosed) -> Link:
        """Return a link to another engine, which goes on with the session of a dead one.

        Raises `LinkClosed` without a recording, and when they die again and again.
        """
        if self._is_leaving:
            raise end
        if not self._folder or not is_recorded(Path(self._folder)):
            raise LinkClosed(f"{end.reason.rstrip('.')}. The session was not recorded, so no other can go on with it")
        self._deaths.append(asyncio.get_running_loop().time())
        ident = Path(self._folder).name
        if len(self._deaths) == MAX_DEATHS and self._deaths[-1] - self._deaths[0] < DEATHS_S:
            raise LinkClosed(f"The engine died {MAX_DEATHS} times in a row. gemini-live-tui resume {ident} tries again")
        self._store.note_death()
        self._taken.update(self._texts)
        self._texts.clear()
        try:
            return await self._resume(Path(self._folder))
        except GeminiLiveError as error:
            raise LinkClosed(f"{end.reason}, and no other could be started: {error}") from None
        except OSError as error:
            raise LinkClosed(f"{end.reason}, and no other could be started: {error.strerror or error}") from None

    async def _take_over(self, link: Link, snapshot: Snapshot) -> None:
        """Take in the view of another engine, which may know less than this console.

        Raises `LinkClosed`.
        """
        self._is_resumed = False
        await self._store.put(Takeover(snapshot.view))
        self._seq, self._attempts = snapshot.view.seq, 0
        # The engine that died had not got to these. What it had accepted, the next one sends.
        for ident, command in list(self._taken.items()):
            if ident not in snapshot.view.accepted_texts:
                self._texts[ident] = command
                await link.send(command)
            del self._taken[ident]

    async def _catch_up(self, snapshot: Snapshot) -> None:
        """Take in what was missed.

        These are the events from the recording, or else the view that they led to.
        """
        self._attempts = 0
        last, missed = snapshot.view.seq, snapshot.view.seq - self._seq
        self._store.tell_reattached(missed)
        if missed > MAX_MISSED or not await self._read_missed(last):
            await self._put(snapshot)

    async def _read_the_end(self) -> bool:
        """Take in the end of a session; return True when the recording has it."""
        if not (await self._read_last() if self._is_leaving else await self._read_missed(None)) or self._end is None:
            return False
        # A console that leaves does not read the whole recording for it.
        reads = self._folder and not self._is_leaving
        missing = await asyncio.to_thread(_missing, Path(self._folder)) if reads else ()
        await self._put(Bye(self._end.reason, self._end.exit_code, missing))
        return True

    async def _read_last(self) -> bool:
        """Read the newest events, which tell how the session ended."""
        from gemini_live_runtime.journal.history.missed_events import last_events

        if self._folder:
            with contextlib.suppress(GeminiLiveError, OSError):
                for event in last_events(Path(self._folder)):
                    await self._put(event)
        return self._end is not None

    async def _read_missed(self, last: int | None) -> bool:
        """Read the events after the last one; return True when they are all there."""
        from gemini_live_runtime.journal.history.missed_events import missed_events

        if not self._folder:
            return last == self._seq
        try:
            async with contextlib.aclosing(missed_events(Path(self._folder), self._seq, last)) as events:
                async for event in events:
                    await self._put(event)
        except (GeminiLiveError, OSError):
            return False
        return True

    # -- commands ----------------------------------------------------------------------------------------------------

    async def _write(self, link: Link) -> None:
        while True:
            command = self._unsent or await self._outbox.get()
            try:
                await link.send(command)
                self._unsent = None
                if isinstance(command.order, SendText):
                    self._texts[command.id] = command
                elif isinstance(command.order, HangUp):
                    self._hang_up_sent.set()
            except (LinkClosed, OSError) as error:
                self._unsent = command
                # The end of the link is read in a moment, which cancels this: the next link takes the command.
                await asyncio.sleep(UNSENT_S)
                self._unsent = None
                self._failed(command, getattr(error, "reason", "") or "The engine does not answer.")
            except asyncio.CancelledError:
                self._unsent = None
                self._failed(command, "The link ended while it was sent: it may not have arrived.")
                raise

    def _refuse_the_rest(self) -> None:
        if self._unsent is not None:
            self._failed(self._unsent, "The engine is gone.")
            self._unsent = None
        while not self._outbox.empty():
            self._failed(self._outbox.get_nowait(), "The engine is gone.")

    def send(self, order: Order) -> str:
        """Queue a command and return its id; raise `NotSent`."""
        if self._ended.is_set():
            raise NotSent("The link to the session is lost." if self._store.lost else "The session is over.")
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

    async def leave_tasks(self, timeout_s: float) -> None:
        """Ask the engine to end once its tasks have, and wait until that is sent."""
        self._store.leave()
        if self._send_hang_up(finish_tasks=True):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hang_up_sent.wait(), timeout_s)

    async def hang_up(self, timeout_s: float) -> None:
        """Ask the engine to end and wait for its last message.

        Gives up when nothing came for `timeout_s`, and after `HANG_UP_TIMEOUT_S`: the last message may come behind many
        others, on a busy machine.
        """
        self._is_leaving = True
        self._store.leave()
        if not self._send_hang_up():
            return
        try:
            async with asyncio.timeout(HANG_UP_TIMEOUT_S):
                await self._wait_for_the_end(timeout_s)
        except TimeoutError:
            self._store.leave_unread()

    async def _wait_for_the_end(self, timeout_s: float) -> None:
        """Wait for the engine's last message, or until nothing came for `timeout_s`."""
        quiet = 0
        while not self._ended.is_set() and quiet < WAITS:
            before = self._received
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), timeout_s / WAITS)
            # Messages that wait to be read are an answer, as after a moment in which this process stood still.
            quiet = quiet + 1 if self._received == before and self._is_reading else 0

    def _send_hang_up(self, *, finish_tasks: bool = False) -> bool:
        """Queue the hang-up; return True when that was possible.

        It takes the place of the oldest command when too many wait.
        """
        if self._outbox.full():
            self._failed(self._outbox.get_nowait(), "The session was hung up first.")
        try:
            self.send(HangUp(finish_tasks=finish_tasks))
        except NotSent:
            return False
        return True

    async def close(self) -> None:
        """Close the link."""
        if self._link is not None:
            with contextlib.suppress(LinkClosed, OSError):
                await self._link.close()


def is_recorded(folder: Path) -> bool:
    """Return True when a session's folder has a journal to go on with."""
    from gemini_live_runtime.journal.files.lines import EVENTS_FILE

    return (folder / EVENTS_FILE).is_file()


def _import_vocabulary() -> None:
    import gemini_live_runtime.vocabulary  # noqa: F401
