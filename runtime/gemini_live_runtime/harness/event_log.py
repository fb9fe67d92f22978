"""Append events of a task to its file, one JSON object a line."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from pathlib import Path

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.record_files import RecordFiles, line_of, parse
from gemini_live_runtime.harness.tasks import TaskEvent, TaskEventKind
from gemini_live_runtime.journal.files.disk import write_all

MAX_LOG = 16 * 1024 * 1024
"""Bytes of a task's events; a tool that reports more progress is heard, but no longer recorded."""

_ENDS = (TaskEventKind.SUCCEEDED, TaskEventKind.FAILED, TaskEventKind.CANCELLED, TaskEventKind.INTERRUPTED)
"""Kinds of a task's last event, for which a full file has room, too."""


class TaskEventLog:
    """Events of one task.

    Numbers are kept in memory, so an append costs the same however long the file is.
    """

    def __init__(self, files: RecordFiles, path: Path) -> None:
        self._files = files
        self._path = path
        self._sequence = 0
        self._size = -1
        """Bytes of whole lines; -1 before the file was read."""

    def append(self, event: TaskEvent) -> TaskEvent:
        """Append an event with the next number, and wait until the disk has it.

        A line that a crash has cut is removed first. Raises `HarnessError`.
        """
        if self._size < 0:
            self._read_end()
        numbered = replace(event, sequence=self._sequence + 1)
        line = line_of(numbered, self._path)
        if self._size + len(line) > MAX_LOG and event.type not in _ENDS:
            raise HarnessError(
                f"{self._path} is full: {MAX_LOG // 1024 // 1024} MB",
                remedy="Report progress less often",
                field="events",
                value=self._size,
            )
        disk = self._files.disk
        with self._files.errors(self._path):
            fd = disk.open(self._path) if self._size else self._create()
            try:
                # Also after an append that failed half-way.
                if os.fstat(fd).st_size != self._size:
                    disk.truncate(fd, self._size)
                disk.seek(fd, self._size)
                write_all(disk, fd, line)
                disk.sync(fd)
            finally:
                disk.close(fd)
            if not self._size:
                disk.sync_folder(self._path.parent)
        self._size += len(line)
        self._sequence += 1
        return numbered

    def _create(self) -> int:
        with contextlib.suppress(FileExistsError):
            return self._files.disk.create(self._path)
        return self._files.disk.open(self._path)

    def _read_end(self) -> None:
        data = self._data()
        whole = data.rfind(b"\n") + 1
        lines = data[:whole].splitlines()
        self._sequence = len(lines)
        for line in reversed(lines):
            with contextlib.suppress(HarnessError):
                self._sequence = max(self._sequence, parse(TaskEvent, line, self._path).sequence)
                break
        self._size = whole

    def read(self) -> tuple[list[TaskEvent], list[str]]:
        """Return the events, and sentences on lines that cannot be used."""
        events, problems = [], []
        data = self._data()
        for number, line in enumerate(data.splitlines(), 1):
            if not data.endswith(b"\n") and number == data.count(b"\n") + 1:
                problems.append(f"{self._path}, line {number} is cut short: its program ended while writing it.")
                continue
            try:
                events.append(parse(TaskEvent, line, self._path))
            except HarnessError as error:
                problems.append(f"Line {number}: {error}")
        return events, problems

    def _data(self) -> bytes:
        try:
            return self._files.disk.read(self._path, 2 * MAX_LOG)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise HarnessError(
                f"{self._path} cannot be read: {error.strerror or error}", field="events", value=str(self._path)
            ) from None
