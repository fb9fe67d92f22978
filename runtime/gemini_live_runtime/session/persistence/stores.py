"""Store snapshots of sessions: in memory, as files, and in the background.

A session saves after every turn and must not wait for the disk. `SnapshotSaver` has one task and one slot: while a
snapshot is being written, newer ones replace each other in the slot, so at most one write is running, the order of
snapshots is kept and a slow disk skips snapshots instead of queuing them. A save is never cancelled half-way.

`FsPersistence` runs its calls in a thread pool of one, for the same reason: a caller that is cancelled stops waiting,
but its write ends before the next one begins. A file is written beside the old one, brought to the device and renamed,
so a crash leaves the old file or the new one.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import quote

from gemini_live_runtime import paths
from gemini_live_runtime.author_code import error_text, exact_text, is_awaitable, result_or_error
from gemini_live_runtime.errors import GeminiLiveError, JournalError, NewerFormatError, UsageError, write_remedy
from gemini_live_runtime.journal.files.disk import FileDisk
from gemini_live_runtime.journal.files.whole_file import remove_leftovers, write_problem, write_whole
from gemini_live_runtime.session.persistence.snapshot import SessionSnapshot
from gemini_live_runtime.text import sanitise_line

T = TypeVar("T")

MAX_SNAPSHOT = 16 * 1024 * 1024
"""Bytes of a saved session; a larger one is neither written nor read."""

MAX_NAME = 120
"""Characters of a session's id, percent-encoded, in its file's name; a longer one ends in its hash."""

DAMAGED = ".damaged"
"""Suffix of a damaged file that was moved aside to save a new one."""


class SessionPersistence(Protocol):
    """Store of one snapshot for each session id.

    Plain methods do as well; the session stands still while one runs.
    """

    async def save(self, snapshot: SessionSnapshot, /) -> None:
        """Replace the session's snapshot, atomically; raise `GeminiLiveError` on failure."""
        ...

    async def load(self, session_id: str, /) -> SessionSnapshot | None:
        """Return the session's snapshot, or None when none is stored.

        Raises `GeminiLiveError` for one that cannot be read.
        """
        ...

    async def delete(self, session_id: str, /) -> None:
        """Delete the session's snapshot, if any."""
        ...


class MemoryPersistence:
    """Snapshots in memory, for tests and for programs that store them elsewhere."""

    def __init__(self) -> None:
        self._saved: dict[str, str] = {}

    async def save(self, snapshot: SessionSnapshot, /) -> None:
        """Store the snapshot as JSON text, so later changes do not reach the copy."""
        self._saved[snapshot.session_id] = json.dumps(snapshot.to_json())

    async def load(self, session_id: str, /) -> SessionSnapshot | None:
        """Return the session's snapshot, or None."""
        saved = self._saved.get(session_id)
        return None if saved is None else SessionSnapshot.from_json(json.loads(saved))

    async def delete(self, session_id: str, /) -> None:
        """Delete the session's snapshot, if any."""
        self._saved.pop(session_id, None)


async def in_store(call: Callable[[], Any]) -> Any:
    """Return the result of a store's method, plain or async."""
    result = call()
    return await result if is_awaitable(result) else result


class _DamagedError(JournalError):
    """Failure to read a file that is not a saved session."""


def _file_name(session_id: str) -> str:
    """Return `session_id` if it is a safe name, else one that no safe name equals."""
    if paths.is_safe_name(session_id):
        return session_id
    encoded = quote(session_id, safe="", errors="surrogatepass").replace(".", "%2E")
    if len(encoded) > MAX_NAME:
        digest = sha256(session_id.encode("utf-8", "surrogatepass")).hexdigest()
        encoded = f"{encoded[:MAX_NAME]}-{digest[:16]}"
    return f"_{encoded}"


class FsPersistence:
    """Snapshots as files: `<session_id>.json` (0600) in `folder` (0700).

    A file holds the resumption handle, a secret. It is replaced whole, so a crash leaves the old one or the new one. A
    damaged file is never lost: `load` leaves it alone, and saving moves it aside; a file of a newer version is not
    replaced at all. An id that is no file name is percent-encoded in its file's name. The calls of one object run in
    their order.
    """

    def __init__(self, folder: str | Path, *, disk: FileDisk | None = None) -> None:
        """Keep the folder; raise `UsageError` for what no path can be."""
        try:
            self.folder = Path(folder).expanduser()
            is_path = b"\0" not in os.fsencode(self.folder)
        except (TypeError, ValueError, RuntimeError):
            is_path = False
        if not is_path:
            raise UsageError(
                f"The folder of saved sessions cannot be {folder!r:.60}",
                remedy="Give a path, as a text or a Path",
                field="folder",
                value=folder,
            )
        self._disk = disk or FileDisk()
        self._known: set[str] = set()
        # One thread: a save whose caller was cancelled still ends before the next begins.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="snapshot")

    def path(self, session_id: str) -> Path:
        """Return the path of a session's file; raise `UsageError` for an empty id."""
        if not session_id:
            paths.safe_name(session_id, field="session_id")
        return self.folder / f"{_file_name(exact_text(session_id))}.json"

    async def save(self, snapshot: SessionSnapshot, /) -> None:
        """Write the session's file.

        Raises `JournalError`, `NewerFormatError` or `UsageError`.
        """
        path = self.path(snapshot.session_id)
        await self._in_thread(lambda: self._save(path, snapshot))

    async def load(self, session_id: str, /) -> SessionSnapshot | None:
        """Read the session's file; return None when it does not exist.

        Raises `JournalError` naming the file, `NewerFormatError` or `UsageError`.
        """
        path = self.path(session_id)
        return await self._in_thread(lambda: self._load(path, session_id))

    async def delete(self, session_id: str, /) -> None:
        """Delete the session's file; raise `JournalError` or `UsageError`."""
        path = self.path(session_id)
        await self._in_thread(lambda: self._delete(path))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _save(self, path: Path, snapshot: SessionSnapshot) -> None:
        data = json.dumps(snapshot.to_json(), indent=1).encode("ascii")
        if len(data) > MAX_SNAPSHOT:
            raise JournalError(
                f"The session {snapshot.session_id} is too large to be saved: {len(data) / 1e6:.1f} MB, of at most "
                f"{MAX_SNAPSHOT / 1e6:.1f} MB",
                remedy="Keep less in the state",
                field="session_id",
                value=snapshot.session_id,
            )
        try:
            self._disk.folder(self.folder)
            # Once per file and process: after that the file is our own, and cannot be damaged or newer.
            if path.name not in self._known:
                self._move_damaged(path, snapshot.session_id)
                self._known.add(path.name)
            remove_leftovers(self._disk, path)
            write_whole(self._disk, path, data)
        except OSError as error:
            raise JournalError(
                f"The session {write_problem(error, f'saved to {path}')}",
                remedy=f"{write_remedy(error, self.folder)}, or choose another data folder",
                field="data_dir",
                value=str(path),
            ) from None

    def _move_damaged(self, path: Path, session_id: str) -> None:
        """Rename a damaged file, so that a new one does not replace it."""
        try:
            self._load(path, session_id)
        except _DamagedError:
            aside = path.with_name(path.name + DAMAGED)
            for number in range(2, 1000):
                if not aside.exists():
                    break
                aside = path.with_name(f"{path.name}{DAMAGED}{number}")
            self._disk.replace(path, aside)

    def _load(self, path: Path, session_id: str) -> SessionSnapshot | None:
        try:
            data = self._disk.read(path, MAX_SNAPSHOT)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise JournalError(
                f"The saved session {path} cannot be read: {error.strerror or error}", field="data_dir", value=str(path)
            ) from None
        if len(data) > MAX_SNAPSHOT:
            raise self._damaged(path, f"it is larger than {MAX_SNAPSHOT / 1e6:.1f} MB")
        try:
            snapshot = SessionSnapshot.from_json(json.loads(data))
        except NewerFormatError as error:
            raise NewerFormatError(
                f"{path}: {error.message}", remedy=error.remedy, field="version", value=error.value
            ) from None
        except (ValueError, RecursionError):
            raise self._damaged(path, "it is not JSON") from None
        except JournalError as error:
            raise self._damaged(path, error.message) from None
        if snapshot.session_id != session_id:
            raise self._damaged(path, "it belongs to another session")
        return snapshot

    def _damaged(self, path: Path, why: str) -> JournalError:
        return _DamagedError(
            f"The saved session {path} is damaged: {why}",
            remedy="It was left as it is; start without it, or restore it from a copy",
            field="session_id",
            value=str(path),
        )

    def _delete(self, path: Path) -> None:
        try:
            remove_leftovers(self._disk, path)
            with contextlib.suppress(FileNotFoundError):
                self._disk.unlink(path)
                self._disk.sync_folder(path.parent)
        except OSError as error:
            raise JournalError(
                f"The saved session {path} cannot be deleted: {error.strerror or error}",
                field="session_id",
                value=str(path),
            ) from None


class SnapshotSaver:
    """Background writer of one session's snapshots.

    While one is being written, only the newest of those that follow waits. `report` gets the first failure of a row
    (`failures` counts all), `on_saved` each written snapshot; both are plain functions that do not raise. `before_save`
    is awaited before each write. Use it on the running loop only.
    """

    def __init__(
        self,
        persistence: SessionPersistence,
        report: Callable[[GeminiLiveError], None],
        on_saved: Callable[[SessionSnapshot], None] | None = None,
        before_save: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._persistence = persistence
        self._report = report
        self._on_saved = on_saved
        self._before_save = before_save
        self._waiting: SessionSnapshot | None = None
        self._task: asyncio.Task[None] | None = None
        self._failing = False
        self.saved = 0
        self.failures = 0

    def save(self, snapshot: SessionSnapshot) -> None:
        """Hand over a snapshot to be saved soon; return at once."""
        self._waiting = snapshot
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run(), name="snapshot saver")

    async def flush(self) -> None:
        """Wait until every snapshot handed over was written or reported."""
        while (task := self._task) is not None and not task.done():
            # Unlike awaiting the task, `wait` does not pass a cancellation on: the save goes on.
            await asyncio.wait((task,))

    async def _run(self) -> None:
        while self._waiting is not None:
            # Emptied before the write, so that a snapshot handed over during it is written next.
            snapshot, self._waiting = self._waiting, None
            if self._before_save is not None:
                await self._before_save()
            _, fault = await result_or_error(in_store(partial(self._persistence.save, snapshot)))
            if fault is not None:
                self._failed(fault, snapshot)
            else:
                self.saved += 1
                self._failing = False
                if self._on_saved is not None:
                    self._on_saved(snapshot)

    def _failed(self, error: BaseException, snapshot: SessionSnapshot) -> None:
        self.failures += 1
        if self._failing:
            return
        self._failing = True
        if not isinstance(error, GeminiLiveError):
            error = JournalError(
                f"The session {snapshot.session_id} cannot be saved: {sanitise_line(error_text(error), 200)}",
                field="session_id",
                value=snapshot.session_id,
            )
        self._report(error)
