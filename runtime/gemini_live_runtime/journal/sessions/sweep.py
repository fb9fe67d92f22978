"""Keep the sound of all sessions under a cap, beside the session being recorded.

Looking at thousands of recorded sessions takes seconds when the disk is cold: a thread of its own does it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.files.disk import Disk
from gemini_live_runtime.journal.sessions.retention import trim_audio
from gemini_live_runtime.threads import start_daemon_thread


class SoundSweep:
    """Deletion of the oldest sound under `root` on `request`, one at a time.

    `report` gets what was deleted, or a notice; `on_full` the bytes of all sound when running sessions alone exceed the
    cap. Both are called in the sweep's thread.
    """

    def __init__(
        self,
        root: Path,
        session_id: str,
        cap_bytes: int,
        disk: Disk,
        *,
        report: Callable[[ev.Payload], None],
        on_full: Callable[[int], None],
    ) -> None:
        self._root, self._id, self._cap, self._disk = root, session_id, cap_bytes, disk
        self._report = report
        self._on_full = on_full
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._is_requested = False
        self._is_closing = False

    def request(self) -> None:
        """Sweep soon, once more if a sweep is under way."""
        with self._lock:
            if self._is_closing:
                return
            self._is_requested = True
            if self._thread is None:
                self._thread = start_daemon_thread(self._run, "sweep")

    def wait(self) -> None:
        """Block until no sweep is requested or under way."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def close(self) -> None:
        """End the sweep that is under way; later requests are ignored."""
        self._is_closing = True
        self.wait()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._is_requested or self._is_closing:
                    self._thread = None
                    return
                self._is_requested = False
            self._sweep()

    def _sweep(self) -> None:
        try:
            trimmed = trim_audio(
                self._root, self._cap, keep={self._id}, disk=self._disk, is_cancelled=lambda: self._is_closing
            )
        except OSError as error:
            text = f"Old recordings cannot be read: {error.strerror or error}."
            self._report(ev.Notice(level="warning", code="retention-failed", text=text))
            return
        if trimmed.session_ids:
            sessions = "session" if len(trimmed.session_ids) == 1 else f"{len(trimmed.session_ids)} sessions"
            reason = f"The sound of the oldest {sessions} was deleted to stay under {size_text(self._cap)}."
            self._report(
                ev.RecordingTrimmed(session_ids=trimmed.session_ids, bytes_freed=trimmed.bytes_freed, reason=reason)
            )
        if trimmed.bytes_left > self._cap:
            self._on_full(trimmed.bytes_left)


def size_text(count: int) -> str:
    """Return a number of bytes in MB or GB."""
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
