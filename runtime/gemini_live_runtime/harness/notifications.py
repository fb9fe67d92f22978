"""Describe notifications: sentences that wait until the model can tell them."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import Any

from gemini_live_runtime.harness.record_files import VERSION, Count, Milliseconds
from gemini_live_runtime.harness.tasks import TaskStatus
from gemini_live_runtime.plain_types import JSON_CONFIG
from gemini_live_runtime.records import keyword_record


class NotificationKind(StrEnum):
    """Cause of a notification."""

    TASK_SUCCEEDED = "taskSucceeded"
    TASK_FAILED = "taskFailed"
    TASK_CANCELLED = "taskCancelled"
    TASK_INTERRUPTED = "taskInterrupted"
    GENERIC = "generic"


KIND_OF_END = {
    TaskStatus.SUCCEEDED: NotificationKind.TASK_SUCCEEDED,
    TaskStatus.FAILED: NotificationKind.TASK_FAILED,
    TaskStatus.CANCELLED: NotificationKind.TASK_CANCELLED,
    TaskStatus.INTERRUPTED: NotificationKind.TASK_INTERRUPTED,
}


class NotificationStatus(StrEnum):
    """Way of a notification to the user."""

    QUEUED = "queued"
    DELIVERED = "delivered"
    """State from the request to the model until the end of the turn that announces it."""

    ACKNOWLEDGED = "acknowledged"
    """End: the turn that carried it was heard, or the operator has dismissed it."""

    EXPIRED = "expired"
    """End: its time was over, or a newer one with its dedupe key came first."""

    FAILED = "failed"
    """End: it was begun too often without being heard."""

    @property
    def is_final(self) -> bool:
        """True when the notification is closed: nothing announces it any more."""
        return self not in (NotificationStatus.QUEUED, NotificationStatus.DELIVERED)


@keyword_record
class NewNotification:
    """Notification to queue.

    One with the `dedupe_key` of a notification that is not acknowledged replaces its text. After `expires_at_ms` (Unix
    milliseconds) it is no longer told, and before `due_at_ms` not yet. Only the `agent` that has set it speaks it: in a
    session of another one a notice tells of it. Without one, any agent does.
    """

    title: str
    body: str = ""
    kind: NotificationKind = NotificationKind.GENERIC
    task_id: str | None = None
    payload: Any = None
    source: str | None = None
    dedupe_key: str | None = None
    expires_at_ms: int | None = None
    due_at_ms: int | None = None
    agent: str | None = None


@keyword_record
class HarnessNotification:
    """Notification. Times are Unix milliseconds; `attempts` counts deliveries begun.

    `reason` says why the last delivery did not succeed. Before `due_at_ms` it waits. `agent`
    is the agent that has set it. A file needs a title only: read,
    it has the id of its name and the time of its last change.
    """

    __pydantic_config__ = JSON_CONFIG

    title: str
    id: str = ""
    kind: NotificationKind = NotificationKind.GENERIC
    created_at_ms: Milliseconds = 0
    updated_at_ms: Milliseconds = 0
    status: NotificationStatus = NotificationStatus.QUEUED
    body: str = ""
    task_id: str | None = None
    payload: Any = None
    delivered_at_ms: Milliseconds | None = None
    acknowledged_at_ms: Milliseconds | None = None
    source: str | None = None
    dedupe_key: str | None = None
    expires_at_ms: Milliseconds | None = None
    due_at_ms: Milliseconds | None = None
    agent: str | None = None
    attempts: Count = 0
    reason: str | None = None
    version: int = VERSION

    def filled(self, record_id: str, changed_ms: int) -> HarnessNotification:
        """Return it with this id and time, where it has none."""
        return replace(
            self,
            id=self.id or record_id,
            created_at_ms=self.created_at_ms or changed_ms,
            updated_at_ms=self.updated_at_ms or changed_ms,
        )

    def is_expired(self, wall_ms: int) -> bool:
        """Return True when its time is over."""
        return self.expires_at_ms is not None and wall_ms >= self.expires_at_ms

    def is_due(self, wall_ms: int) -> bool:
        """Return True when its time has come; one without such a time is due at once."""
        return self.due_at_ms is None or wall_ms >= self.due_at_ms

    @property
    def since_ms(self) -> int:
        """Time from which it may be announced: it was queued, or is due."""
        return self.created_at_ms if self.due_at_ms is None else self.due_at_ms
