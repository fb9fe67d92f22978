"""Claim tasks whose program died, to start them anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.task_restarts import may_restart
from gemini_live_runtime.harness.tasks import HarnessTask, TaskStatus
from gemini_live_runtime.tools.results import ToolCall

if TYPE_CHECKING:
    from gemini_live_runtime.harness.store import Harness

MAX_CLAIMED = 16
"""Tasks that a session claims at its start, the newest."""


def claim_lost(
    harness: Harness, agent: str, tools: set[str], now_ms: int, on_error: Callable[[HarnessError], None]
) -> list[tuple[HarnessTask, ToolCall]]:
    """Return new records in place of an agent's lost tasks of some tools, and calls.

    `on_error` gets the error of a task that cannot be claimed; those that were claimed before have to run.
    """
    found = harness.tasks.find(TaskStatus.INTERRUPTED).records
    lost = [one for one in found if one.agent == agent and may_restart(one, now_ms) and _call_of(one, tools)]
    claimed: list[tuple[HarnessTask, ToolCall]] = []
    for one in reversed(lost[:MAX_CLAIMED]):
        try:
            new = harness.tasks.claim(one.id)
        except HarnessError as error:
            on_error(error)
            break
        if new is not None and (call := _call_of(new, tools)) is not None:
            claimed.append((new, call))
    return claimed


def _call_of(record: HarnessTask, tools: set[str]) -> ToolCall | None:
    """Return the call of a task; None when it is none of `tools`."""
    metadata = record.metadata or {}
    name, args = metadata.get("toolName"), metadata.get("toolArgs")
    if not isinstance(name, str) or name not in tools or not isinstance(args, dict):
        return None
    return ToolCall(f"restart-{record.id}", name, args)
