"""Harness records survive a death or a failing disk at every file-system call."""

from __future__ import annotations

import contextlib
import errno
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faulty_disk import FaultyFileDisk, Killed
from tests.support.quick_disk import QuickDisk

from gemini_live_runtime.errors import ConfigError, HarnessError
from gemini_live_runtime.harness.consent_store import ConsentRecord
from gemini_live_runtime.harness.delivery import DeliveryLock, OpenNotifications, record_step
from gemini_live_runtime.harness.memory import MemoryWrite
from gemini_live_runtime.harness.notifications import KIND_OF_END, NewNotification, NotificationStatus
from gemini_live_runtime.harness.pump import Deliver, PassiveNotificationPump
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import NewRunningTask, TaskStatus
from gemini_live_tui.profile_files import create_profile, profile_path


class Promises:
    """Answers that the program got before it died: they must hold afterwards."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.ended: dict[str, TaskStatus] = {}
        self.queued: list[str] = []
        self.acknowledged: list[str] = []


def work(harness: Harness, promises: Promises) -> None:
    """End three tasks in three ways, and deliver a notification."""
    tasks = []
    for title in ("report", "search", "print"):
        tasks.append(harness.tasks.start(NewRunningTask(title=title)).id)
        promises.started.append(tasks[-1])
    harness.tasks.progress(tasks[0], "half", fraction=0.5)
    promises.ended[tasks[0]] = harness.tasks.complete(tasks[0], {"pages": 12}).status
    promises.ended[tasks[1]] = harness.tasks.fail(tasks[1], "no paper").status
    promises.ended[tasks[2]] = harness.tasks.cancel(tasks[2]).status
    promises.queued.append(harness.notifications.queue(NewNotification(title="the oven is ready")).id)
    harness.notifications.deliver(promises.queued[0])
    promises.acknowledged.append(harness.notifications.acknowledge(promises.queued[0]).id)


def tell(harness: Harness, promises: Promises, status: dict[str, NotificationStatus]) -> None:
    """Announce, lose, give up and expire notifications, as a delivering engine does."""
    store, pump = harness.notifications, PassiveNotificationPump(max_attempts=2, retry_s=(0.0,))
    lock = DeliveryLock(harness.paths, harness.files, "engine")
    try:
        assert lock.take()
        for title in ("oven", "door", "wash"):
            promises.queued.append(store.queue(NewNotification(title=title)).id)
        promises.queued.append(store.queue(NewNotification(title="old", expires_at_ms=1)).id)
        pump.on_records(OpenNotifications(harness.paths, harness.files).read().records)
        ends = [pump.on_heard, lambda: pump.on_not_heard(0.0, "lost"), lambda: pump.on_not_heard(0.0, "lost")]
        ends += [pump.on_heard]
        while (step := pump.next_step(0.0, 2)) is not None:
            for one in (step, *(ends.pop(0)() if isinstance(step, Deliver) else ())):
                for record in record_step(one, store):
                    assert record is not None
                    status[record.id] = record.status
    finally:
        lock.release()


def disks(fault: int | str, **how: bool) -> Iterator[FaultyFileDisk]:
    for at in range(1, 500):
        disk = FaultyFileDisk(at, fault, **how)
        yield disk
        if not disk.failed:
            return
    pytest.fail("the work never got through")


def check(root: Path, promises: Promises) -> None:
    """Open the root again, as the next program does, twice.

    The second time nothing may change.
    """
    for _ in range(2):
        with Harness.open(root, disk=QuickDisk()) as harness:
            harness.reconcile()
            listing = harness.tasks.find()
            assert not listing.problems
            tasks = {task.id: task for task in listing.records}
            assert set(promises.started) <= set(tasks)
            assert all(task.status.is_terminal and not task.unsettled for task in tasks.values())
            assert {task_id: tasks[task_id].status for task_id in promises.ended} == promises.ended
            notifications = harness.notifications.find()
            assert not notifications.problems
            of_tasks = Counter(one.task_id for one in notifications.records if one.task_id)
            assert of_tasks == Counter(tasks.keys())
            for one in notifications.records:
                if one.task_id:
                    assert one.kind is KIND_OF_END[tasks[one.task_id].status]
            status = {one.id: one.status for one in notifications.records}
            assert set(promises.queued) <= set(status)
            assert all(status[one] is NotificationStatus.ACKNOWLEDGED for one in promises.acknowledged)
            for task in tasks.values():
                numbers = [event.sequence for event in harness.tasks.detail(task.id).events]
                assert numbers == list(range(1, len(numbers) + 1))
    assert not list(root.rglob("*.part"))


@contextlib.contextmanager
def opened(root: Path, disk: FaultyFileDisk) -> Iterator[Harness]:
    """Open a harness; its instance lock ends with it, as that of a process does."""
    harness = Harness.open(root, disk=disk)
    try:
        yield harness
    finally:
        harness.close()


def check_told(root: Path, promises: Promises, status: dict[str, NotificationStatus]) -> None:
    """Open the root as the next engine does: ends stay, and the rest waits."""
    with Harness.open(root, disk=QuickDisk()) as harness:
        harness.reconcile()
        lock = DeliveryLock(harness.paths, harness.files, "next")
        assert lock.take()
        harness.notifications.recover()
        listing = harness.notifications.find()
        assert not listing.problems
        kept = {one.id: one for one in listing.records}
        assert set(promises.queued) <= set(kept)
        assert len(kept) - len(promises.queued) <= 1
        for name, last in status.items():
            assert kept[name].status is not NotificationStatus.DELIVERED
            if last.is_final:
                assert kept[name].status is last
        lock.release()
    assert not list(root.rglob("*.part"))


def test_no_notification_is_lost_or_told_again_when_the_program_dies_at_any_call(tmp_path: Path) -> None:
    for disk in disks("kill", half=True):
        root, promises, status = tmp_path / str(disk.at), Promises(), dict[str, NotificationStatus]()
        with contextlib.suppress(Killed), opened(root, disk) as harness:
            tell(harness, promises, status)
        check_told(root, promises, status)
    assert sorted(status.values()) == ["acknowledged", "acknowledged", "expired", "failed"]


@pytest.mark.parametrize(("number", "lasting"), [(errno.EIO, False), (errno.ENOSPC, True)])
def test_notifications_survive_a_failing_disk(tmp_path: Path, number: int, lasting: bool) -> None:
    for disk in disks(number, lasting=lasting, half=True):
        root, promises, status = tmp_path / str(disk.at), Promises(), dict[str, NotificationStatus]()
        with contextlib.suppress(HarnessError), opened(root, disk) as harness:
            tell(harness, promises, status)
        check_told(root, promises, status)


def test_nothing_is_lost_or_doubled_when_the_program_dies_at_any_call(tmp_path: Path) -> None:
    for disk in disks("kill", half=True):
        root, promises = tmp_path / str(disk.at), Promises()
        with contextlib.suppress(Killed), opened(root, disk) as harness:
            work(harness, promises)
        check(root, promises)


@pytest.mark.parametrize(("number", "lasting"), [(errno.EIO, False), (errno.ENOSPC, True)])
def test_a_failing_disk_is_a_sentence_and_what_was_promised_holds(tmp_path: Path, number: int, lasting: bool) -> None:
    for disk in disks(number, lasting=lasting, half=True):
        root, promises = tmp_path / str(disk.at), Promises()
        with contextlib.suppress(HarnessError), opened(root, disk) as harness:
            work(harness, promises)
        check(root, promises)


@pytest.mark.parametrize("number", [errno.EIO, errno.ENOSPC])
def test_a_task_whose_start_the_disk_refuses_leaves_no_record(tmp_path: Path, number: int) -> None:
    for disk in disks(number, half=True):
        root = tmp_path / str(disk.at)
        with contextlib.suppress(HarnessError), opened(root, disk) as harness:
            harness.tasks.start(NewRunningTask(title="index", restart="again"))
            continue
        with Harness.open(root, disk=QuickDisk()) as harness:
            assert not harness.tasks.find().records


def lose_and_claim(root: Path, disk: FaultyFileDisk) -> None:
    """Let a program die in a task, and the next one start it anew."""
    with Harness.open(root, disk=QuickDisk()) as harness:
        harness.tasks.start(NewRunningTask(title="index", restart="again"))
    with opened(root, disk) as harness:
        harness.reconcile()
        for task in harness.tasks.find().records:
            harness.tasks.claim(task.id)


def check_claims(root: Path) -> None:
    """Open the root as later programs do: the task is started anew once, or never."""
    with Harness.open(root, disk=QuickDisk()) as harness:
        harness.reconcile()
        listing = harness.tasks.find()
        assert not listing.problems
        first = min(listing.records, key=lambda task: task.id)
        harness.tasks.claim(first.id)
        assert harness.tasks.claim(first.id) is None
        again = [task for task in harness.tasks.find().records if task.restart_of == first.id]
        assert len(again) <= 1
        assert not again or harness.tasks.get(first.id).restarted_as == again[0].id
        assert all(task.status.is_terminal for task in listing.records)


def test_a_lost_task_is_started_anew_at_most_once_when_the_program_dies_at_any_call(tmp_path: Path) -> None:
    for disk in disks("kill", half=True):
        root = tmp_path / str(disk.at)
        with contextlib.suppress(Killed):
            lose_and_claim(root, disk)
        check_claims(root)


def test_a_lost_task_is_started_anew_at_most_once_on_a_failing_disk(tmp_path: Path) -> None:
    for disk in disks(errno.EIO, half=True):
        root = tmp_path / str(disk.at)
        with contextlib.suppress(HarnessError):
            lose_and_claim(root, disk)
        check_claims(root)


def test_a_lost_task_that_could_not_be_started_anew_is_claimed_later(tmp_path: Path) -> None:
    for disk in disks(errno.ENOSPC, half=True):
        root = tmp_path / str(disk.at)
        with Harness.open(root, disk=QuickDisk()) as harness:
            harness.tasks.start(NewRunningTask(title="index", restart="again"))
        with Harness.open(root, disk=QuickDisk()) as harness:
            (lost,) = harness.tasks.reconcile()
        with contextlib.suppress(HarnessError), opened(root, disk) as harness:
            harness.tasks.claim(lost.id)
            continue
        with Harness.open(root, disk=QuickDisk()) as harness:
            assert harness.tasks.claim(lost.id) is not None


def consent(harness: Harness, told: list[ConsentRecord]) -> None:
    """Grant, set a policy, and revoke; note what stands after each answer."""
    store = harness.consent
    for change in (
        lambda: store.grant("pay", "1"),
        lambda: store.set_policy("send", "deny"),
        lambda: store.grant("pay", "2"),
        lambda: store.revoke("pay"),
    ):
        change()
        told.append(store.read())


def check_consent(root: Path, told: list[ConsentRecord]) -> None:
    """Check that the newest answered change stands, or the one that was under way."""
    with Harness.open(root, disk=QuickDisk()) as harness:
        harness.reconcile()
        found = harness.consent.read()
        grants = [one.fingerprint for one in found.grants]
        steps = [([], None), (["1"], None), (["1"], "deny"), (["2"], "deny"), ([], "deny")]
        assert (grants, (found.policies or {}).get("send")) in steps[len(told) : len(told) + 2]
    assert not list(root.rglob("*.part"))


def test_consent_is_the_old_or_the_new_when_the_program_dies_at_any_call(tmp_path: Path) -> None:
    for disk in disks("kill", half=True):
        root, told = tmp_path / str(disk.at), list[ConsentRecord]()
        with contextlib.suppress(Killed), opened(root, disk) as harness:
            consent(harness, told)
        check_consent(root, told)


@pytest.mark.parametrize(("number", "lasting"), [(errno.EIO, False), (errno.ENOSPC, True)])
def test_consent_is_the_old_or_the_new_when_the_disk_fails(tmp_path: Path, number: int, lasting: bool) -> None:
    for disk in disks(number, lasting=lasting, half=True):
        root, told = tmp_path / str(disk.at), list[ConsentRecord]()
        with contextlib.suppress(HarnessError), opened(root, disk) as harness:
            consent(harness, told)
        check_consent(root, told)


@pytest.mark.parametrize("call", ["fdopen", "fsync", "link"])
@pytest.mark.parametrize("fault", [Killed(), OSError(errno.ENOSPC, "No space left on device")])
def test_a_profile_is_created_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch, call: str, fault: Any) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise fault

    with monkeypatch.context() as failing:
        failing.setattr(os, call, fail)
        with pytest.raises((Killed, ConfigError)):
            create_profile("work", copied=None, check=lambda name: None)
    assert not profile_path("work").exists()
    assert create_profile("work", copied=None, check=lambda name: None).read_text().startswith("# Options")


def remember(harness: Harness, told: list[str]) -> None:
    """Write a memory twice and another one, and delete that; note what was answered."""
    for value in ("Ada", "Grace"):
        harness.memory.put(MemoryWrite(scope="user", key="name", value=value))
        told.append(value)
    harness.memory.put(MemoryWrite(scope="hotel", key="room", value=12))
    harness.memory.search("grace")
    harness.memory.delete("hotel", "room")
    told.append("deleted")


def check_memory(root: Path, told: list[str]) -> None:
    """Check that the newest answered write is there, or the one that was under way."""
    with Harness.open(root, disk=QuickDisk()) as harness:
        harness.reconcile()
        listing = harness.memory.find()
        assert not listing.problems
        found = {one.key: one.value for one in listing.records}
        allowed = {0: {None, "Ada"}, 1: {"Ada", "Grace"}}.get(len(told), {"Grace"})
        assert found.get("name") in allowed
        assert "room" not in found or told[-1:] != ["deleted"]
        assert found.get("room", 12) == 12
        names = {one.key for one in harness.memory.search("ada grace 12").records} if found else set()
        assert names == set(found)
    assert not list(root.rglob("*.part"))


def test_memory_is_the_old_or_the_new_when_the_program_dies_at_any_call(tmp_path: Path) -> None:
    for disk in disks("kill", half=True):
        root, told = tmp_path / str(disk.at), list[str]()
        with contextlib.suppress(Killed), opened(root, disk) as harness:
            remember(harness, told)
        check_memory(root, told)


@pytest.mark.parametrize(("number", "lasting"), [(errno.EIO, False), (errno.ENOSPC, True)])
def test_memory_is_the_old_or_the_new_when_the_disk_fails(tmp_path: Path, number: int, lasting: bool) -> None:
    for disk in disks(number, lasting=lasting, half=True):
        root, told = tmp_path / str(disk.at), list[str]()
        with contextlib.suppress(HarnessError), opened(root, disk) as harness:
            remember(harness, told)
        check_memory(root, told)
