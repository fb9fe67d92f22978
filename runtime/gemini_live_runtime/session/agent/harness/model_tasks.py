"""Tell the model of tasks, in answers of their calls and by the tools for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gemini_live_runtime.harness.tasks import HarnessTask
from gemini_live_runtime.harness.worker import HarnessWorker

MAX_LISTED = 20
"""Tasks that a model gets in a list: those that run, then the newest."""

_CANCELLED = "The model cancelled it."


class ModelTasks:
    """Tasks of one root, as the model's tools follow and cancel them."""

    def __init__(self, harness: HarnessWorker, cancel: Callable[[str, str], bool]) -> None:
        """`cancel` gets id and reason of a task.

        It returns False for one that does not run in this session.
        """
        self._harness = harness
        self._cancel = cancel

    async def overview(self) -> dict[str, Any]:
        """Return the tasks that run, and the newest that have ended."""
        found = (await self._harness.call(lambda harness: harness.tasks.find())).records
        running = [task for task in found if not task.status.is_terminal]
        ended = [task for task in found if task.status.is_terminal]
        return {"tasks": [_in_short(task) for task in (*running, *ended)[:MAX_LISTED]]}

    async def get(self, task_id: str) -> dict[str, Any]:
        """Return one task with its result."""
        detail = await self._harness.call(lambda harness: harness.tasks.detail(task_id))
        result = {} if detail.result is None else {"result": detail.result.output}
        return {**_in_short(detail.task), **result}

    async def ask_to_cancel(self, task_id: str) -> dict[str, Any]:
        """Cancel a task, or ask the program that runs it."""
        if not self._cancel(task_id, _CANCELLED):
            await self._harness.call(lambda harness: harness.tasks.request_cancel(task_id, _CANCELLED))
        return {"task": task_id, "status": "is being cancelled"}


def continues(task_id: str, tool: str) -> dict[str, Any]:
    """Return the answer of a call that goes on as a task."""
    return {
        "status": "running",
        "task": task_id,
        "message": f"{tool} goes on in the background. Go on with the conversation; you will learn when it is done.",
    }


def already_running(task_id: str, tool: str) -> dict[str, Any]:
    """Return the answer of a call for what a task does already."""
    message = f"A task does the same already: {tool} was not called again."
    return {"status": "running", "task": task_id, "message": message}


def _in_short(task: HarnessTask) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "task": task.id,
        "tool": task.name,
        "status": task.status.value,
        "done": None if task.fraction is None else f"{task.fraction:.0%}",
        "text": task.summary or task.last_error or task.progress,
    }
    return {name: value for name, value in facts.items() if value is not None}
