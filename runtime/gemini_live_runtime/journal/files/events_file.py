"""Write the file of a session's events so that a reader never sees a damaged line."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.files.disk import Disk, lock, try_lock
from gemini_live_runtime.journal.files.lines import EVENTS_FILE


class EventsFile:
    """Journal file: the header, then one event a line.

    `unwritten` are bytes that the disk has not taken, `written` counts those that it has. After a failed write part of
    the data may be in the file: the next attempt seeks back to `written` and overwrites it, so that a reader sees a
    torn last line at worst, never a damaged one in the middle.
    """

    __slots__ = ("_disk", "_fd", "_torn", "dirty", "path", "unwritten", "written")

    def __init__(self, folder: Path, session_id: str, disk: Disk, *, kept: int | None = None) -> None:
        """Create the file, or go on after its first `kept` bytes, which are whole lines.

        Raises `OSError`; `BlockingIOError` when another process writes the file.
        """
        self.path = folder / EVENTS_FILE
        self.written = kept or 0
        self.dirty = False
        self._disk = disk
        self._torn = False
        header = {"format": ev.FORMAT, "version": ev.VERSION, "session_id": session_id}
        self.unwritten = bytearray() if kept else bytearray(json.dumps(header).encode() + b"\n")
        if not kept:
            self._fd = disk.create(self.path)
            lock(self._fd)
            return
        self._fd = disk.open(self.path)
        try:
            if not try_lock(self._fd):
                raise BlockingIOError(errno.EWOULDBLOCK, "another process writes it")
            disk.truncate(self._fd, kept)
            disk.seek(self._fd, kept)
        except OSError:
            disk.close(self._fd)
            raise

    @property
    def waiting(self) -> int:
        """Number of events in `unwritten`."""
        return max(0, self.unwritten.count(b"\n") - (not self.written))  # the header comes first

    def append(self, lines: bytes) -> None:
        """Write whole lines after the unwritten ones; they join them on `OSError`."""
        self.unwritten += lines
        self.retry()

    def retry(self) -> None:
        """Write the unwritten bytes; raises `OSError`."""
        if self.unwritten and self._torn:
            self._disk.seek(self._fd, self.written)
            self._torn = False
        while self.unwritten:
            try:
                taken = self._disk.write(self._fd, bytes(self.unwritten[: 1 << 20]))
            except OSError:
                self._torn = True
                raise
            self.written += taken
            self.dirty = True
            del self.unwritten[:taken]

    def sync(self) -> None:
        """Flush the written bytes to the device; raises `OSError`."""
        if self.dirty:
            self.dirty = False
            self._disk.sync(self._fd)

    @property
    def is_in_place(self) -> bool:
        """True unless the file was removed or moved away since it was made."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._fd))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True  # nobody can tell now

    def close(self) -> None:
        """Close the file, which unlocks it."""
        fd, self._fd = self._fd, -1
        if fd >= 0:
            self._disk.close(fd)
