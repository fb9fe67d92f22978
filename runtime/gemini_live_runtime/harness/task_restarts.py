"""Decide which lost tasks are started anew, and as what."""

from __future__ import annotations

from gemini_live_runtime.harness.tasks import HarnessTask, NewRunningTask, TaskStatus

MAX_RESTARTS = 3
"""Restarts of a task in a row: what kills its program does so again."""

MAX_AGE_S = 86_400
"""Age in seconds up to which a lost task is started anew."""


def may_restart(task: HarnessTask, now_ms: int) -> bool:
    """Return True for a task that may be started anew: a program died in it of late."""
    return (
        task.status is TaskStatus.INTERRUPTED
        and task.lost
        and task.restart in ("again", "continue")
        and task.restarted_as is None
        and task.restarts < MAX_RESTARTS
        and 0 <= now_ms - task.created_at_ms <= MAX_AGE_S * 1000
    )


def restarted(lost: HarnessTask) -> NewRunningTask:
    """Return the task that a lost one is started anew as."""
    limit_s = 3600.0 if lost.limit_at_ms is None else (lost.limit_at_ms - lost.created_at_ms) / 1000
    return NewRunningTask(
        title=lost.title,
        instructions=lost.instructions,
        requested_by=lost.requested_by,
        tags=lost.tags,
        metadata=lost.metadata,
        limit_s=limit_s,
        notifies=lost.notifies,
        restart=lost.restart,
        checkpoint=lost.checkpoint if lost.restart == "continue" else None,
        restart_of=lost.id,
        restarts=lost.restarts + 1,
        agent=lost.agent,
        call_key=lost.call_key,
    )
