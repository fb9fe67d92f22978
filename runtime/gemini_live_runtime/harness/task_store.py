"""Keep tasks: started, with progress, and ended exactly once.

A task is changed by the program that runs it, whose locks prove that it lives, and by others only once these are free.
Its end is written in steps: the result, then the record with the final status, marked as unsettled, then the event and
the notification, then the record without the mark. The next program that opens the root finishes the steps of an
unsettled record; the notification's id is that of the task and its status, so it exists once.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.event_log import TaskEventLog
from gemini_live_runtime.harness.ids import new_id
from gemini_live_runtime.harness.instances import InstanceLock, TaskLocks, remove_dead_locks
from gemini_live_runtime.harness.notification_store import NotificationStore
from gemini_live_runtime.harness.notifications import KIND_OF_END, NewNotification
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.record_files import RecordFiles, cleaned
from gemini_live_runtime.harness.task_records import TaskRecords
from gemini_live_runtime.harness.task_restarts import may_restart, restarted
from gemini_live_runtime.harness.tasks import (
    CancelRequest,
    HarnessTask,
    NewRunningTask,
    TaskEvent,
    TaskEventKind,
    TaskResult,
    TaskRuntimeInstance,
    TaskStatus,
)
from gemini_live_runtime.redactor import redactor
from gemini_live_runtime.text import clip

MAX_TITLE = 200
MAX_TEXT = 2000
"""Characters of a title, and of a summary, an error or a sentence of progress; what is longer is cut, with a mark."""

_WORDS = {
    TaskStatus.SUCCEEDED: ("Task completed", "The task has completed."),
    TaskStatus.FAILED: ("Task failed", "The task has failed."),
    TaskStatus.CANCELLED: ("Task cancelled", "The task was cancelled."),
    TaskStatus.INTERRUPTED: ("Task interrupted", "Its program ended before the task did."),
}


class TaskStore(TaskRecords):
    """Tasks of one root, to be read and changed."""

    def __init__(
        self, paths: HarnessPaths, files: RecordFiles, notifications: NotificationStore, wall_ms: Callable[[], int]
    ) -> None:
        super().__init__(paths, files, wall_ms)
        self._notifications = notifications
        self._lock: InstanceLock | None = None
        self._locks = TaskLocks()
        self._logs: dict[str, TaskEventLog] = {}

    @property
    def instance(self) -> TaskRuntimeInstance:
        """This program as one that runs tasks; the first use takes its lock."""
        if self._lock is None:
            self._lock = InstanceLock(self._files, self._paths.instances, self._wall_ms())
        self._lock.keep()
        return self._lock.instance

    # -- life of a task ----------------------------------------------------------------------------------------------

    def start(self, new: NewRunningTask, *, task_id: str = "") -> HarnessTask:
        """Record a task that this program has begun to run.

        Raises `HarnessError`, and leaves no record then: one of a task without a program would be interrupted later,
        and started anew.
        """
        now = self._wall_ms()
        metadata = cleaned(new.metadata, "metadata")
        task = HarnessTask(
            id=task_id or new_id("task", now),
            title=clip(redactor.text(new.title), MAX_TITLE) or "Task",
            instructions=redactor.text(new.instructions),
            status=TaskStatus.RUNNING,
            created_at_ms=now,
            updated_at_ms=now,
            requested_by=new.requested_by,
            tags=list(new.tags),
            metadata=metadata,
            runtime=self.instance,
            origin_call_id=new.origin_call_id,
            limit_at_ms=now + round(new.limit_s * 1000),
            notifies=new.notifies,
            # Without what was removed it would be another task.
            restart=new.restart if metadata == new.metadata else None,
            checkpoint=new.checkpoint,
            restart_of=new.restart_of,
            restarts=new.restarts,
            agent=new.agent,
            call_key=new.call_key,
        )
        try:
            self._record_start(task)
        except HarnessError:
            with contextlib.suppress(OSError):
                self._remove(task.id)
            raise
        return task

    def _record_start(self, task: HarnessTask) -> None:
        now, folder = task.created_at_ms, self._paths.task(task.id)
        self._files.folder(folder)
        self._locks.take(task.id, folder)
        if task.restart is not None:
            with self._files.errors(folder):
                self._files.disk.close(self._files.disk.create(self._paths.restart_file(task.id)))
        self._save(task)
        with self._files.errors(folder):
            self._files.disk.sync_folder(folder.parent)
        self._log(task.id, TaskEvent(sequence=0, recorded_at_ms=now, type=TaskEventKind.CREATED))
        started = TaskEvent(
            sequence=0,
            recorded_at_ms=now,
            type=TaskEventKind.STARTED,
            runtime_instance_id=self.instance.instance_id,
            pid=self.instance.pid,
        )
        self._log(task.id, started)

    def _remove(self, task_id: str) -> None:
        """Delete a task; raise `OSError`."""
        self._logs.pop(task_id, None)
        self._locks.release(task_id)
        folder = self._paths.task(task_id)
        # The record goes first: what is left without it is no task.
        self._files.disk.unlink(folder / "task.json")
        for name in sorted(os.listdir(folder)):
            self._files.disk.unlink(folder / name)
        self._files.disk.remove_folder(folder)

    def progress(
        self, task_id: str, message: str, *, fraction: float | None = None, details: Any = None, checkpoint: Any = None
    ) -> HarnessTask:
        """Record progress of a task; raise `TaskNotRunningError` after its end.

        A `checkpoint` of None leaves the former one.
        """
        task = self._mine(task_id)
        if task.status is not TaskStatus.RUNNING:
            raise TaskNotRunningError(task)
        message = clip(redactor.text(message), MAX_TEXT)
        now = self._now(task)
        fraction = task.fraction if fraction is None else min(1.0, max(0.0, fraction))
        event = TaskEvent(
            sequence=0,
            recorded_at_ms=now,
            type=TaskEventKind.PROGRESS,
            message=message,
            fraction=fraction,
            details=cleaned(details, "details"),
        )
        self._log(task_id, event)
        task = replace(task, updated_at_ms=now, fraction=fraction, progress=message or task.progress)
        if checkpoint is not None:
            task = replace(task, checkpoint=cleaned(checkpoint, "checkpoint"))
        self._save(task)
        return task

    def complete(self, task_id: str, output: Any = None, *, summary: str = "") -> HarnessTask:
        """Record the result of a task, any JSON.

        Raises `TaskAlreadyTerminalError` for one that has ended.
        """
        task = self._ending(task_id)
        now = self._now(task)
        short = clip(redactor.text(summary), MAX_TEXT) or None
        result = TaskResult(task_id=task_id, completed_at_ms=now, summary=short, output=cleaned(output, "output"))
        self._files.write(self._paths.result_file(task_id), result)
        fraction = None if task.fraction is None else 1.0
        return self._end(
            replace(task, status=TaskStatus.SUCCEEDED, updated_at_ms=now, summary=short, fraction=fraction)
        )

    def fail(self, task_id: str, message: str) -> HarnessTask:
        """Record that a task failed.

        Raises `TaskAlreadyTerminalError` for one that has ended.
        """
        return self._end_without_result(self._ending(task_id), TaskStatus.FAILED, message)

    def cancel(self, task_id: str, reason: str = "") -> HarnessTask:
        """Record that a task was cancelled.

        Raises `TaskAlreadyTerminalError` for one that has ended.
        """
        return self._end_without_result(self._ending(task_id), TaskStatus.CANCELLED, reason)

    def interrupt(self, task_id: str, reason: str = "") -> HarnessTask:
        """Record that a task's program ends first; an ended task stays as it is."""
        task = self._mine(task_id)
        if task.status.is_terminal:
            return task
        self._ending(task_id)
        return self._end_without_result(task, TaskStatus.INTERRUPTED, reason)

    def settle(self, task_id: str) -> HarnessTask:
        """Finish the end of a task of which the disk has a part; return the task."""
        task = self._mine(task_id)
        return self._settle(task) if task.unsettled else task

    def _ending(self, task_id: str) -> HarnessTask:
        """Return a running task that ends now, and let no program start it anew.

        That needs no room on the disk: a tool whose end is never recorded does not run twice.
        """
        self._still_running(task_id)
        task = self._mine(task_id)
        if task.restart is not None:
            self._files.delete(self._paths.restart_file(task_id))
        return task

    def _end_without_result(self, task: HarnessTask, status: TaskStatus, reason: str) -> HarnessTask:
        self._files.delete(self._paths.result_file(task.id))
        reason = clip(redactor.text(reason), MAX_TEXT) or _WORDS[status][1]
        return self._end(replace(task, status=status, updated_at_ms=self._now(task), last_error=reason))

    def _end(self, task: HarnessTask) -> HarnessTask:
        task = replace(task, unsettled=True, checkpoint=task.checkpoint if task.lost else None)
        self._save(task)
        return self._settle(task)

    def _settle(self, task: HarnessTask) -> HarnessTask:
        """Write what follows from a final status, unless it is written."""
        status = task.status
        kind = TaskEventKind(status.value)
        if kind not in [event.type for event in self._log_of(task.id).read()[0][-1:]]:
            self._log(
                task.id,
                TaskEvent(
                    sequence=0,
                    recorded_at_ms=task.updated_at_ms,
                    type=kind,
                    summary=task.summary,
                    message=task.last_error if status is TaskStatus.FAILED else None,
                    reason=task.last_error if status in (TaskStatus.CANCELLED, TaskStatus.INTERRUPTED) else None,
                    runtime_instance_id=task.runtime.instance_id if task.runtime else None,
                    pid=task.runtime.pid if task.runtime else None,
                ),
            )
        if task.notifies:
            title, sentence = _WORDS[status]
            self._notifications.queue(
                NewNotification(
                    kind=KIND_OF_END[status],
                    title=f"{title}: {task.name}",
                    body=(task.summary if status is TaskStatus.SUCCEEDED else task.last_error) or sentence,
                    task_id=task.id,
                    payload={"taskId": task.id, "status": status.value},
                    source="task",
                ),
                notification_id=f"{task.id}.{status.value}",
            )
        task = replace(task, unsettled=False)
        self._save(task)
        self._files.delete(self._paths.cancel_file(task.id))
        self._logs.pop(task.id, None)
        self._locks.release(task.id)
        return task

    # -- after the end of a program ----------------------------------------------------------------------------------

    def reconcile(self) -> list[HarnessTask]:
        """Interrupt tasks whose program has ended, and return them.

        Ends that are half-written are finished. A task of a living program stays as it is. Raises `HarnessError`.
        """
        changed = []
        with self._files.locked(self._paths.lock(self._paths.tasks)):
            for task in self.find().records:
                stale = task.status is TaskStatus.RUNNING and not self._runs(task)
                if stale:
                    reason = "The program that ran it has ended."
                    # Without the file its tool has ended: only the disk did not take that.
                    died = task.restart is None or self._paths.restart_file(task.id).exists()
                    lost = replace(task, lost=died)
                    changed.append(self._end_without_result(lost, TaskStatus.INTERRUPTED, reason))
                elif task.unsettled and not self._runs(task):
                    self._settle(task)
            remove_dead_locks(self._paths.instances)
            remove_dead_locks(self._paths.calls)
        return changed

    def claim(self, task_id: str) -> HarnessTask | None:
        """Start a lost task anew; return the new task, or None when it may not be.

        Exactly one of several programs gets it. The lost one is marked first, so that a program which dies here does
        not let it run twice. Raises `HarnessError`; the lost one can be claimed later then, where the disk allows it.
        """
        with self._files.locked(self._paths.lock(self._paths.tasks)):
            lost = self.get(task_id)
            now = self._wall_ms()
            if not may_restart(lost, now):
                return None
            name = new_id("task", now)
            new = restarted(lost)
            try:
                self._save(replace(lost, restarted_as=name))
                return self.start(new, task_id=name)
            except HarnessError:
                if not self._paths.task_file(name).exists():
                    with contextlib.suppress(HarnessError):
                        self._save(lost)
                raise

    # -- other programs -----------------------------------------------------------------------------------------------

    def request_cancel(self, task_id: str, reason: str = "") -> HarnessTask:
        """Ask the program that runs a task to cancel it.

        A task whose program has ended is interrupted. Raises `TaskAlreadyTerminalError` for one that has ended.
        """
        task = self._still_running(task_id)
        if not self._runs(task):
            self.reconcile()
            return self.get(task_id)
        request = CancelRequest(requested_at_ms=self._wall_ms(), reason=clip(redactor.text(reason), MAX_TEXT) or None)
        self._files.write(self._paths.cancel_file(task_id), request)
        return task

    def cancel_request(self, task_id: str) -> str | None:
        """Return the reason of a request to cancel a task, or None without one."""
        if self._lock is not None:
            self._lock.keep()
        try:
            request = self._files.read(CancelRequest, self._paths.cancel_file(task_id))
        except HarnessError:
            return ""  # a request that cannot be read is one
        return None if request is None else request.reason or ""

    def running_with(self, call_key: str) -> HarnessTask | None:
        """Return a task with this key that another living program runs, or None.

        Reads no task twice that has ended.
        """
        same = [task for task in self.find(TaskStatus.RUNNING).records if task.call_key == call_key]
        return next((task for task in same if not self._is_mine(task) and self._runs(task)), None)

    # -- retention ---------------------------------------------------------------------------------------------------

    def retire(self, before_ms: int, keep: int) -> int:
        """Delete old tasks that have ended, and return their number.

        Old are those from before `before_ms`, and the oldest beyond `keep`.
        """
        with self._files.locked(self._paths.lock(self._paths.tasks)):
            ended = [one for one in self.find().records if one.status.is_terminal and not one.unsettled]
            old = [one for one in ended[:keep] if one.updated_at_ms < before_ms] + ended[keep:]
            for task in old:
                with contextlib.suppress(OSError):
                    self._remove(task.id)
        return len(old)

    def close(self) -> None:
        """Give the locks back."""
        self._locks.release_all()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    # -- parts -------------------------------------------------------------------------------------------------------

    def _mine(self, task_id: str) -> HarnessTask:
        """Return a task that this program may change."""
        task = self.get(task_id)
        if task.status is TaskStatus.RUNNING and not self._is_mine(task) and self._runs(task):
            raise HarnessError(
                f"The task {task_id} belongs to another program, which runs it",
                remedy="Ask it to cancel the task: gemini-live-tui tasks cancel",
                field="task id",
                value=task_id,
            )
        return task

    def _is_mine(self, task: HarnessTask) -> bool:
        return self._lock is not None and task.runtime == self._lock.instance

    def _still_running(self, task_id: str) -> HarnessTask:
        task = self.get(task_id)
        if task.status.is_terminal:
            raise TaskAlreadyTerminalError(task)
        return task

    def _now(self, task: HarnessTask) -> int:
        return max(self._wall_ms(), task.updated_at_ms)

    def _save(self, task: HarnessTask) -> None:
        self._files.write(self._paths.task_file(task.id), task)

    def _log(self, task_id: str, event: TaskEvent) -> None:
        if task_id not in self._logs:
            self._logs[task_id] = self._log_of(task_id)
        self._logs[task_id].append(event)


class TaskNotRunningError(HarnessError):
    """Progress of a task that has ended."""

    def __init__(self, task: HarnessTask) -> None:
        super().__init__(f"The task {task.id} is not running: it has {task.status}", field="task id", value=task.id)


class TaskAlreadyTerminalError(HarnessError):
    """Second end of a task."""

    def __init__(self, task: HarnessTask) -> None:
        super().__init__(f"The task {task.id} has ended already: {task.status}", field="task id", value=task.id)
