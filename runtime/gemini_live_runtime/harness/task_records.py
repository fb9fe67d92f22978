"""Read the recorded tasks of a root."""

from __future__ import annotations

import os
from collections.abc import Callable

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.choices import member_of
from gemini_live_runtime.harness.event_log import TaskEventLog
from gemini_live_runtime.harness.instances import runs
from gemini_live_runtime.harness.listing import Listing, list_records
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.record_files import RecordFiles
from gemini_live_runtime.harness.tasks import HarnessTask, TaskDetail, TaskResult, TaskStatus


class TaskRecords:
    """Tasks of one root, to be read."""

    def __init__(self, paths: HarnessPaths, files: RecordFiles, wall_ms: Callable[[], int]) -> None:
        self._paths = paths
        self._files = files
        self._wall_ms = wall_ms
        self._ended: set[str] = set()
        """Ids of tasks that have ended, which they never undo."""

    def get(self, task_id: str) -> HarnessTask:
        """Return a task; raise `HarnessError` for an unknown id."""
        task = self._files.read_with_id(HarnessTask, self._paths.task_file(task_id), task_id)
        if task is None:
            raise HarnessError(
                f"There is no task {task_id}", remedy="See: gemini-live-tui tasks", field="task id", value=task_id
            )
        return task

    def detail(self, task_id: str, *, tail: int = 100) -> TaskDetail:
        """Return a task with its result and its newest `tail` events."""
        task = self.get(task_id)
        events, problems = self._log_of(task_id).read()
        result = None
        try:
            result = self._files.read(TaskResult, self._paths.result_file(task_id))
        except HarnessError as error:
            problems.append(str(error))
        return TaskDetail(task=task, result=result, events=events[max(0, len(events) - tail) :], problems=problems)

    def find(self, status: TaskStatus | None = None, *, limit: int | None = None) -> Listing[HarnessTask]:
        """Return tasks, newest change first, and the files that cannot be used.

        Raises `HarnessError` for a status that no task has.
        """
        wanted = None if status is None else member_of(TaskStatus, status, field="status")
        folder = str(self._paths.tasks)
        names = _folders(folder)
        self._ended.intersection_update(names)
        if wanted is TaskStatus.RUNNING:
            names = [name for name in names if name not in self._ended]

        def is_wanted(task: HarnessTask) -> bool:
            if task.status is not TaskStatus.RUNNING:
                self._ended.add(task.id)
            return wanted is None or task.status is wanted

        listing = list_records(
            self._files,
            HarnessTask,
            [(name, f"{folder}/{name}/task.json") for name in names],
            is_wanted,
            key=lambda task: (-task.updated_at_ms, task.id),
        )
        return listing if limit is None else Listing(listing.records[:limit], listing.problems)

    def _runs(self, task: HarnessTask) -> bool:
        return runs(task, self._paths, self._wall_ms())

    def _log_of(self, task_id: str) -> TaskEventLog:
        return TaskEventLog(self._files, self._paths.events_file(task_id))


def _folders(folder: str) -> list[str]:
    """Return the names of the folders in a folder; none where it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
