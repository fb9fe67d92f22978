"""Delete a recorded session so that it can be restored.

A deleted session is moved, whole, into the folder `trash` beside the folder of sessions. It stays there for
`MAX_TRASH_DAYS` days, by the stamp in its folder; on a full disk, which takes no stamp, by the time of the folder
itself. When the trash holds more than `MAX_TRASH_BYTES`, the sessions deleted first are removed for good; the one
deleted last always stays.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable
from pathlib import Path

from gemini_live_runtime import paths
from gemini_live_runtime.errors import JournalError, write_remedy
from gemini_live_runtime.journal.files.disk import Disk
from gemini_live_runtime.journal.sessions.catalog import CACHE_FILE, DELETED_FILE, Entry, list_entries, small_object
from gemini_live_runtime.journal.sessions.retention import DeletionResult, delete_folders, is_running, session_folders

MAX_TRASH_DAYS = 30
MAX_TRASH_BYTES = 1_000_000_000
_MAX_ALIKE = 1000
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT))
"""Errors of a disk without free space."""
_REFUSED = frozenset((errno.EROFS, errno.EACCES, errno.EPERM))
"""Errors of a folder in which this user may not write."""


def trash_dir(root: Path) -> Path:
    """Return the path of the trash of a folder of sessions, without creating it."""
    return root.with_name("trash")


def delete(root: Path, name: str, *, wall: Callable[[], float] = time.time) -> str:
    """Move the session `name` to the trash and return its name there.

    `restore` takes that name; `wall` returns Unix seconds. Raises `JournalError` when the session is running, missing
    or cannot be moved.
    """
    folder = _existing(root, name)
    if is_running(folder):
        raise JournalError(
            f"The session {name} is running", remedy=f"End it first: gemini-live-tui stop {name}", field="session"
        )
    trash = trash_dir(root)
    stamp = folder / DELETED_FILE
    now = wall()
    try:
        _make_trash(root, trash)
        target = _free(trash, name)
        # Stamp before moving: a folder in the trash without a stamp has no name to go back to but its own.
        is_stamped = _stamp(stamp, name, now)
        folder.rename(target)
        if not is_stamped:
            os.utime(target, (now, now))
    except OSError as error:
        with contextlib.suppress(OSError):
            stamp.unlink(missing_ok=True)
        # On a disk where nothing may be written, nothing can be deleted for good either.
        purge = f"To delete it for good: gemini-live-tui sessions purge {name}"
        remedy = write_remedy(error, root.parent) if error.errno in _REFUSED else purge
        raise JournalError(
            f"The session {name} cannot be moved to {trash}: {error.strerror or error}", remedy=remedy, field="session"
        ) from None
    return target.name


def _make_trash(root: Path, trash: Path) -> None:
    """Create the trash; raises `OSError`."""
    try:
        paths.private_dir(trash)
    except OSError as error:
        if error.errno not in _FULL:
            raise
        # The cache only saves time: give its room to the folder.
        (root / CACHE_FILE).unlink(missing_ok=True)
        paths.private_dir(trash)


def _stamp(path: Path, name: str, now: float) -> bool:
    """Write name and time of a deletion; return False when the disk is full.

    Raises `OSError` for any other failure.
    """
    try:
        paths.write_private(path, {"id": name, "when": now})
    except OSError as error:
        if error.errno not in _FULL:
            raise
        return False
    return True


def restore(root: Path, name: str) -> str:
    """Move `name` back from the trash and return the session's own name.

    Raises `JournalError` when it is missing, cannot be moved, or another session has that name.
    """
    folder = _existing(trash_dir(root), name, "in the trash")
    original = small_object(folder / DELETED_FILE).get("id")
    ident = paths.safe_name(original if isinstance(original, str) else name, field="session")
    target = root / ident
    if target.exists() or target.is_symlink():
        raise JournalError(
            f"There is another session {ident}", remedy="Rename or delete that one first", field="session"
        )
    try:
        paths.private_dir(root)
        folder.rename(target)
        (target / DELETED_FILE).unlink(missing_ok=True)
    except OSError as error:
        raise JournalError(
            f"The session {name} cannot be moved to {root}: {error.strerror or error}",
            remedy=write_remedy(error, root.parent),
            field="session",
        ) from None
    return ident


def list_trash(root: Path) -> list[Entry]:
    """Return the sessions in the trash, those deleted last first."""
    return [entry for _, entry in _by_deletion(trash_dir(root))]


def expire(root: Path, now: float, *, disk: Disk | None = None) -> DeletionResult:
    """Delete for good what exceeds the trash's days or bytes; `now` is Unix seconds."""
    trash = trash_dir(root)
    if not session_folders(trash):
        return DeletionResult((), 0, ())
    expired, total = [], 0
    for number, (deleted, entry) in enumerate(_by_deletion(trash)):
        total += entry.total_bytes
        if now - deleted > MAX_TRASH_DAYS * 86_400 or (number and total > MAX_TRASH_BYTES):
            expired.append(entry.id)
    return delete_folders([trash / name for name in expired], disk)


def empty(root: Path, *, disk: Disk | None = None) -> DeletionResult:
    """Delete for good all sessions in the trash."""
    trash = trash_dir(root)
    return delete_folders(session_folders(trash), disk)


def _by_deletion(trash: Path) -> list[tuple[float, Entry]]:
    """Return each session with its time of deletion (Unix seconds), the last first.

    Of a folder that does not tell, the time of its last change counts.
    """
    found = []
    for entry in list_entries(trash):
        deleted = entry.deleted_at
        if deleted is None:
            with contextlib.suppress(OSError):
                deleted = (trash / entry.id).stat().st_mtime
        found.append((deleted or 0.0, entry))
    return sorted(found, key=lambda item: (item[0], item[1].id), reverse=True)


def _existing(root: Path, name: str, where: str = "") -> Path:
    folder = root / paths.safe_name(name, field="session")
    if folder.is_symlink() or not folder.is_dir():
        raise JournalError(
            f"There is no session {name} {where}".rstrip(),
            remedy="See: gemini-live-tui sessions list" + (" --trash" if where else ""),
            field="session",
        )
    return folder


def _free(trash: Path, name: str) -> Path:
    """Return a free path in the trash."""
    for number in range(1, _MAX_ALIKE):
        target = trash / (name if number == 1 else f"{name[:74]}.{number}")
        if not target.exists() and not target.is_symlink():
            return target
    raise JournalError(
        f"Too many sessions {name} are in the trash", remedy="Empty it: gemini-live-tui sessions empty-trash"
    )
