"""Wrap file-system calls of what is kept, so that a test can make each fail."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import struct
import sys
from pathlib import Path

from gemini_live_runtime import paths

if sys.platform != "win32":
    import fcntl

_FLOCK = {
    "linux": (("type", "whence", "start", "len", "pid"), "@hhqqi0q"),
    "darwin": (("start", "len", "pid", "type", "whence"), "@qqihh0q"),
}
"""Fields of `struct flock` in their order, and their layout, see fcntl(2)."""


class Disk:
    """The real file system. Every method may raise `OSError`."""

    def folder(self, path: Path) -> None:
        """Create the folder `path` (0700) and missing parents."""
        paths.private_dir(path)

    def create(self, path: Path) -> int:
        """Create the file `path` (0600), which must not exist; return its descriptor."""
        return paths.open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0))

    def open(self, path: Path) -> int:
        """Open the file `path`, which exists, to write; return its descriptor."""
        return paths.open_private(path, os.O_RDWR | getattr(os, "O_BINARY", 0))

    def truncate(self, fd: int, size: int) -> None:
        """Cut a file to `size` bytes, or fill it with zeros up to there."""
        os.ftruncate(fd, size)

    def write(self, fd: int, data: bytes | memoryview) -> int:
        """Write `data` or a part of it; return the number of bytes written."""
        return os.write(fd, data)

    def seek(self, fd: int, offset: int) -> None:
        """Move to `offset` bytes from the start."""
        os.lseek(fd, offset, os.SEEK_SET)

    def sync(self, fd: int) -> None:
        """Flush the file's data to the device."""
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


_ONE_READ = 64 * 1024
"""Bytes of a file that one call reads whole."""


_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class FileDisk(Disk):
    """File-system calls for whole files, besides those of the journal."""

    def read(self, path: str | Path, limit: int) -> bytes:
        """Return at most `limit` + 1 bytes of a regular file; raise `OSError`."""
        # Without a file object: listings read thousands of small files.
        fd = paths.open_private(path, _READING)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(errno.EINVAL, "it is no regular file", str(path))
            data = os.read(fd, min(status.st_size, limit) + 1)
            if len(data) < min(status.st_size, limit) + 1 <= _ONE_READ:
                return data
            parts = [data]
            while (left := limit + 1 - sum(map(len, parts))) > 0 and (part := os.read(fd, left)):
                parts.append(part)
            return b"".join(parts)
        finally:
            os.close(fd)

    def replace(self, source: Path, target: Path) -> None:
        """Rename `source` to `target`, replacing an existing file."""
        source.replace(target)

    def sync_folder(self, path: Path) -> None:
        """Flush a folder's entries to the device, where the platform can."""
        if os.name == "posix":
            fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


def write_all(disk: Disk, fd: int, data: bytes) -> None:
    """Write all of `data` at the current position; raises `OSError`."""
    view = memoryview(data)
    while view:
        view = view[disk.write(fd, view) :]


def lock(fd: int) -> None:
    """Lock an open file until it is closed or its process ends; a no-op on Windows.

    Blocks only while another process runs `is_locked` on it.
    """
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)


def try_lock(fd: int) -> bool:
    """Lock an open file as `lock` does; return False when another process has it.

    True where the system has no locks.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            pass
    return True


def sign_lock(fd: int) -> None:
    """Let the system tell others which process holds the lock; see `lock_holder`."""
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_holder(path: Path) -> int | None:
    """Return the id of the living process that signed the lock of the file `path`.

    None for an unsigned one, and where the system does not tell.
    """
    layout = _FLOCK.get(sys.platform)
    if sys.platform == "win32" or layout is None:
        return None
    names, fields = layout
    asked = {"type": fcntl.F_WRLCK, "whence": os.SEEK_SET, "start": 0, "len": 0, "pid": 0}
    try:
        fd = paths.open_private(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        answer = fcntl.fcntl(fd, fcntl.F_GETLK, struct.pack(fields, *(asked[name] for name in names)))
    except OSError:
        return None
    finally:
        os.close(fd)
    found = dict(zip(names, struct.unpack(fields, answer), strict=True))
    return found["pid"] if found["type"] != fcntl.F_UNLCK and found["pid"] > 0 else None


def is_locked(path: Path) -> bool:
    """Return True when a living process holds `lock` on the file or folder `path`.

    False on Windows, and for other kinds of paths.
    """
    if sys.platform == "win32":
        return False
    try:
        fd = paths.open_private(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode):
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(fd)
    return False
