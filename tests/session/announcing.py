"""Read what a model was asked to announce, and the records of that."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.session.talking import Talk

from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.harness.notifications import HarnessNotification
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.worker import HarnessWorker


def records(root: Path) -> list[HarnessNotification]:
    with Harness.open(root) as harness:
        return harness.notifications.find().records


def answer(t: Talk) -> dict[str, Any]:
    """Return the newest answer of a tool."""
    result: dict[str, Any] = t.sent("answer")[-1][2]
    return result


def announced(t: Talk) -> list[dict[str, str]]:
    """Return what the model was asked to announce on this connection."""
    texts = [text for _, text in t.sent("user context") if "<notification>" in text]
    return [json.loads(line) for text in texts for line in text.splitlines() if line[:1] == "{"]


def titles(t: Talk) -> list[str]:
    return [one["title"] for one in announced(t)]


def on_virtual_time(root: Path) -> HarnessWorker:
    return HarnessWorker(root, clock=LoopClock())
