"""Describe tasks: tool calls that go on after their answer."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import Any

from gemini_live_runtime.harness.record_files import VERSION, Count, Milliseconds
from gemini_live_runtime.plain_types import JSON_CONFIG
from gemini_live_runtime.records import keyword_record


class TaskStatus(StrEnum):
    """State of a task. All but `RUNNING` are final."""

    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"
    """Its program ended before it did."""

    @property
    def is_terminal(self) -> bool:
        """True when the task has ended."""
        return self is not TaskStatus.RUNNING


class TaskEventKind(StrEnum):
    """Kind of an entry in a task's events."""

    CREATED = "created"
    STARTED = "started"
    PROGRESS = "progress"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


@keyword_record
class TaskRuntimeInstance:
    """Program that runs a task.

    It holds `instances/<instance_id>.lock` as long as it lives.
    """

    __pydantic_config__ = JSON_CONFIG

    instance_id: str
    pid: int
    started_at_ms: Milliseconds


@keyword_record
class NewRunningTask:
    """Task to record: it runs already.

    `limit_s` seconds after its start it counts as ended where the system cannot tell whether its program lives.
    """

    title: str
    instructions: str = ""
    requested_by: str | None = None
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] | None = None
    origin_call_id: str | None = None
    limit_s: float = 3600.0
    notifies: bool = True
    """False when the model learns of the end in another way, such as the answer of a background call."""
    restart: str | None = None
    """Way in which a later program may go on with it after this one has died.

    "again" from the beginning, "continue" from `checkpoint`.
    """
    checkpoint: Any = None
    restart_of: str | None = None
    restarts: int = 0
    agent: str | None = None
    """Name of the agent whose tool it is."""
    call_key: str | None = None
    """Hash of agent, tool and arguments, by which other programs recognise the same call."""


@keyword_record
class HarnessTask:
    """Task. Times are Unix milliseconds.

    `fraction` done is 0 to 1, or None where it is unknown.
    """

    __pydantic_config__ = JSON_CONFIG

    id: str
    title: str
    status: TaskStatus
    created_at_ms: Milliseconds
    updated_at_ms: Milliseconds
    instructions: str = ""
    requested_by: str | None = None
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, Any] | None = None
    runtime: TaskRuntimeInstance | None = None
    origin_call_id: str | None = None
    summary: str | None = None
    last_error: str | None = None
    fraction: float | None = None
    progress: str | None = None
    """Newest sentence of the tool about its progress."""

    limit_at_ms: Milliseconds | None = None
    notifies: bool = True
    unsettled: bool = False
    """True from the write of a final status until its event and its notification are written, too."""

    restart: str | None = None
    checkpoint: Any = None
    """Newest JSON of its tool from which another program can go on; None once it has ended."""
    restart_of: str | None = None
    """Id of the task that this one runs anew, or continues."""
    restarted_as: str | None = None
    """Id of the task that runs this one anew."""
    restarts: Count = 0
    """Number of restarts before this one, in a row."""
    lost: bool = False
    """True when its program died in the middle of it."""
    agent: str | None = None
    call_key: str | None = None

    version: int = VERSION

    @property
    def name(self) -> str:
        """Name of its tool, or its title where no tool runs it."""
        return str((self.metadata or {}).get("toolName") or self.title)


@keyword_record
class TaskEvent:
    """Entry of a task's events, numbered from 1.

    Fields that its kind does not have are None.
    """

    __pydantic_config__ = JSON_CONFIG

    sequence: Count
    recorded_at_ms: Milliseconds
    type: TaskEventKind
    message: str | None = None
    fraction: float | None = None
    details: Any = None
    summary: str | None = None
    reason: str | None = None
    runtime_instance_id: str | None = None
    pid: int | None = None


@keyword_record
class TaskResult:
    """Result of a task that has succeeded; `output` is any JSON."""

    __pydantic_config__ = JSON_CONFIG

    task_id: str
    completed_at_ms: Milliseconds
    summary: str | None = None
    output: Any = None
    version: int = VERSION


@keyword_record
class CancelRequest:
    """Request of another program to cancel a task."""

    __pydantic_config__ = JSON_CONFIG

    requested_at_ms: Milliseconds
    reason: str | None = None


@keyword_record
class TaskDetail:
    """Task with its result and its newest events.

    `problems` are sentences on files that cannot be used.
    """

    task: HarnessTask
    result: TaskResult | None
    events: list[TaskEvent]
    problems: list[str] = field(default_factory=list)
