"""Find the files of memory beneath a root; symbolic links are not followed."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.memory import MemoryRecord
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.record_files import RecordFiles
from gemini_live_runtime.paths import is_safe_name

_SUFFIX = ".json"


Stamp: TypeAlias = tuple[int, int, int]
"""Time of the last change in ns, size and number of a file: they change when it does."""


class MemoryFiles:
    """Files of one root's memory. A file's place, not its content, says scope and key."""

    def __init__(self, paths: HarnessPaths, files: RecordFiles) -> None:
        self._paths = paths
        self._files = files
        self._root = str(paths.memory)

    def folder(self, scope: str) -> Path:
        """Return the folder of a scope; raise `HarnessError` for an unusable name or link."""
        folder = self._paths.memory_scope(scope)
        if folder.is_symlink():
            raise HarnessError(
                f"{folder} is a symbolic link, which memory does not follow",
                remedy="Replace it by a folder",
                field="scope",
                value=scope,
            )
        return folder

    def file(self, scope: str, key: str) -> Path:
        """Return the file of a memory; raise `HarnessError` for an unusable place."""
        return self.folder(scope) / self._paths.memory_file(scope, key).name

    def read(self, scope: str, key: str) -> MemoryRecord | None:
        """Return a memory, or None without its file; raise `HarnessError`."""
        found = self._files.read(MemoryRecord, self.file(scope, key))
        # A file that was copied or renamed by hand.
        return (
            found if found is None or (found.scope, found.key) == (scope, key) else replace(found, scope=scope, key=key)
        )

    def scope_times(self) -> dict[str, int]:
        """Return the time of the last change in each scope's folder, in ns, by scope."""
        times = {}
        for entry in _entries(self._paths.memory):
            if is_safe_name(entry.name) and (found := _status(entry)) is not None and stat.S_ISDIR(found.st_mode):
                times[entry.name] = found.st_mtime_ns
        return times

    def keys(self, scope: str) -> list[str]:
        """Return the keys of a scope, in no order; none for an unknown one."""
        names = (entry.name for entry in _entries(self.folder(scope)) if entry.is_file(follow_symlinks=False))
        return [name.removesuffix(_SUFFIX) for name in names if _is_record(name)]

    def count(self, scope: str) -> int:
        """Return the number of files of a scope's memory; quicker than counting its keys."""
        try:
            return sum(name.endswith(_SUFFIX) for name in os.listdir(self.folder(scope)))
        except OSError:
            return 0

    def stamps(self, scope: str) -> dict[str, Stamp]:
        """Return the stamp of each file of a scope, by key."""
        try:
            folder = os.open(self.folder(scope), os.O_RDONLY)
        except OSError:
            return {}
        try:
            names = [name for name in os.listdir(folder) if _is_record(name)]
            return {name[: -len(_SUFFIX)]: found for name in names if (found := _stamp_in(folder, name)) is not None}
        except OSError:
            return {}
        finally:
            os.close(folder)

    def stamp(self, scope: str, key: str) -> Stamp | None:
        """Return the stamp of a memory's file, or None without one."""
        return _stamp_in(None, f"{self._root}{os.sep}{scope}{os.sep}{key}{_SUFFIX}")


def _stamp_in(folder: int | None, name: str) -> Stamp | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def _is_record(name: str) -> bool:
    return name.endswith(_SUFFIX) and is_safe_name(name.removesuffix(_SUFFIX))


def _status(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []
