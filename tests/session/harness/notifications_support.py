"""Queue notifications as another program, and read what became of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.session.talking import Talk

from gemini_live_runtime import events as ev
from gemini_live_runtime.harness.delivery import DeliveryLock
from gemini_live_runtime.harness.notifications import HarnessNotification, NewNotification
from gemini_live_runtime.harness.paths import HarnessPaths
from gemini_live_runtime.harness.record_files import RecordFiles
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.session.agent.harness.silence import LULL_S


def queue(root: Path, title: str = "the oven is ready", **more: Any) -> str:
    """Queue a notification as another program; return its id."""
    with Harness.open(root) as harness:
        return harness.notifications.queue(NewNotification(title=title, **more)).id


def records(root: Path) -> list[HarnessNotification]:
    with Harness.open(root) as harness:
        return harness.notifications.find().records


def statuses(root: Path) -> list[str]:
    return [one.status.value for one in records(root)]


def delivery_lock(root: Path) -> DeliveryLock:
    """Return the lock of another program."""
    return DeliveryLock(HarnessPaths(root), RecordFiles(), "another")


def announced(t: Talk) -> list[str]:
    """Return the titles that the model was asked to announce on this connection."""
    return [
        json.loads(line)["title"] for _, text in t.sent("user context") for line in text.splitlines() if line[:1] == "{"
    ]


def reasons(t: Talk) -> list[str]:
    return [event.reason for event in t.all(ev.NotificationChanged) if event.status == "queued"]


async def poked(t: Talk) -> None:
    """Let the session look at the files now."""
    t.stage.session.on_records_changed()
    await t.passes(LULL_S + 0.1)
