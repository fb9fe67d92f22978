"""Events of what outlives the moment: tasks and memory."""

from __future__ import annotations

from typing import ClassVar, Literal

from gemini_live_runtime.events.base import Payload
from gemini_live_runtime.records import keyword_record

__all__ = ["MemoryAction", "MemoryChanged", "TaskChanged", "TaskState"]

TaskState = Literal["running", "succeeded", "failed", "cancelled", "interrupted"]


@keyword_record
class TaskChanged(Payload):
    """A tool call goes on as a task, has made progress, or has ended.

    `fraction` done is 0 to 1, or None where it is unknown. `text` is the tool's newest sentence on its progress, and at
    the end its result in short, or the error. `recorded` is False where the disk refused the record.
    """

    type: ClassVar[str] = "task.changed"
    task_id: str
    tool: str
    call_id: str
    status: TaskState
    fraction: float | None = None
    text: str = ""
    recorded: bool = True


MemoryAction = Literal["put", "deleted"]


@keyword_record
class MemoryChanged(Payload):
    """The model has remembered something for later sessions, or forgotten it.

    `value` is the beginning of what is remembered, as text. `by` is its author.
    """

    type: ClassVar[str] = "memory.changed"
    scope: str
    key: str
    action: MemoryAction
    by: Literal["operator", "model", "program"] = "model"
    value: str = ""
