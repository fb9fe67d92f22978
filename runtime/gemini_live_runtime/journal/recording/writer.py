"""Write a session's journal and sound without ever blocking the session.

One thread owns the files of a session; another deletes old sound (see `sweep`). The session only appends to queues
under a lock; the thread takes all that is queued, releases the lock and writes. Lines reach the kernel within about
`GATHER_S`, from where they survive the death of the process; about once a second they are flushed to the device, which
a power cut needs.

The order of the queue is the order of the file. When the disk fails the conversation goes on: lines wait in memory (up
to `MAX_UNWRITTEN`) and are tried again at every sync, sound is no longer recorded, and each such change is reported
once. A queue that grows faster than the disk takes it has a bound, too: then events are left out and counted, or sound
ends.

A value that is too large for an event (see `large_values`) has a file of its own beside the journal.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime import paths
from gemini_live_runtime.errors import JournalError, write_remedy
from gemini_live_runtime.journal.files.disk import Disk, write_all
from gemini_live_runtime.journal.files.events_file import EventsFile
from gemini_live_runtime.journal.recording.sound_recorder import Report, SoundRecorder
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.restarts import RestartLimit
from gemini_live_runtime.threads import start_daemon_thread

if TYPE_CHECKING:
    from gemini_live_runtime.journal.recording.kept_journal import KeptJournal

GATHER_S = 0.02
"""Seconds that a line may wait for others, to be written together."""

SYNC_S = 1.0
"""Seconds between two syncs while something is written, and between two attempts after a failure."""

MAX_UNWRITTEN = 16 * 1024 * 1024
"""Bytes of lines kept in memory while the disk refuses them."""

MAX_VALUE_BYTES = 64 * 1024 * 1024
"""Bytes of all values kept beside one journal."""

MAX_QUEUED_AUDIO = 16 * 1024 * 1024
"""Bytes of samples that may wait for a slow disk (about three minutes of both tracks)."""


class JournalWriter:
    """Writer thread of one session's folder: `events.jsonl` and, if `audio`, tracks.

    The folder is `sessions_root`/`session_id`. `report` receives `Notice` and `RecordingTrimmed` payloads in the
    writer's thread and must be thread-safe. `cap_bytes` bounds the sound of all sessions. Raises `JournalError` when
    the folder cannot be made or already holds a session.
    """

    def __init__(
        self,
        sessions_root: Path,
        session_id: str,
        *,
        audio: bool,
        report: Report,
        cap_bytes: int = 2_000_000_000,
        disk: Disk | None = None,
        kept: KeptJournal | None = None,
    ) -> None:
        """`kept` is the recording of an earlier engine, to which this one adds."""
        self.folder = sessions_root / paths.safe_name(session_id, field="session_id")
        self.lost_events = 0
        self.remedy = "Record to a faster disk"
        """Help against the last reason for which events are missing."""
        self._disk = disk or Disk()
        self._report = report
        self._failing = False
        self._stopped = False
        self._reported: set[str] = set()
        try:
            self._disk.folder(self.folder)
            self._events = EventsFile(self.folder, session_id, self._disk, kept=None if kept is None else kept.end)
        except BlockingIOError:
            raise JournalError(f"The session {session_id} is running", field="session_id") from None
        except FileExistsError:
            raise JournalError(f"A session {session_id} is already recorded", field="session_id") from None
        except OSError as error:
            raise JournalError(
                f"The session folder {self.folder} cannot be written: {error.strerror or error}",
                remedy=f"{write_remedy(error, sessions_root)}, or choose another data folder, or set record to off",
                field="data_dir",
                value=str(self.folder),
            ) from None
        kept_samples: dict[ev.Side, int] = {}
        if kept is not None:
            kept_samples = {"user": kept.view.sent_samples, "model": kept.view.received_samples}
        self._sound = SoundRecorder(
            self.folder,
            is_wanted=audio,
            disk=self._disk,
            cap_bytes=cap_bytes,
            kept_samples=kept_samples,
            report=self._report_of_sound,
        )
        self._wake = threading.Condition()
        self._lines: deque[str] = deque()
        self._values: deque[tuple[str, bytes]] = deque()
        self._value_names: set[str] = set()
        self._value_bytes = self._lost_values = 0
        self._pcm: deque[tuple[ev.Side, bytes]] = deque()
        self._callbacks: list[Callable[[bool], None]] = []
        self._queued_lines = 0
        self._queued_audio = 0
        self._busy = False
        self._in_hand = 0
        """Number of lines that were taken from the queue and not handed to the file yet."""
        self._idle = False
        self._closing = False
        self._urgent = False
        self._retry = False
        self._thread = start_daemon_thread(self._run, "journal")

    # -- the session's side -----------------------------------------------------------------------------------------

    def append(self, line: str) -> None:
        """Queue the line of one event (no newline). Never blocks on the disk."""
        with self._wake:
            if self._stopped or self._closing:
                self.lost_events += 1
                return
            if self._queued_lines + len(line) > MAX_UNWRITTEN:
                self.lost_events += 1
                self._notice(
                    "error",
                    "journal-behind",
                    "The disk is too slow for this session: some events are missing in its file",
                    "Record to a faster disk, or set record to off",
                )
                return
            self._lines.append(line)
            self._queued_lines += len(line)
            self._call_thread()

    def keep_value(self, name: str, data: bytes) -> bool:
        """Queue a value for the file `name` beside the journal, where it is written once.

        Returns False when the values of this session take too much room.
        """
        with self._wake:
            if name in self._value_names:
                return True
            if self._stopped or self._closing or self._value_bytes + len(data) > MAX_VALUE_BYTES:
                return False
            self._value_names.add(name)
            self._value_bytes += len(data)
            # The event that names the file is appended next, which wakes the thread.
            self._values.append((name, data))
            return True

    def call_when_written(self, callback: Callable[[bool], None]) -> None:
        """Call `callback` once all events so far were written, or refused.

        It gets True when the system has taken them all, so that they survive this process. It runs in the writer's
        thread, soon, however slow the gathering.
        """
        with self._wake:
            if self._stopped or self._closing:
                callback(False)
                return
            self._callbacks.append(callback)
            self._urgent = True
            self._wake.notify()

    @property
    def is_written(self) -> bool:
        """True when the newest event is in the file, and the file in its place."""
        return not (self._failing or self._stopped) and self._events.is_in_place

    @property
    def missing_events(self) -> int:
        """Number of events that are not in the file: lost, or not written so far."""
        return self.lost_events + self._events.waiting

    @property
    def lost_audio_bytes(self) -> int:
        """Number of bytes of sound that are not recorded though they were to be."""
        return self._sound.lost_bytes

    def audio(self, track: ev.Side, pcm: bytes) -> None:
        """Queue samples (s16le at the track's rate) of a track; a no-op without sound."""
        with self._wake:
            if not self._sound.is_on or self._closing:
                self._sound.lose(pcm)
                return
            if self._queued_audio + len(pcm) > MAX_QUEUED_AUDIO:
                self._sound.stop("The disk is too slow to record sound", "Record to a faster disk")
                return
            self._pcm.append((track, pcm))
            self._queued_audio += len(pcm)
            self._call_thread()

    def _call_thread(self) -> None:
        # While the thread gathers lines it needs no wake-up, and each would take the interpreter from the session.
        if self._idle:
            self._wake.notify()

    def flush(self) -> None:
        """Block until all that was queued is written or refused.

        What a failing disk has refused before is tried again.
        """
        with self._wake:
            self._urgent = self._retry = True
            self._wake.notify()
            while (self._lines or self._pcm or self._busy or self._retry) and self._thread.is_alive():
                self._wake.wait(0.5)

    def finish_sweep(self) -> None:
        """Block until old sound was deleted as far as the cap asks for it now."""
        self._sound.finish_sweep()

    def close(self) -> None:
        """Write all that is queued, flush to the device and close. Idempotent.

        Blocks: call it from a worker thread.
        """
        with self._wake:
            self._closing = True
            self._wake.notify()
        self._thread.join()
        self._sound.close_sweep()

    # -- the thread -------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        """Write until the end; go on after a fault, as often as `RestartLimit` allows."""
        limit = RestartLimit()
        while True:
            try:
                self._write_all()
                break
            except Exception as error:
                if not self._go_on(error, is_allowed=limit.allows(time.monotonic())):
                    break
        self._close_files()

    def _go_on(self, error: Exception, *, is_allowed: bool) -> bool:
        """Report a fault of this program; return False when it is the last."""
        with self._wake:
            self.lost_events += self._in_hand
            self._in_hand = 0
            self._busy = self._idle = False
            if not is_allowed:
                self._stopped, self._sound.is_on = True, False
                self.lost_events += len(self._lines) + self._events.waiting
                self._lines.clear()
                self._pcm.clear()
                self._events.unwritten.clear()
            callbacks, self._callbacks = self._callbacks, []
            self._wake.notify_all()
        for callback in callbacks:
            callback(False)
        text = redactor.text(f"{type(error).__name__}: {error}")
        if is_allowed:
            self._notice("error", "journal-fault", f"Writing the session file failed: {text}. It goes on")
        else:
            text = f"Writing the session file fails again and again: {text}. It ends here"
            self._notice("error", "journal-stopped", text)
        return is_allowed

    def _write_all(self) -> None:
        self._sound.begin()
        next_sync = time.monotonic() + SYNC_S
        while True:
            with self._wake:
                while not (self._lines or self._pcm or self._closing or self._retry or self._callbacks):
                    self._urgent = False
                    idle = not (self._events.dirty or self._events.unwritten or self._sound.is_unsynced)
                    left = None if idle else next_sync - time.monotonic()
                    if left is not None and left <= 0:
                        break
                    self._idle = True
                    self._wake.wait(left)
                    self._idle = False
                if (self._lines or self._pcm) and not self._closing:
                    # Gather: the session appends without a wake-up for this long, and one write takes all of it.
                    self._wake.wait_for(lambda: self._closing or self._urgent, GATHER_S)
                lines, values, pcm = self._take()
                callbacks, self._callbacks = self._callbacks, []
                closing, retry = self._closing, self._retry
                self._retry = False
            # The lock is released here: a slow disk must not block `append`. Only this thread touches the files.
            self._write_values(values)
            self._write_lines(lines)
            if retry and self._failing and not self._stopped:
                self._attempt(self._events.retry)
            for callback in callbacks:
                callback(not (self._failing or self._stopped))
            for track, samples in pcm:
                self._sound.write(track, samples)
            if closing or time.monotonic() >= next_sync:
                self._sync()
                next_sync = time.monotonic() + SYNC_S
            with self._wake:
                self._busy = False
                self._wake.notify_all()
                # Appended while the last batch was written: one more round, then nothing is queued any more.
                if closing and not self._lines and not self._pcm:
                    break

    def _take(self) -> tuple[list[str], list[tuple[str, bytes]], list[tuple[ev.Side, bytes]]]:
        lines, values, pcm = list(self._lines), list(self._values), list(self._pcm)
        self._lines.clear()
        self._values.clear()
        self._pcm.clear()
        self._queued_lines = self._queued_audio = 0
        self._in_hand = len(lines)
        self._busy = True
        return lines, values, pcm

    def _write_lines(self, lines: list[str]) -> None:
        if self._stopped:
            self.lost_events += len(lines) + self._events.waiting
            self._events.unwritten.clear()
            return
        data = "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")
        # What the file does not take, it keeps.
        self._in_hand = 0
        if self._failing:
            # Wait for the next sync to try again: a batch comes up to fifty times a second.
            self._events.unwritten += data
        elif data or self._events.unwritten:
            self._attempt(lambda: self._events.append(data))
        if len(self._events.unwritten) > MAX_UNWRITTEN:
            self._give_up()

    def _attempt(self, write: Callable[[], None]) -> None:
        try:
            write()
        except OSError as error:
            self._failing = True
            self.remedy = write_remedy(error, self.folder)
            self._reported.discard("journal-recovered")
            self._notice(
                "error",
                "journal-failed",
                f"The session file cannot be written: {error.strerror or error}. The conversation goes on",
                f"{self.remedy}; events are kept in memory and written again later",
            )
        else:
            if self._failing:
                self._failing = False
                # Displays show whether the file is written: the next failure is told, too.
                self._reported -= {"journal-failed", "value-not-kept"}
                self._report_recovery()

    def _report_recovery(self) -> None:
        counts = ((self.lost_events, "event"), (self._lost_values, "large value"))
        missing = " and ".join(f"{number:,} {what}{'s'[: number != 1]}" for number, what in counts if number)
        is_silent = self._sound.is_wanted and not self._sound.is_on
        self._notice(
            "warning" if missing or is_silent else "info",
            "journal-recovered",
            f"The session file is written again, {f'without {missing}' if missing else 'no event was lost'}"
            f"{'. Sound is no longer recorded' if is_silent else ''}",
        )

    def _give_up(self) -> None:
        self._stopped = True
        held = f"{MAX_UNWRITTEN // 1024 // 1024} MiB"
        self._notice(
            "error", "journal-stopped", f"The disk refused the session file until {held} were waiting: it ends here"
        )

    def _write_values(self, values: list[tuple[str, bytes]]) -> None:
        for name, data in values:
            path = self.folder / name
            try:
                fd = self._disk.create(path)
                try:
                    write_all(self._disk, fd, data)
                finally:
                    self._disk.close(fd)
            except OSError as error:
                self._lost_values += 1
                with contextlib.suppress(OSError):
                    self._disk.unlink(path)
                self._notice(
                    "warning",
                    "value-not-kept",
                    f"A value too large for an event could not be kept: {error.strerror or error}",
                    write_remedy(error, self.folder),
                )

    def _sync(self) -> None:
        if not self._stopped:
            if self._failing or self._events.unwritten:
                self._attempt(self._events.retry)
            try:
                self._events.sync()
            except OSError as error:
                self._notice(
                    "warning",
                    "journal-sync-failed",
                    f"The disk does not confirm the session file: {error.strerror or error}",
                    "A power cut could lose the last events",
                )
            if not self._events.is_in_place:
                self._notice(
                    "error",
                    "journal-removed",
                    f"The session file was removed from {self.folder}: this session is no longer recorded",
                    "Leave the folders of running sessions where they are",
                )
        self._sound.sync()

    def _close_files(self) -> None:
        self._sound.close()
        self.lost_events += self._events.waiting
        with contextlib.suppress(OSError):
            self._events.close()

    def _report_of_sound(self, payload: ev.Payload) -> None:
        if isinstance(payload, ev.Notice):
            self._notice(payload.level, payload.code, payload.text.removesuffix("."), payload.remedy)
        else:
            self._report(payload)

    def _notice(self, level: str, code: str, text: str, remedy: str = "") -> None:
        """Report a notice, each `code` once."""
        if code not in self._reported:
            self._reported.add(code)
            self._report(ev.Notice(level=level, code=code, text=f"{text}.", remedy=remedy))  # type: ignore[arg-type]
