"""Records that other programs wrote, copied or damaged harm no other record."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from harness_support import opened

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness import consent_store, record_files
from gemini_live_runtime.harness.memory import MemoryWrite
from gemini_live_runtime.harness.notifications import NewNotification
from gemini_live_runtime.harness.record_files import RecordFiles
from gemini_live_runtime.harness.tasks import NewRunningTask, TaskStatus
from gemini_live_runtime.journal.files.disk import is_locked, try_lock

DEAD = {"instanceId": "runtime_of_a_dead_program", "pid": 1, "startedAtMs": 0}
REPORT = NewRunningTask(title="report", restart="again")
OVEN = NewNotification(title="the oven is ready", dedupe_key="oven")


def edit(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


@pytest.mark.parametrize("number", [10**400, -(10**400), 2**53 + 1])
@pytest.mark.parametrize("field", ["createdAtMs", "updatedAtMs", "limitAtMs", "restarts"])
def test_a_task_with_a_number_beyond_every_clock_is_a_damaged_file(tmp_path: Path, field: str, number: int) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        edit(harness.paths.task_file(task.id), **{field: number})
        (problem,) = harness.tasks.find().problems
        assert f"damaged: {field}: " in problem.reason
        with pytest.raises(HarnessError, match=field):
            harness.tasks.claim(task.id)


def test_a_task_that_was_restarted_less_than_never_is_not_restarted_for_ever(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        edit(harness.paths.task_file(task.id), status="interrupted", lost=True, restarts=-1_000_000)
        with pytest.raises(HarnessError, match="restarts"):
            harness.tasks.claim(task.id)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400"])
def test_progress_that_is_no_number_is_a_damaged_file(tmp_path: Path, number: str) -> None:
    with opened(tmp_path) as harness:
        path = harness.paths.task_file(harness.tasks.start(REPORT).id)
        path.write_text(path.read_text().replace('"status"', f'"fraction": {number}, "status"'))
        (problem,) = harness.tasks.find().problems
        assert "damaged: fraction: " in problem.reason
        harness.reconcile()


@pytest.mark.parametrize("field", ["createdAtMs", "updatedAtMs", "expiresAtMs", "dueAtMs", "attempts"])
def test_a_notification_with_a_number_beyond_every_clock_is_a_damaged_file(tmp_path: Path, field: str) -> None:
    with opened(tmp_path) as harness:
        one = harness.notifications.queue(OVEN)
        edit(harness.paths.notification(one.id), **{field: 10**400})
        (problem,) = harness.notifications.find().problems
        assert f"damaged: {field}: " in problem.reason


def test_a_memory_and_a_grant_with_such_a_number_are_damaged_files(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        harness.memory.put(MemoryWrite(scope="user", key="name", value="Ada"))
        edit(harness.paths.memory_file("user", "name"), updatedAtMs=10**400)
        assert "damaged: updatedAtMs: " in harness.memory.find().problems[0].reason
        harness.consent.grant("pay", "hash")
        grants = json.loads(harness.paths.consent.read_text())["grants"]
        edit(harness.paths.consent, grants=[{**grants[0], "grantedAtMs": 10**400}])
        with pytest.raises(HarnessError, match="grantedAtMs"):
            harness.consent.read()


def test_of_grants_without_end_the_newest_are_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consent_store, "MAX_GRANTS", 3)
    with opened(tmp_path) as harness:
        for number in range(5):
            harness.consent.grant(f"tool{number}", "hash")
        assert [grant.tool for grant in harness.consent.read().grants] == ["tool2", "tool3", "tool4"]


def test_a_tool_with_a_name_without_end_gets_no_grant(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        harness.consent.grant("t" * 128, "hash")
        with pytest.raises(HarnessError, match="not the name of a tool"):
            harness.consent.grant("t" * 129, "hash")


def test_the_number_of_a_newer_version_is_not_told_at_full_length(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        edit(harness.paths.task_file(task.id), version=10**4000)
        (problem,) = harness.tasks.find().problems
        assert "has version 1000" in problem.reason
        assert len(problem.reason) < 300 + len(str(tmp_path))


def test_a_copied_folder_of_a_task_does_not_change_the_task(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        copy = harness.paths.task("backup")
        shutil.copytree(harness.paths.task(task.id), copy)
        edit(copy / "task.json", runtime=DEAD)
        harness.tasks.complete(task.id, 1)
        assert harness.tasks.reconcile() == []
        assert harness.tasks.get(task.id).status is TaskStatus.SUCCEEDED
        (problem,) = harness.tasks.find().problems
        assert f"its id is {task.id!r}, not that of its place" in problem.reason


@pytest.mark.parametrize("name", ["../../x", "gone", ""])
def test_a_task_with_a_foreign_id_keeps_no_other_from_being_reconciled(tmp_path: Path, name: str) -> None:
    with opened(tmp_path) as harness:
        foreign, lost = harness.tasks.start(REPORT), harness.tasks.start(REPORT)
    with opened(tmp_path) as harness:
        edit(harness.paths.task_file(foreign.id), id=name)
        assert [task.id for task in harness.tasks.reconcile()] == [lost.id]


@pytest.mark.parametrize("name", ["../../x", "gone", ""])
@pytest.mark.parametrize("status", ["queued", "delivered", "acknowledged"])
def test_a_notification_with_a_foreign_id_is_in_no_other_ones_way(tmp_path: Path, name: str, status: str) -> None:
    with opened(tmp_path) as harness:
        foreign = harness.notifications.queue(OVEN)
        edit(harness.paths.notification(foreign.id), id=name, status=status, updatedAtMs=0)
        waiting = harness.notifications.queue(OVEN)
        assert harness.notifications.recover() == []
        harness.reconcile()
        listing = harness.notifications.find()
        assert [one.id for one in listing.records] == [waiting.id]
        assert len(listing.problems) == 1


def test_a_lock_that_is_deleted_while_it_is_waited_for_is_not_mistaken_for_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, calls = tmp_path / "tasks.lock", []

    def lock_deleted_file(fd: int) -> bool:
        calls.append(fd)
        if len(calls) == 1:
            path.unlink()
        return try_lock(fd)

    monkeypatch.setattr(record_files, "try_lock", lock_deleted_file)
    with RecordFiles().locked(path):
        assert is_locked(path)
    assert not is_locked(path)
