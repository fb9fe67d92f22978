"""A disk whose k-th call fails, once or from then on, or where the process dies."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from gemini_live_runtime.journal.files.disk import Disk, FileDisk


class Killed(BaseException):
    """The process died inside this call."""


class FaultyDisk(Disk):
    """The real disk until call number `at` (from 1).

    `fault` is an errno, or `kill`: then nothing more happens on this disk. `lasting`: all later calls that need room
    fail too. `half`: the failing write takes half of its data first.
    """

    def __init__(self, at: int, fault: int | str, *, lasting: bool = False, half: bool = False) -> None:
        self.at, self.fault, self.lasting, self.half = at, fault, lasting, half
        self.calls = 0
        self.failed: list[str] = []
        self.dead = False

    def _call(self, name: str) -> bool:
        if self.dead:
            raise Killed(name)
        self.calls += 1
        due = (
            self.calls >= self.at
            if self.lasting and name in ("create", "write", "sync", "folder")
            else self.calls == self.at
        )
        if due:
            self.failed.append(name)
        return due

    def _fail(self, name: str) -> None:
        if self.fault == "kill":
            self.dead = True
            raise Killed(name)
        assert isinstance(self.fault, int)
        raise OSError(self.fault, errno.errorcode[self.fault])

    def _run(self, name: str) -> None:
        if self._call(name):
            self._fail(name)

    def folder(self, path: Path) -> None:
        self._run("folder")
        super().folder(path)

    def create(self, path: Path) -> int:
        self._run("create")
        return super().create(path)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        if self._call("write"):
            if self.half and len(data) > 1:
                super().write(fd, bytes(data[: len(data) // 2]))
                if self.fault != "kill":
                    return len(data) // 2
            self._fail("write")
        return super().write(fd, data)

    def seek(self, fd: int, offset: int) -> None:
        self._run("seek")
        super().seek(fd, offset)

    def sync(self, fd: int) -> None:
        # Counted, not done: what a power cut loses cannot be tested here, and real syncs take most of the time.
        self._run("sync")

    def close(self, fd: int) -> None:
        # Whatever close reports, the descriptor is gone.
        due = self._call("close")
        super().close(fd)
        if due:
            self._fail("close")

    def unlink(self, path: Path) -> None:
        self._run("unlink")
        super().unlink(path)

    def remove_folder(self, path: Path) -> None:
        self._run("remove_folder")
        super().remove_folder(path)


class FaultyFileDisk(FaultyDisk, FileDisk):
    """Like `FaultyDisk`, for whole files."""

    def close(self, fd: int) -> None:
        if self.dead:
            os.close(fd)  # as the system does for a process that died, which ends its lock
        super().close(fd)

    def read(self, path: Path, limit: int) -> bytes:
        self._run("read")
        return super().read(path, limit)

    def replace(self, source: Path, target: Path) -> None:
        self._run("replace")
        super().replace(source, target)

    def sync_folder(self, path: Path) -> None:
        self._run("sync_folder")
