"""Replace a file whole: a crash leaves the old file or the new one.

The new file is written beside the old one, brought to the device and renamed; then the folder is brought to the device.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gemini_live_runtime.journal.files.disk import FileDisk, is_locked, lock, write_all

PART = ".part"
"""Suffix of a file that is being written."""


_ATTEMPTS = 5
"""Attempts of a write whose new file another program takes for a leftover: it may look before the file is locked."""


class NotSyncedError(OSError):
    """File that was written, whose folder could not be brought to the device."""


def write_problem(error: OSError, written: str = "written") -> str:
    """Return what befell a file that was to be written, with the cause."""
    reason = error.strerror or error
    if isinstance(error, NotSyncedError):
        return f"was {written}, but may be lost if the computer loses power: {reason}"
    return f"cannot be {written}: {reason}"


def write_whole(disk: FileDisk, path: Path, data: bytes) -> None:
    """Write `data` to the file `path` (0600), replacing it.

    Raises `OSError` when the old file is still there, `NotSyncedError` when it may come back after a loss of power.
    """
    for left in reversed(range(_ATTEMPTS)):
        try:
            _write_part(disk, path, data)
            break
        except FileNotFoundError:
            if not left or not path.parent.exists():
                raise
    try:
        disk.sync_folder(path.parent)
    except OSError as error:
        raise NotSyncedError(error.errno, error.strerror or str(error)) from None


def _write_part(disk: FileDisk, path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{os.getpid()}-{os.urandom(4).hex()}{PART}")
    fd = disk.create(part)
    try:
        lock(fd)  # tells `remove_leftovers` of other processes that this file is being written
        try:
            write_all(disk, fd, data)
            disk.sync(fd)
        finally:
            disk.close(fd)
        disk.replace(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            disk.unlink(part)
        raise


def remove_leftovers(disk: FileDisk, path: Path) -> None:
    """Delete what writers of `path` that have died left behind.

    A living writer holds a lock. `path` may be a pattern of `Path.glob` in its folder.
    """
    for part in path.parent.glob(f".{path.name}.*{PART}"):
        if not is_locked(part):
            with contextlib.suppress(OSError):
                disk.unlink(part)
