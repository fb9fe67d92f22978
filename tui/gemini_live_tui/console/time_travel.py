"""What the console's keys for going back and forth in the session do."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gemini_live_runtime.errors import GeminiLiveError, JournalError
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.session_data.cursor import OutOfReachError, slower_or_faster
from gemini_live_tui.session_data.sound_playback import SoundPlayback, Spawn, spawn_player

if TYPE_CHECKING:
    from gemini_live_runtime.clock import Clock
    from gemini_live_runtime.journal.live_history import LiveHistory
    from gemini_live_tui.context import Level
    from gemini_live_tui.session_data.store import Store
    from gemini_live_tui.settings import ConsoleSettings

TELL_S = 0.25
"""How often what was read of a recording so far is shown."""


class TimeActions:
    """A part of the console screen."""

    reading: float | None = None
    """The share of a recording that was read so far, None while nothing is read."""

    spawn_player: Spawn = staticmethod(spawn_player)
    """Starts what plays sound."""

    _told_at = float("-inf")
    _reader: asyncio.Task[None] | None = None
    _sound: SoundPlayback | None = None
    _sound_epoch = -1
    _sound_speed = 1.0

    if TYPE_CHECKING:
        _clock: Clock
        _store: Store
        _settings: ConsoleSettings

        def speaker_wanted(self) -> str:
            """The speaker's name in the settings; "" is the system's choice."""
            ...

        def open_room(self, name: str) -> None:
            """Open a room."""
            ...

        def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
            """Show a message."""
            ...

    def past_note(self) -> str:
        """What to say to someone who changes something while a moment of the past is shown; "" in the present."""
        behind = self._store.cursor.seq is not None and not self._settings.replay
        return f"You look at {clock_text(self._store.shown.t)}; this changes the present." if behind else ""

    @property
    def sound_note(self) -> str:
        """What becomes of the sound while playing."""
        return self._sound.note if self._sound is not None else ""

    def keep_sounding(self) -> None:
        """With every frame: the sound follows the cursor, and the cursor what is heard."""
        cursor = self._store.cursor
        if not cursor.playing:
            self._silence()
            return
        jumped = cursor.jumps != self._sound_epoch or cursor.speed != self._sound_speed
        if self._sound is None or jumped:
            self._silence()
            self._begin_sound()
        elif self._sound.position is not None:
            cursor.hear(self._sound.position)

    def _begin_sound(self) -> None:
        store, cursor = self._store, self._store.cursor
        self._sound_epoch, self._sound_speed = cursor.jumps, cursor.speed
        folder = store.hello.folder if store.hello is not None else ""
        if store.history is not None and folder:
            self._sound = SoundPlayback(
                store.history,
                Path(folder),
                begin=cursor.playhead,
                speed=cursor.speed,
                device=self.speaker_wanted(),
                told=store.wake,
                spawn=self.spawn_player,
            )

    async def end_sound(self) -> None:
        """Be silent and read nothing more, for good; returns when the player has gone."""
        if self._reader is not None:
            self._reader.cancel()
        sound = self._sound
        self._silence()
        if sound is not None:
            await sound.gone()

    def _silence(self) -> None:
        if self._sound is not None:
            self._sound.stop()
            self._sound = None

    def travel(self, move: Callable[[], None]) -> str:
        """Move the cursor; a sentence when that cannot be. What must be read first is read, then the move is made."""
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
            self.say(refused.rstrip(".") + ".", passing=True)

    def _read_earlier(self, move: Callable[[], None], reason: str) -> str:
        """Read what was before this console came from the session's recording."""
        from gemini_live_runtime.journal.live_history import LiveHistory

        store = self._store
        folder = store.hello.folder if store.hello is not None else ""
        if not folder or not isinstance(store.history, LiveHistory):
            return f"{reason.rstrip('.')}, and the session is not recorded"
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._load_earlier(store.history, Path(folder), move))
        return ""

    async def _load_earlier(self, history: LiveHistory, folder: Path, move: Callable[[], None]) -> None:
        from gemini_live_runtime.journal.earlier_events import load_earlier

        def told(share: float) -> None:
            self.reading = share
            self._store.wake()

        try:
            await load_earlier(history, folder, told)
        except GeminiLiveError as error:
            self.say(f"What was before this console came cannot be read: {error}", "warning")
            return
        finally:
            self.reading = None
            self._store.wake()
        if history is self._store.history:
            self._travel(move)

    async def read_recording(self, path: Path) -> None:
        """Show a recording, from its end, while it is being read; every way to fail is told in a sentence."""
        from gemini_live_runtime.journal.recorded_history import RecordedHistory

        store = self._store
        try:
            history = await asyncio.to_thread(RecordedHistory, path)
            store.open_recording(history)
            await history.load_all(self._told)
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
            self.say(" ".join(problems), "warning")

    def _told(self, share: float) -> None:
        """More was read. It is shown now and then: painting would take the time from reading."""
        self.reading = share
        now = self._clock.now()
        if now - self._told_at >= TELL_S or self._told_at > now:
            self._told_at = now
            self._store.grown()

    def action_time_step(self, kind: Literal["event", "turn", "transition", "mark"], direction: int) -> None:
        """Go to the next or the previous thing of a kind."""
        cursor = self._store.cursor
        if kind == "mark" and not self._store.view.agent_view.marks:
            self.say("No moment was marked so far.", passing=True)
        elif self._store.cursor.seq is None and direction > 0:
            self.say("This is the end of the recording." if self._settings.replay else "This is live.", passing=True)
        else:
            self._travel(lambda: cursor.step(kind, direction))

    def action_go_to(self) -> None:
        """Ask for a moment."""
        self.open_room("go-to")

    def action_go_to_moment(self, text: str) -> None:
        """Go to a moment that was written behind a command."""
        refused = self.go_to_moment(text)
        if refused:
            self.say(refused, "warning", passing=True)

    def go_to_moment(self, text: str) -> str:
        """Go to a written moment; a sentence when there is none."""
        from gemini_live_tui.session_data.moment_parser import NoSuchMomentError, find

        history = self._store.history
        if history is None or not history.live.seq:
            return "Nothing has happened yet."
        cursor = self._store.cursor

        def move() -> None:
            # Found anew when more has been read.
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
        """Back to the present."""
        self._store.cursor.live()
        self._store.wake()

    def action_play(self) -> None:
        """Play from the cursor, or pause."""
        cursor = self._store.cursor
        if cursor.playing:
            cursor.pause()
            self._store.wake()
        elif cursor.seq is None and not self._settings.replay:
            self.say("This is live. Go back first, then play from there.", passing=True)
        else:
            self._travel(cursor.play)
            view, playing = self._store.view, self._store.cursor.playing
            if playing and self._store.live and view.microphone and view.mode == "voice" and view.input_device:
                self.say("The microphone may hear what is played back; muting it keeps that away.", passing=True)

    def action_play_speed(self, step: int) -> None:
        """Play slower or faster."""
        cursor = self._store.cursor
        cursor.set_speed(slower_or_faster(cursor.speed, step))
        if not cursor.playing:
            self.say(f"Playing back will be {cursor.speed:g}x as fast.", passing=True)
        self._store.wake()
