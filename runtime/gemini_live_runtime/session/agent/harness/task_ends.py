"""Record how tasks ended, again and again while the disk refuses it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.task_store import TaskAlreadyTerminalError
from gemini_live_runtime.harness.tasks import HarnessTask, TaskStatus
from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_runtime.harness.store import Harness
    from gemini_live_runtime.harness.worker import HarnessWorker

RETRY_S = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds between the attempts to record an end; the last one counts for all further attempts."""


@record
class TaskEnd:
    """End of a task.

    `text` is the result in short, or the error; `output` is the whole result.
    """

    task_id: str
    status: TaskStatus
    text: str
    output: dict[str, Any]


class TaskEnds:
    """Ends of one session's tasks on their way to the disk."""

    def __init__(self, harness: HarnessWorker) -> None:
        self._harness = harness
        self._is_session_over = asyncio.Event()

    async def record(self, end: TaskEnd, on_refused: Callable[[Exception], None]) -> Exception | None:
        """Write an end until the disk takes it.

        Returns the error of the last attempt, or None. The attempts end with the session, which makes one more, and
        where none can help. `on_refused` gets the error of the first one, when others follow.
        """
        for number, wait_s in enumerate(chain(RETRY_S, repeat(RETRY_S[-1]))):
            is_last = self._is_session_over.is_set()
            try:
                await self._harness.call(lambda harness: write_end(harness, end))
            except Exception as error:
                # Whatever it is, the rest of the task's end must follow.
                if is_last or not _may_help(error):
                    return error
                if not number:
                    on_refused(error)
            else:
                return None
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._is_session_over.wait()
        raise AssertionError("the attempts have no end")

    def end_session(self) -> None:
        """Let the next attempt be the last one, at once."""
        self._is_session_over.set()


def write_end(harness: Harness, end: TaskEnd) -> HarnessTask:
    """Record an end, or finish one of which the disk has a part; raise `HarnessError`."""
    try:
        return _write(harness, end)
    except TaskAlreadyTerminalError:
        task = harness.tasks.settle(end.task_id)
        if task.status is not end.status:
            raise
        return task


def _write(harness: Harness, end: TaskEnd) -> HarnessTask:
    tasks = harness.tasks
    match end.status:
        case TaskStatus.SUCCEEDED:
            try:
                return tasks.complete(end.task_id, end.output, summary=end.text)
            except HarnessError as error:
                if error.field != "record":
                    raise
                # Larger than a record may be: without an end the task would count as interrupted.
                output = {**end.output, "response": None, "leftOut": str(error)}
                return tasks.complete(end.task_id, output, summary=end.text)
        case TaskStatus.CANCELLED:
            return tasks.cancel(end.task_id, end.text)
        case TaskStatus.INTERRUPTED:
            return tasks.interrupt(end.task_id, end.text)
        case _:
            return tasks.fail(end.task_id, end.text)


def _may_help(error: Exception) -> bool:
    """Return True when another attempt may succeed.

    It cannot for a task that is gone, or has another end.
    """
    return isinstance(error, HarnessError) and error.field != "task id"
