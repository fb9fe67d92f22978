"""Recognise a call that another program runs already, as a task or not yet."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.harness.paths import HarnessPaths, may_exist
from gemini_live_runtime.records import record
from gemini_live_runtime.redactor import redactor

if TYPE_CHECKING:
    from gemini_live_runtime.harness.call_claims import CallClaim
    from gemini_live_runtime.harness.worker import HarnessWorker


def call_key(agent: str, tool: str, args: Mapping[str, Any]) -> str | None:
    """Return a hash of a call; None for one with a secret, which a hash might tell."""
    if redactor.value(args) != args:
        return None
    text = json.dumps([agent, tool, args], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@record
class Claimed:
    """Answer to a call: it may run with a `claim`, or is the task `task`.

    With neither another program runs it, and it is open whether it becomes a task there.
    """

    claim: CallClaim | None = None
    task: str = ""


async def claim_here(harness: HarnessWorker, key: str, within_s: float) -> Claimed:
    """Claim a call with this key, unless a living program runs it.

    Raises `TimeoutError` where that takes longer than `within_s`, and `HarnessError` where the records do not tell.
    """
    async with asyncio.timeout(within_s):
        claim = await harness.claim(key)
        if claim is None:
            return Claimed(task=await _task_with(harness, key))
        try:
            # After the claim: a program that had it before has recorded its task by now.
            task = await _task_with(harness, key)
        except BaseException:
            harness.release(claim)
            raise
    if task:
        harness.release(claim)
        return Claimed(task=task)
    return Claimed(claim)


async def _task_with(harness: HarnessWorker, key: str) -> str:
    """Return the id of a task with this key that a living program runs, or ""."""
    if not harness.root or not may_exist(HarnessPaths(Path(harness.root)).header):
        return ""
    task = await harness.call(lambda opened: opened.tasks.running_with(key))
    return "" if task is None else task.id
