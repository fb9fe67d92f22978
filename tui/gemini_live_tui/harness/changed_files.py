"""Read many record files, of which only changed ones are read again."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.record_files import RecordFiles

R = TypeVar("R")

Stamp: TypeAlias = tuple[int, int, int]
"""Time of the last change in ns, number and size of a file: they change when it does."""


class ChangedFiles(Generic[R]):
    """Records of one kind by their files."""

    def __init__(self, files: RecordFiles, kind: type[R]) -> None:
        self._files = files
        self._kind = kind
        self._read: dict[str, tuple[Stamp, R | str]] = {}
        """Stamp of each file, and its record, or the reason why it cannot be used."""

    def read(self, found: Iterable[tuple[str, Stamp]]) -> tuple[list[R], list[str]]:
        """Return the records of files in no order, and why others cannot be used."""
        before, self._read = self._read, {}
        for path, stamp in found:
            known = before.get(path)
            if known is not None and known[0] == stamp:
                self._read[path] = known
            elif (record := self._record(path)) is not None:
                self._read[path] = (stamp, record)
        values = [value for _, value in self._read.values()]
        return [one for one in values if not isinstance(one, str)], [one for one in values if isinstance(one, str)]

    def _record(self, path: str) -> R | str | None:
        try:
            return self._files.read(self._kind, path)
        except HarnessError as error:
            return str(error)


def stamps_of_tasks(folder: Path) -> Iterator[tuple[str, Stamp]]:
    """Yield the record of each task with its stamp."""
    for entry in _entries(folder):
        with contextlib.suppress(OSError):
            path = os.path.join(entry.path, "task.json")
            yield path, _stamp(os.stat(path, follow_symlinks=False))


def stamps_of_records(folder: Path) -> Iterator[tuple[str, Stamp]]:
    """Yield the record files of a folder with their stamps."""
    for entry in _entries(folder):
        if entry.name.endswith(".json") and not entry.name.startswith("."):
            with contextlib.suppress(OSError):
                yield entry.path, _stamp(entry.stat(follow_symlinks=False))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _stamp(status: os.stat_result) -> Stamp:
    return status.st_mtime_ns, status.st_ino, status.st_size
