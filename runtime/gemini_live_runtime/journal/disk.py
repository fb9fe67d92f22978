"""The file-system calls of the journal, one method each, so that a test can make any of them fail."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path

from gemini_live_runtime import paths

if sys.platform != "win32":
    import fcntl


class Disk:
    """The real file system. Every method may raise `OSError`."""

    def folder(self, path: Path) -> None:
        """Create `path` (0700) and what is missing above it."""
        paths.private_dir(path)

    def create(self, path: Path) -> int:
        """Create `path` (0600), which must not exist, for writing; the descriptor."""
        return paths.open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0))

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write some of `data`; how many bytes were taken."""
        return os.write(fd, data)

    def seek(self, fd: int, offset: int) -> None:
        """Move to `offset` bytes from the start."""
        os.lseek(fd, offset, os.SEEK_SET)

    def sync(self, fd: int) -> None:
        """Bring the file's data to the device."""
        getattr(os, "fdatasync", os.fsync)(fd)

    def close(self, fd: int) -> None:
        """Close the descriptor."""
        os.close(fd)

    def unlink(self, path: Path) -> None:
        """Delete one file or symbolic link."""
        path.unlink()

    def remove_folder(self, path: Path) -> None:
        """Delete an empty folder."""
        path.rmdir()


def write_all(disk: Disk, fd: int, data: bytes) -> None:
    """Write all of `data` at the current position; raises `OSError`."""
    view = memoryview(data)
    while view:
        view = view[disk.write(fd, view) :]


def lock(fd: int) -> None:
    """Mark a file of our own making as in use until it is closed or its process ends; a no-op without such locks.

    Waits only for an `is_locked` that happens to be looking.
    """
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)


def is_locked(path: Path) -> bool:
    """Whether a living process holds `lock` on the regular file `path`; never on Windows."""
    if sys.platform == "win32":
        return False
    try:
        fd = paths.open_private(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        if stat.S_ISREG(os.fstat(fd).st_mode):
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False
