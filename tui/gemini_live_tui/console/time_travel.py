"""Move the cursor through the past, and read the recordings that this needs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gemini_live_runtime.errors import GeminiLiveError, JournalError
from gemini_live_tui.session_data.cursor import OutOfReachError, slower_or_faster

if TYPE_CHECKING:
    from gemini_live_runtime.journal.history.live_history import LiveHistory
    from gemini_live_tui.console.notices import Notices
    from gemini_live_tui.context import ConsoleContext

SHOW_EVERY_S = 0.25
"""Seconds between two views of a recording that is being read."""


class TimeTravel:
    """Time cursor of the console.

    Events from before the console attached are read from the session's recording, in a task; the move that needs them
    is made when they are there.
    """

    def __init__(self, console: ConsoleContext, notices: Notices) -> None:
        self._console = console
        self._store = console.store
        self._settings = console.settings
        self._clock = console.time
        self._notices = notices
        self._reader: asyncio.Task[None] | None = None
        self._shown_at = float("-inf")
        self.reading: float | None = None
        """Share of a recording that was read so far, 0 to 1; None while nothing is read."""

    def travel(self, move: Callable[[], None]) -> str:
        """Make a move; return why it is impossible, or "".

        A move to events that are not in memory is made after they were read.
        """
        try:
            move()
        except OutOfReachError as error:
            return self._read_earlier(move, str(error))
        except JournalError as error:
            return str(error)
        self._store.wake()
        return ""

    def _travel(self, move: Callable[[], None]) -> None:
        refused = self.travel(move)
        if refused:
            self._notices.say(refused.rstrip(".") + ".", passing=True)

    def _read_earlier(self, move: Callable[[], None], reason: str) -> str:
        """Read events from before this console attached out of the session's recording."""
        from gemini_live_runtime.journal.history.live_history import LiveHistory

        store = self._store
        folder = store.hello.folder if store.hello is not None else ""
        if not folder or not isinstance(store.history, LiveHistory):
            return f"{reason.rstrip('.')}, and the session is not recorded"
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._load_earlier(store.history, Path(folder), move))
        return ""

    async def _load_earlier(self, history: LiveHistory, folder: Path, move: Callable[[], None]) -> None:
        from gemini_live_runtime.journal.history.earlier_events import load_earlier

        def on_progress(share: float) -> None:
            self.reading = share
            self._store.wake()

        try:
            await load_earlier(history, folder, on_progress)
        except GeminiLiveError as error:
            self._notices.say(f"What was before this console came cannot be read: {error}", "warning")
            return
        finally:
            self.reading = None
            self._store.wake()
        if history is self._store.history:
            self._travel(move)

    async def read_recording(self, path: Path) -> None:
        """Show a recording from its end while it is read; report failures to the store."""
        from gemini_live_runtime.journal.history.recorded_history import RecordedHistory

        store = self._store
        try:
            history = await asyncio.to_thread(RecordedHistory, path)
            store.open_recording(history)
            await history.load_all(self._on_progress)
            if self._settings.replay_speed is not None:
                store.cursor.set_speed(self._settings.replay_speed)
                self._travel(store.cursor.play)
        except GeminiLiveError as error:
            store.lose(str(error))
            return
        finally:
            self.reading = None
        store.end_recording()
        problems = [problem.text for problem in history.problems[:1]]
        count = history.journal.problem_count
        if history.torn:
            problems.insert(0, "The last line is incomplete: the recording was cut off there.")
        if count > 1:
            problems.append(f"{count} lines had problems in all; the rest is shown.")
        if problems:
            self._notices.say(" ".join(problems), "warning")

    def _on_progress(self, share: float) -> None:
        """Show what was read, at intervals: painting would slow the reading down."""
        self.reading = share
        now = self._clock.now()
        if now - self._shown_at >= SHOW_EVERY_S or self._shown_at > now:
            self._shown_at = now
            self._store.grown()

    def action_time_step(self, kind: Literal["event", "turn", "transition", "mark"], direction: int) -> None:
        """Go to the next or previous event, turn, transition or mark."""
        cursor = self._store.cursor
        if kind == "mark" and not self._store.view.agent_view.marks:
            self._notices.say("No moment was marked so far.", passing=True)
        elif self._store.cursor.seq is None and direction > 0:
            self._notices.say(
                "This is the end of the recording." if self._settings.replay else "This is live.", passing=True
            )
        else:
            self._travel(lambda: cursor.step(kind, direction))
            if cursor.seq is None and kind != "event":
                where = "the end of the recording" if self._settings.replay else "live"
                words = "change of phase" if kind == "transition" else kind
                self._notices.say(f"No {words} follows: this is {where}.", passing=True)

    def action_go_to(self) -> None:
        """Open the dialog for a moment."""
        self._console.action_open("go-to")

    def action_go_to_moment(self, text: str) -> None:
        """Go to a moment written behind a command."""
        refused = self.go_to_moment(text)
        if refused:
            self._notices.say(refused, "warning", passing=True)

    def go_to_moment(self, text: str) -> str:
        """Go to a written moment; return why that is impossible, or ""."""
        from gemini_live_tui.session_data.moment_parser import NoSuchMomentError, find

        history = self._store.history
        if history is None or not history.live.seq:
            return "Nothing has happened yet."
        cursor = self._store.cursor

        def move() -> None:
            # Search again: more may have been read since.
            seq = find(text, history)
            if seq is None:
                cursor.live()
            else:
                cursor.seek(seq)

        try:
            return self.travel(move)
        except NoSuchMomentError as error:
            return str(error)

    def seek_time(self, t: float) -> None:
        """Go to a time of the session."""
        self._travel(lambda: self._store.cursor.seek_time(t))

    def seek_event(self, seq: int) -> None:
        """Go to an event."""
        self._travel(lambda: self._store.cursor.seek(seq))

    def action_live(self) -> None:
        """Return to the present."""
        self._store.cursor.live()
        self._store.wake()

    def action_play(self) -> None:
        """Play from the cursor, or pause."""
        cursor = self._store.cursor
        if cursor.playing:
            cursor.pause()
            self._store.wake()
        elif cursor.seq is None and not self._settings.replay:
            self._notices.say("This is live. Go back first, then play from there.", passing=True)
        else:
            self._travel(cursor.play)
            view, playing = self._store.view, self._store.cursor.playing
            if playing and self._store.live and view.microphone and view.mode == "voice" and view.input_device:
                self._notices.say(
                    "The microphone may hear what is played back; muting it keeps that away.", passing=True
                )

    def action_play_speed(self, step: int) -> None:
        """Play slower or faster."""
        cursor = self._store.cursor
        cursor.set_speed(slower_or_faster(cursor.speed, step))
        if not cursor.playing:
            self._notices.say(f"Playing back will be {cursor.speed:g}x as fast.", passing=True)
        self._store.wake()

    def stop_reading(self) -> None:
        """Stop reading a recording."""
        if self._reader is not None:
            self._reader.cancel()
