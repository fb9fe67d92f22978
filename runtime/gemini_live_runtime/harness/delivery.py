"""Read open notifications, and let one program of a root announce them.

A program that delivers holds the delivery lock until it ends, and then the next one takes it. The lock's file has the
name of its engine, to which `gemini-live-tui notify` sends a word; a program without an engine finds new files within
its poll.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from gemini_live_runtime import paths as runtime_paths
from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.listing import Listing
from gemini_live_runtime.harness.notification_store import (
    NotificationStatusConflictError,
    NotificationStore,
    UnknownNotificationError,
)
from gemini_live_runtime.harness.notifications import HarnessNotification
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.pump import Acknowledge, Deliver, Expire, GiveUp, PumpStep, Requeue
from gemini_live_runtime.harness.record_files import Problem, RecordFiles, is_file_at
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.journal.files.disk import try_lock

_SETTLED_NS = 2_000_000_000
"""Least age, in nanoseconds, of a folder's change when no later one can have its time: file systems count in steps."""

_MAX_NAME = 200


class DeliveryLock:
    """Lock of the one program that delivers the notifications of a root."""

    def __init__(self, paths: HarnessPaths, files: RecordFiles, name: str) -> None:
        """`name` is that of the engine's folder."""
        self._path = paths.delivery_lock
        self._files = files
        self._name = name
        self._fd = -1

    @property
    def is_held(self) -> bool:
        """True while this program delivers."""
        return self._fd >= 0

    def take(self) -> bool:
        """Take the lock; return False while another program has it, raise `HarnessError`."""
        if self.is_held:
            return True
        with self._files.errors(self._path):
            fd = runtime_paths.open_private(self._path, os.O_RDWR | os.O_CREAT)
            if not (try_lock(fd) and is_file_at(fd, self._path)):
                os.close(fd)
                return False
            with contextlib.suppress(OSError):  # a name that is not there only costs the poll
                os.ftruncate(fd, 0)
                os.pwrite(fd, self._name.encode()[:_MAX_NAME], 0)
        self._fd = fd
        return True

    def keep(self) -> None:
        """Give the lock up when its file was deleted.

        Another program may have locked the new one.
        """
        if self.is_held and not is_file_at(self._fd, self._path):
            self.release()

    def release(self) -> None:
        """Let the next program deliver."""
        if self._fd >= 0:
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = -1


class Delivery:
    """Files of a program that delivers. Use it in the thread of the harness."""

    def __init__(self, harness: Harness, name: str) -> None:
        """`name` is that of the engine's folder."""
        self._store = harness.notifications
        self._lock = DeliveryLock(harness.paths, harness.files, name)
        self._open_ones = OpenNotifications(harness.paths, harness.files)

    @property
    def needs_look(self) -> bool:
        """True when `look` may find something new; costs one system call at most."""
        return not self._lock.is_held or self._open_ones.has_changed()

    def look(self) -> Listing[HarnessNotification] | None:
        """Return the open notifications; None while another program delivers.

        What a program that has ended had delivered is queued again. Raises `HarnessError`.
        """
        self._lock.keep()
        if not self._lock.is_held:
            if not self._lock.take():
                return None
            self._store.recover()
        return self._open_ones.read()

    def record(self, step: PumpStep) -> list[HarnessNotification | None]:
        """Write a step, as `record_step` does."""
        return record_step(step, self._store)

    def close(self) -> None:
        """Let the next program deliver."""
        self._lock.release()


def delivering_engine(paths: HarnessPaths) -> str:
    """Return the name of the engine that delivers; "" without one.

    It may have died since.
    """
    try:
        name = runtime_paths.read_regular(paths.delivery_lock, _MAX_NAME, follow=False).decode("ascii")
    except (OSError, UnicodeDecodeError):
        return ""
    return name if runtime_paths.is_safe_name(name) else ""


class OpenNotifications:
    """Notifications that are queued or delivered; only changed files are read again."""

    def __init__(self, paths: HarnessPaths, files: RecordFiles) -> None:
        self._folder = paths.notifications
        self._files = files
        self._changed_ns = -1
        self._is_settled = False
        self._read: dict[str, tuple[tuple[int, int, int], HarnessNotification | Problem | None]] = {}
        """Time, number and size of each file, and its record; None for a closed notification."""

    def has_changed(self) -> bool:
        """Return True when the folder may have changed since; costs one system call."""
        return not self._is_settled or self._modified_ns() != self._changed_ns

    def read(self) -> Listing[HarnessNotification]:
        """Return the open notifications, oldest first, and the files that cannot be used."""
        modified = self._modified_ns()
        self._is_settled = time.time_ns() - modified > _SETTLED_NS
        self._changed_ns = modified
        before, self._read = self._read, {}
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if not entry.name.endswith(".json") or entry.name.startswith("."):
                    continue
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    mark = (status.st_mtime_ns, status.st_ino, status.st_size)
                    known = before.get(entry.name)
                    self._read[entry.name] = (
                        known if known is not None and known[0] == mark else (mark, self._record(Path(entry.path)))
                    )
        found = [one for _, one in self._read.values()]
        records = [one for one in found if isinstance(one, HarnessNotification)]
        records.sort(key=lambda one: (one.created_at_ms, one.id))
        return Listing(records, [one for one in found if isinstance(one, Problem)])

    def _modified_ns(self) -> int:
        try:
            return self._folder.stat().st_mtime_ns
        except OSError:
            return -1

    def _record(self, path: Path) -> HarnessNotification | Problem | None:
        try:
            one = self._files.read_with_id(HarnessNotification, path, path.stem)
        except HarnessError as error:
            return Problem(str(path), str(error))
        if one is None or one.status.is_final:
            return None
        return one


def record_step(step: PumpStep, store: NotificationStore) -> list[HarnessNotification | None]:
    """Write what a step of the pump says; return the records as they are then.

    None stands for one that another program has changed or removed meanwhile. Raises `HarnessError` when the disk
    fails.
    """
    match step:
        case Deliver(notifications):
            return [_unless_closed(store.deliver, one.id) for one in notifications]
        case Acknowledge(name):
            return [_unless_closed(store.acknowledge, name)]
        case Requeue(name, reason):
            return [_unless_closed(store.requeue, name, reason)]
        case GiveUp(notification, reason):
            return [_unless_closed(store.give_up, notification.id, reason)]
        case Expire(notification, reason):
            return [_unless_closed(store.expire, notification.id, reason)]


def _unless_closed(change: Callable[..., HarnessNotification], *args: str) -> HarnessNotification | None:
    try:
        return change(*args)
    except (NotificationStatusConflictError, UnknownNotificationError):
        return None
