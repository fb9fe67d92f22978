"""Pictures of the pane of tasks, notifications and memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.support.console_driver import Driver, make_app, settle
from tests.support.harness_records import SESSION, press, queue, records, remember
from tests.support.manual_clock import ManualClock
from tests.support.scripted_link import ScriptedLink
from textual.pilot import Pilot

from gemini_live_runtime import events as ev
from gemini_live_runtime.harness.delivery import DeliveryLock
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import NewRunningTask
from gemini_live_tui.harness.records import Found, Records

NARROW, WIDE, GRID = (80, 24), (130, 36), (160, 45)


@pytest.fixture(autouse=True)
def one_time(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The same times on every machine."""
    monkeypatch.setenv("TZ", "UTC")
    if hasattr(time, "tzset"):
        time.tzset()
    yield
    monkeypatch.undo()
    if hasattr(time, "tzset"):
        time.tzset()


def fill(harness: Harness) -> list[str]:
    """Record something of each kind; return the ids of the notifications that wait."""
    build = harness.tasks.start(NewRunningTask(title="nightly build", notifies=False))
    harness.tasks.progress(build.id, "page 2", fraction=0.4)
    report = harness.tasks.start(NewRunningTask(title="report", notifies=False))
    harness.tasks.complete(report.id, {"pages": 12}, summary="12 pages")
    mail = harness.tasks.start(NewRunningTask(title="mail", notifies=False))
    harness.tasks.fail(mail.id, "There is no such address.")
    told = queue(harness, "the door is open")
    harness.notifications.deliver(told.id)
    harness.notifications.acknowledge(told.id)
    wall_ms = round(ManualClock().wall() * 1000)
    waiting = [
        queue(harness, body="It has 200 degrees."),
        queue(harness, "the wash is done"),
        queue(harness, "call the garage", due_at_ms=wall_ms + 3_600_000),
    ]
    remember(harness)
    remember(harness, "diet", {"kind": "vegetarian", "since": 2020})
    remember(harness, "room", "212", scope="hotel")
    return [one.id for one in waiting]


def tell(link: ScriptedLink, names: list[str]) -> None:
    """Emit why the first two notifications wait."""
    reasons = ("the user is speaking", "others are before it")
    for name, reason in zip(names, reasons, strict=False):
        link.emit(ev.NotificationChanged(notification_id=name, status="queued", title="the oven", reason=reason))


PICTURES: dict[str, tuple[tuple[str, ...], tuple[int, int], dict[str, Any]]] = {
    "tasks-narrow": (("T",), NARROW, {}),
    "tasks-wide": (("T",), WIDE, {}),
    "memory-details-narrow": (("T", "left", "enter"), NARROW, {}),
    "notifications-narrow": (("T", "right"), NARROW, {}),
    "notifications-wide": (("T", "right"), WIDE, {}),
    "notifications-in-a-grid": (("T", "right"), GRID, {}),
    "notification-why-narrow": (("T", "right", "ctrl+e"), NARROW, {}),
    "memory-narrow": (("T", "left"), NARROW, {}),
    "memory-search-narrow": (("T", "f", *"vege"), NARROW, {}),
    "memory-editor-narrow": (("T", "left", "e"), NARROW, {}),
    "memory-ascii-ansi-narrow": (("T", "left"), NARROW, {"ascii": True, "theme": "ansi"}),
    "tasks-ascii-ansi-narrow": (("T",), NARROW, {"ascii": True, "theme": "ansi"}),
}


@pytest.mark.parametrize("name", PICTURES)
def test_tasks_notifications_and_memory_look_as_they_were_approved(
    name: str, snap_compare: Any, tmp_path: Path
) -> None:
    keys, size, settings = PICTURES[name]
    link, clock = ScriptedLink(), ManualClock()
    link.harness_root = str(tmp_path)
    link.start()
    app = make_app(link, clock, **settings)
    with records(tmp_path, age_s=120.0) as harness:
        lock = DeliveryLock(harness.paths, harness.files, SESSION)
        lock.take()
        tell(link, fill(harness))

        async def run_before(pilot: Pilot[Any]) -> None:
            await settle(app, link)
            await press(Driver(app, pilot, link, clock), *keys)

        assert snap_compare(app, terminal_size=size, run_before=run_before)
        lock.release()


def _nothing(harness: Harness, link: ScriptedLink) -> None:
    """Leave the records empty."""


def _damaged(harness: Harness, link: ScriptedLink) -> None:
    """Fill the records, and damage one."""
    fill(harness)
    (harness.paths.notifications / "bad.json").write_text("{")


def _told(harness: Harness, link: ScriptedLink) -> None:
    """Emit a task that begins between two turns."""
    link.exchange("Write a report", "It takes a while.")
    link.emit(ev.TaskChanged(task_id="t1", tool="report", call_id="c1", status="running", fraction=0.4, text="page 4"))
    link.exchange("And the weather?", "It is sunny.")
    ended = ev.TaskChanged(task_id="t1", tool="report", call_id="c1", status="succeeded", fraction=1.0, text="12 pages")
    link.emit(ended, after=10.0)


STATES: dict[str, tuple[Callable[[Harness, ScriptedLink], None], tuple[str, ...]]] = {
    "empty": (_nothing, ("T",)),
    "unreadable": (_nothing, ("T",)),
    "one-damaged": (_damaged, ("T", "right")),
    "past": (_told, ("T", "[")),
}


@pytest.mark.parametrize("state", STATES)
def test_the_states_of_the_pane_look_as_they_were_approved(
    state: str, snap_compare: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare, keys = STATES[state]
    link, clock = ScriptedLink(), ManualClock()
    # In a picture the name of a temporary folder would change.
    link.harness_root = "records"
    monkeypatch.chdir(tmp_path)
    if state == "unreadable":
        refused = Found(error="records cannot be read: Permission denied. Give another folder.")
        monkeypatch.setattr(Records, "look", lambda records: refused)
    link.start()
    app = make_app(link, clock)
    with records(Path("records"), age_s=120.0) as harness:
        prepare(harness, link)

        async def run_before(pilot: Pilot[Any]) -> None:
            await settle(app, link)
            await press(Driver(app, pilot, link, clock), *keys)

        assert snap_compare(app, terminal_size=NARROW, run_before=run_before)
