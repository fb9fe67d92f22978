"""Recognise a call for what a task of another program does already."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.harness.paths import HarnessPaths, may_exist
from gemini_live_runtime.redactor import redactor

if TYPE_CHECKING:
    from gemini_live_runtime.harness.worker import HarnessWorker


def call_key(agent: str, tool: str, args: Mapping[str, Any]) -> str | None:
    """Return a hash of a call; None for one with a secret, which a hash might tell."""
    if redactor.value(args) != args:
        return None
    text = json.dumps([agent, tool, args], sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


async def running_elsewhere(harness: HarnessWorker, key: str | None, within_s: float) -> str:
    """Return the id of a task with this key that a living program runs, or "".

    Raises `TimeoutError` where that takes longer than `within_s`, and `HarnessError` where the records do not tell.
    """
    if key is None or not harness.root or not may_exist(HarnessPaths(Path(harness.root)).header):
        return ""
    async with asyncio.timeout(within_s):
        task = await harness.call(lambda opened: opened.tasks.running_with(key))
    return "" if task is None else task.id
