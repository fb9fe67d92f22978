"""Find recorded sessions, keep their sound under a cap, and delete sessions.

Names on disk are trusted as little as the network: only folders with safe names directly under the sessions folder
count, only the files of a session are touched, and symbolic links are never followed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from gemini_live_runtime import paths
from gemini_live_runtime.errors import UsageError, write_remedy
from gemini_live_runtime.journal.files.disk import Disk, is_locked
from gemini_live_runtime.journal.files.lines import EVENTS_FILE
from gemini_live_runtime.journal.files.tracks import FILES, flac_file, part_file
from gemini_live_runtime.journal.sessions.session_summary import started_at
from gemini_live_runtime.records import record


@record
class TrimResult:
    """Result of `trim_audio`; `bytes_left` is the size of all remaining sound."""

    session_ids: tuple[str, ...]
    bytes_freed: int
    bytes_left: int


@record
class DeletionResult:
    """Result of a deletion.

    `not_deleted` are (id, reason); `remedies` help against those that a disk has refused.
    """

    session_ids: tuple[str, ...]
    bytes_freed: int
    not_deleted: tuple[tuple[str, str], ...]
    remedies: tuple[str, ...] = ()


def session_folders(root: Path) -> list[Path]:
    """Return the folders of sessions under `root`, sorted by name: oldest first."""
    return [folder for folder, _ in session_journals(root)]


def session_journals(root: Path) -> list[tuple[Path, os.stat_result]]:
    """Return the folders of sessions, each with the status of its journal."""
    try:
        with os.scandir(root) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    found = []
    for name in sorted(names):
        try:
            folder = root / paths.safe_name(name)
            info = (folder / EVENTS_FILE).lstat()
        except (UsageError, OSError):
            continue
        if stat.S_ISREG(info.st_mode):
            found.append((folder, info))
    return found


def is_running(folder: Path) -> bool:
    """Return True when a living engine writes the session in `folder`."""
    return is_locked(folder / EVENTS_FILE)


def trim_audio(
    root: Path,
    cap_bytes: int,
    *,
    keep: Collection[str] = (),
    disk: Disk | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
) -> TrimResult:
    """Delete the sound of the oldest sessions until the rest fits `cap_bytes`.

    Journals stay, and so does the sound of running sessions and of those in `keep`. Raises `OSError` when a file cannot
    be deleted. When `is_cancelled` says so, it ends without having deleted anything.
    """
    disk = disk or Disk()
    recorded: list[tuple[float, Path, list[tuple[Path, int]]]] = []
    total = 0
    for folder in session_folders(root):
        if is_cancelled():
            return TrimResult((), 0, 0)
        tracks = list(track_files(folder))
        with contextlib.suppress(FileNotFoundError):  # deleted by another program meanwhile
            modified = [modified_at(path) for path, _ in tracks]
            if modified:
                total += sum(size for _, size in tracks)
                recorded.append((min(modified), folder, tracks))
    freed, ids = 0, []
    for _, folder, tracks in sorted(recorded, key=lambda item: (item[0], item[1].name)):
        if total - freed <= cap_bytes:
            break
        if folder.name in keep or is_running(folder):
            continue  # an engine still writes its tracks
        for path, size in tracks:
            _unlink(path, disk)
            freed += size
        ids.append(folder.name)
    return TrimResult(tuple(ids), freed, total - freed)


def purge(
    root: Path,
    *,
    ids: Collection[str] = (),
    before: float | None = None,
    everything: bool = False,
    disk: Disk | None = None,
) -> DeletionResult:
    """Delete the sessions in `ids`, those from before `before` (Unix seconds), or all.

    Running sessions and unknown ids are in `not_deleted`. Raises `UsageError` for an id that is no safe name.
    """
    folders = {folder.name: folder for folder in session_folders(root)}
    chosen = {paths.safe_name(name, field="session id") for name in ids}
    not_deleted = [(name, "there is no such session") for name in sorted(chosen - folders.keys())]
    for name, folder in folders.items():
        if everything or (before is not None and _started(folder) < before):
            chosen.add(name)
    result = delete_folders([folders[name] for name in sorted(chosen & folders.keys())], disk)
    return replace(result, not_deleted=(*not_deleted, *result.not_deleted))


def delete_folders(folders: Iterable[Path], disk: Disk | None = None) -> DeletionResult:
    """Delete the folders of sessions for good.

    Running sessions, and those that cannot be deleted, are in `not_deleted`.
    """
    disk = disk or Disk()
    done, not_deleted, freed = [], [], 0
    remedies: dict[str, None] = {}
    for folder in folders:
        # Checked right before each deletion: an engine may start to write a session while others are deleted.
        if is_running(folder):
            not_deleted.append((folder.name, "it is running"))
            continue
        try:
            freed += _delete_folder(folder, disk)
        except OSError as error:
            path = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else folder
            not_deleted.append((folder.name, f"{path} cannot be deleted: {error.strerror or error}"))
            remedies[_remedy(error, path, folder)] = None
        else:
            done.append(folder.name)
    return DeletionResult(tuple(done), freed, tuple(not_deleted), tuple(remedies))


def _remedy(error: OSError, path: Path, folder: Path) -> str:
    # A folder in the session's: Linux calls it EISDIR, macOS EPERM.
    if error.errno in (errno.EISDIR, errno.ENOTEMPTY) or (error.errno == errno.EPERM and path.is_dir()):
        return f"Look into {folder} and delete it yourself"
    return write_remedy(error, path.parent if error.errno in (errno.EACCES, errno.EPERM) else folder.parent)


def _delete_folder(folder: Path, disk: Disk) -> int:
    """Delete a session's folder for good and return the bytes freed.

    Raises `OSError` when a file cannot be deleted, or the folder holds another folder.
    """
    # The journal goes last: as long as it is there the session is listed and can be purged again.
    freed = 0
    with contextlib.suppress(FileNotFoundError):  # another program deletes the folder, too
        with os.scandir(folder) as entries:
            names = sorted((entry.name for entry in entries), key=lambda name: (name == EVENTS_FILE, name))
        for name in names:
            path = folder / name
            freed += regular_size(path) or 0
            _unlink(path, disk)
        disk.remove_folder(folder)
    return freed


def _unlink(path: Path, disk: Disk) -> None:
    """Delete a file, which may be gone already: other programs delete sessions, too."""
    with contextlib.suppress(FileNotFoundError):
        disk.unlink(path)


def track_files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield the files of tracks in a session's folder with their sizes in bytes."""
    for name in FILES.values():
        for path in (folder / name, part_file(folder / name), flac_file(folder / name)):
            size = regular_size(path)
            if size is not None:
                yield path, size


def regular_size(path: Path) -> int | None:
    """Return the size of a regular file in bytes, None for a link or anything else."""
    try:
        info = path.lstat()
    except OSError:
        return None
    return info.st_size if stat.S_ISREG(info.st_mode) else None


def modified_at(path: Path) -> float:
    """Return the Unix time of a file's last change; 0 when unknown."""
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def _started(folder: Path) -> float:
    return started_at(folder) or modified_at(folder / EVENTS_FILE)
