"""Read the records of a root, and change them; a thread does the disk's work."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from gemini_live_runtime.engine.poke import poke_deliverer
from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.delivery import delivering_engine
from gemini_live_runtime.harness.instances import runs
from gemini_live_runtime.harness.memory import MemoryRecord, MemoryWrite
from gemini_live_runtime.harness.memory_files import MemoryFiles
from gemini_live_runtime.harness.notifications import HarnessNotification, NewNotification
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import HarnessTask, TaskDetail, TaskStatus
from gemini_live_runtime.journal.files.disk import is_locked
from gemini_live_runtime.records import record
from gemini_live_tui.harness.changed_files import ChangedFiles, stamps_of_records, stamps_of_tasks
from gemini_live_tui.harness.items import NotificationItem, TaskItem, notification_item, task_item, task_order

if TYPE_CHECKING:
    from gemini_live_runtime.clock import Clock

T = TypeVar("T")

Name: TypeAlias = tuple[str, str]
"""Scope and key of a memory."""

MAX_FOUND = 500
"""Memories that a search finds."""


@record
class Found:
    """Records of one look. `error` says why there are none."""

    tasks: tuple[TaskItem, ...] = ()
    notifications: tuple[NotificationItem, ...] = ()
    """Open ones, the oldest first, then closed ones, the newest first."""
    records: Mapping[str, HarnessNotification] = field(default_factory=dict)
    """Notifications by their ids."""
    memories: tuple[Name, ...] = ()
    """By scope and key."""
    scope_times: Mapping[str, int] = field(default_factory=dict)
    """Time of the last change of each scope, in ns."""
    problems: tuple[str, ...] = ()
    """Reasons why files cannot be used."""
    error: str = ""


class Records:
    """Records of one root, which need not exist.

    `call` gives a method its thread; methods wait for the disk and raise `HarnessError`.
    """

    def __init__(self, root: str, clock: Clock) -> None:
        self.paths = HarnessPaths(Path(root))
        self._clock = clock
        self._wall = 0.0
        """Unix seconds at the newest call: the clock may be that of the loop, and the work runs in a thread."""
        self._harness: Harness | None = None
        self._is_closed = False
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="records")

    async def call(self, work: Callable[[Records], T]) -> T:
        """Return the result of `work`, which gets these records, in their thread.

        Raises `HarnessError`.
        """
        if self._is_closed:
            raise HarnessError("The console shows other records by now", remedy="Open them again", field="root")
        self._wall = self._clock.wall()
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self)

    def close(self) -> None:
        """Let the thread end after its work; later calls are refused."""
        self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)

    @property
    def _opened(self) -> Harness:
        if self._harness is None:
            harness = Harness.open(self.paths.root, wall=lambda: self._wall)
            self._tasks = ChangedFiles(harness.files, HarnessTask)
            self._notifications = ChangedFiles(harness.files, HarnessNotification)
            self._memories = MemoryFiles(self.paths, harness.files)
            self._keys: dict[str, tuple[int, list[str]]] = {}
            self._task_items: dict[str, tuple[HarnessTask, TaskItem]] = {}
            self._notification_items: dict[str, tuple[HarnessNotification, NotificationItem]] = {}
            self._deliverer = ""
            self._names: tuple[Name, ...] = ()
            self._dead: set[str] = set()
            self._harness = harness
        return self._harness

    # -- reading -----------------------------------------------------------------------------------------------------

    def look(self) -> Found:
        """Return the present records."""
        try:
            if not self.paths.header.exists():
                return Found()
            self._opened  # noqa: B018 - opens it
        except HarnessError as error:
            return Found(error=str(error))
        except OSError as error:
            return Found(error=f"{self.paths.root} cannot be read: {error.strerror or error}")
        tasks, bad_tasks = self._tasks.read(stamps_of_tasks(self.paths.tasks))
        notifications, bad = self._notifications.read(stamps_of_records(self.paths.notifications))
        times = self._memories.scope_times()
        notifications.sort(key=_notification_order)
        items = self._items_of_tasks(tasks)
        # Tasks of programs that have died count as running until somebody looks.
        dead = {item.id for item in items if item.is_running and not item.lives}
        if not dead <= self._dead:
            self._dead = dead
            with contextlib.suppress(HarnessError):
                self._opened.tasks.reconcile()
            return self.look()
        self._names = tuple((scope, key) for scope in sorted(times) for key in self._keys_of(scope, times[scope]))
        return Found(
            items,
            self._items_of_notifications(notifications),
            {one.id: one for one in notifications},
            self._names,
            times,
            (*bad_tasks, *bad),
        )

    def _items_of_tasks(self, tasks: list[HarnessTask]) -> tuple[TaskItem, ...]:
        before, self._task_items = self._task_items, {}
        wall_ms = round(self._wall * 1000)
        for one in tasks:
            known = before.get(one.id)
            is_running = one.status is TaskStatus.RUNNING
            if known is None or known[0] is not one or is_running:
                lives = is_running and runs(one, self.paths, wall_ms)
                known = (one, task_item(one, lives=lives))
            self._task_items[one.id] = known
        return tuple(sorted((item for _, item in self._task_items.values()), key=task_order))

    def _items_of_notifications(self, notifications: list[HarnessNotification]) -> tuple[NotificationItem, ...]:
        deliverer = delivering_engine(self.paths) if is_locked(self.paths.delivery_lock) else ""
        before = self._notification_items if deliverer == self._deliverer else {}
        self._notification_items, self._deliverer = {}, deliverer
        for one in notifications:
            known = before.get(one.id)
            if known is None or known[0] is not one:
                known = (one, notification_item(one, deliverer))
            self._notification_items[one.id] = known
        return tuple(item for _, item in self._notification_items.values())

    def _keys_of(self, scope: str, changed_ns: int) -> list[str]:
        known = self._keys.get(scope)
        if known is None or known[0] != changed_ns:
            known = self._keys[scope] = (changed_ns, sorted(self._memories.keys(scope)))
        return known[1]

    def memories(self, names: Iterable[Name]) -> dict[Name, MemoryRecord | str | None]:
        """Return memories by their names, or why they cannot be used; None for none."""
        return {name: self._memory(name) for name in names}

    def _memory(self, name: Name) -> MemoryRecord | str | None:
        self._opened  # noqa: B018 - opens it
        try:
            return self._memories.read(*name)
        except HarnessError as error:
            return str(error)

    def search(self, text: str) -> list[Name]:
        """Return the names of memories: with `text` in their names, then with its words."""
        wanted = text.strip().casefold()
        names: list[Name] = []
        with contextlib.suppress(HarnessError):  # a text without words
            harness = self._opened
            names = [name for name in self._names if wanted in f"{name[0]}/{name[1]}".casefold()]
            found = harness.memory.search(text, limit=MAX_FOUND)
            names += [(one.scope, one.key) for one in found.records]
        return list(dict.fromkeys(names))[:MAX_FOUND]

    def task(self, task_id: str) -> TaskDetail:
        """Return a task with its result and its newest events."""
        return self._opened.tasks.detail(task_id)

    # -- changing ----------------------------------------------------------------------------------------------------

    def cancel(self, task_id: str, reason: str) -> HarnessTask:
        """Ask the program that runs a task to cancel it."""
        task = self._opened.tasks.request_cancel(task_id, reason)
        poke_deliverer(self.paths)
        return task

    def acknowledge(self, notification_id: str) -> None:
        """Close a notification, so that it is not announced."""
        self._opened.notifications.acknowledge(notification_id)
        poke_deliverer(self.paths)

    def queue_again(self, one: HarnessNotification) -> None:
        """Queue a notification of the same content as a closed one."""
        self._queue(one, "")

    def delete_notification(self, notification_id: str) -> HarnessNotification:
        """Delete a notification and return it."""
        deleted = self._opened.notifications.delete(notification_id)
        poke_deliverer(self.paths)
        return deleted

    def restore_notification(self, one: HarnessNotification) -> None:
        """Queue a deleted notification under its id."""
        self._queue(one, one.id)

    def _queue(self, one: HarnessNotification, notification_id: str) -> None:
        wall_ms = round(self._wall * 1000)
        expires = None if one.is_expired(wall_ms) else one.expires_at_ms
        new = NewNotification(
            title=one.title,
            body=one.body,
            kind=one.kind,
            task_id=one.task_id,
            payload=one.payload,
            source=one.source,
            dedupe_key=one.dedupe_key,
            expires_at_ms=expires,
            due_at_ms=None if one.is_due(wall_ms) else one.due_at_ms,
            agent=one.agent,
        )
        self._opened.notifications.queue(new, notification_id=notification_id)
        poke_deliverer(self.paths)

    def write(self, known: MemoryRecord | None, write: MemoryWrite) -> MemoryRecord:
        """Write a memory unless another program has changed it since `known`.

        Raises `MemoryChangedError` then.
        """
        memory = self._opened.memory.replace(known, write)
        poke_deliverer(self.paths)
        return memory

    def delete_memory(self, name: Name) -> MemoryRecord | None:
        """Delete a memory and return it; None where it cannot be read."""
        deleted = self._memory(name)
        self._opened.memory.delete(*name)
        poke_deliverer(self.paths)
        return deleted if isinstance(deleted, MemoryRecord) else None


def _notification_order(one: HarnessNotification) -> tuple[bool, int, str]:
    return one.status.is_final, -one.updated_at_ms if one.status.is_final else one.since_ms, one.id
