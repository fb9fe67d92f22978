"""Events of what outlives the moment: tasks, notifications and memory."""

from __future__ import annotations

from typing import ClassVar, Literal

from gemini_live_runtime.events.base import Payload
from gemini_live_runtime.records import keyword_record

__all__ = ["MemoryAction", "MemoryChanged", "NotificationChanged", "NotificationState", "TaskChanged", "TaskState"]

NotificationState = Literal["queued", "delivered", "acknowledged", "expired", "failed"]

TaskState = Literal["running", "succeeded", "failed", "cancelled", "interrupted"]


@keyword_record
class TaskChanged(Payload):
    """A tool call goes on as a task, has made progress, or has ended.

    `fraction` done is 0 to 1, or None where it is unknown. `text` is the tool's newest sentence on its progress, and at
    the end its result in short, or the error. `recorded` is False for an end that the disk refuses; another event
    follows once the disk has it.
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


@keyword_record
class NotificationChanged(Payload):
    """A notification waits, is announced, or is closed.

    `queued`: it waits, and `reason` says for what; `delivered`: the model was asked to announce it, by the speech
    `speech`; `acknowledged`: the turn that carried it was heard, or it was dismissed; `expired` and `failed`: it was
    never heard, and `reason` says why. `retry_s` is the time in seconds until the next attempt. `kind` and `source` are
    those of the record, `attempts` counts deliveries begun.
    """

    type: ClassVar[str] = "notification.changed"
    notification_id: str
    status: NotificationState
    title: str
    body: str = ""
    kind: str = "generic"
    source: str = ""
    attempts: int = 0
    reason: str = ""
    retry_s: float | None = None
    speech: str = ""
    task_id: str = ""
