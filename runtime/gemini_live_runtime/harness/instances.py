"""Prove that a program which runs tasks lives, by locks that end with it.

It locks a file of its own, and the folder of each task that it runs. People delete lock files that look old; the folder
cannot be deleted without its task. Either lock is a proof: some network file systems lock no folders, where a deleted
file is written again within seconds.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path

from gemini_live_runtime import paths
from gemini_live_runtime.harness.ids import new_id
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.record_files import RecordFiles, is_file_at
from gemini_live_runtime.harness.tasks import HarnessTask, TaskRuntimeInstance
from gemini_live_runtime.journal.files.disk import is_locked, try_lock

STARTING_S = 60.0
"""Seconds from the creation of a lock file in which it may not be locked yet."""


class InstanceLock:
    """Lock of one program for the tasks that it runs. The id is new for each object."""

    def __init__(self, files: RecordFiles, folder: Path, wall_ms: int) -> None:
        """Create the lock file and lock it; raise `HarnessError`."""
        self.instance = TaskRuntimeInstance(
            instance_id=new_id("runtime", wall_ms), pid=os.getpid(), started_at_ms=wall_ms
        )
        self._files = files
        self._path = lock_file(folder, self.instance.instance_id)
        files.folder(folder)
        with files.errors(self._path):
            self._fd = paths.open_private(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        try_lock(self._fd)

    def keep(self) -> None:
        """Write the file again when it was deleted.

        Where that fails, the next call tries it again.
        """
        if self._fd < 0 or is_file_at(self._fd, self._path):
            return
        with contextlib.suppress(OSError):
            paths.private_dir(self._path.parent)
            fd = paths.open_private(self._path, os.O_RDWR | os.O_CREAT)
            # A program that looks at it holds it for an instant.
            old, self._fd = (self._fd, fd) if try_lock(fd) else (fd, self._fd)
            os.close(old)

    def release(self) -> None:
        """Unlock and remove the file; tasks that are still running count as interrupted."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._fd)
            self._fd = -1


class TaskLocks:
    """Locks of one program on the folders of the tasks that it runs."""

    def __init__(self) -> None:
        self._fds: dict[str, int] = {}

    def take(self, task_id: str, folder: Path) -> None:
        """Lock the folder of a task, before it has a record.

        Does nothing where the system cannot.
        """
        if sys.platform != "win32":
            with contextlib.suppress(OSError):
                fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try_lock(fd)
                self._fds[task_id] = fd

    def release(self, task_id: str) -> None:
        """Unlock a task that no longer runs here."""
        fd = self._fds.pop(task_id, -1)
        if fd >= 0:
            os.close(fd)

    def release_all(self) -> None:
        """Unlock all tasks."""
        for task_id in list(self._fds):
            self.release(task_id)


def lock_file(folder: Path, instance_id: str) -> Path:
    """Return the lock file of an instance."""
    return folder / f"{paths.safe_name(instance_id, field='instance id')}.lock"


def runs(task: HarnessTask, paths_of: HarnessPaths, wall_ms: int) -> bool:
    """Return True when the program of a running task lives.

    Where the system has no locks: until the task's limit is over.
    """
    if task.runtime is None or not paths.is_safe_name(task.runtime.instance_id):
        return False
    if sys.platform == "win32":
        return task.limit_at_ms is not None and wall_ms < task.limit_at_ms
    is_alive = is_locked(lock_file(paths_of.instances, task.runtime.instance_id))
    return is_alive or is_locked(paths_of.task(task.id))


def remove_dead_locks(folder: Path) -> None:
    """Remove lock files of programs that have ended."""
    with contextlib.suppress(OSError):
        for path in list(folder.glob("*.lock")):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > STARTING_S and not is_locked(path):
                    path.unlink()
