"""Claim a call before it runs, so that two programs do not both run it.

Whether a call becomes a task is open until its budget is over, and only a task has a record. Until then a lock tells
other programs of the call: a file of its own, locked as long as the program lives or until the call is decided.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from gemini_live_runtime import paths
from gemini_live_runtime.harness.paths import HarnessPaths, may_exist
from gemini_live_runtime.harness.record_files import is_file_at
from gemini_live_runtime.journal.files.disk import try_lock

MAX_TRIES = 10
"""Tries to lock a file that other programs remove meanwhile."""


class CallClaim:
    """Right of this program to run a call; without a file where the disk takes none."""

    def __init__(self, path: Path | None = None, fd: int = -1) -> None:
        self._path = path
        self._fd = fd

    def release(self) -> None:
        """Let other programs claim the call, and leave no file."""
        if self._fd >= 0 and self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._fd)
            self._fd = -1
            with contextlib.suppress(OSError):
                self._path.parent.rmdir()


def claim_call(root: Path, key: str) -> CallClaim | None:
    """Return the claim of a call, or None while another program has it.

    A disk that takes no lock takes no record either, so that such a call cannot become a task: it is claimed without a
    file.
    """
    of_root = HarnessPaths(root)
    if not may_exist(of_root.header) and not _is_free(of_root):
        return CallClaim()
    path = of_root.call_lock(key)
    try:
        for _ in range(MAX_TRIES):
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                fd = paths.open_private(path, os.O_RDWR | os.O_CREAT)
            except (FileExistsError, FileNotFoundError):
                if path.parent.is_file():
                    return CallClaim()
                continue  # another program has removed the empty folder
            if not try_lock(fd):
                os.close(fd)
                return None
            if is_file_at(fd, path):
                return CallClaim(path, fd)
            os.close(fd)
    except OSError:
        return CallClaim()
    return None


def _is_free(of_root: HarnessPaths) -> bool:
    """Return True for a root that may get records: it has no files of others."""
    ours = {path.name for path in of_root.of_ours}
    try:
        return all(name in ours for name in os.listdir(of_root.root))
    except FileNotFoundError:
        return True
    except OSError:
        return False
