"""Tasks are recorded from their start to their one end."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from harness_support import Wall, opened
from tests.support.quick_disk import QuickDisk

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness import store
from gemini_live_runtime.harness.memory import MemoryWrite
from gemini_live_runtime.harness.notifications import NotificationKind, NotificationStatus
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.task_store import MAX_TEXT, MAX_TITLE, TaskAlreadyTerminalError, TaskNotRunningError
from gemini_live_runtime.harness.tasks import HarnessTask, NewRunningTask, TaskEventKind, TaskResult, TaskStatus
from gemini_live_runtime.harness.worker import HarnessWorker

REPORT = NewRunningTask(title="Background tool: report", metadata={"toolName": "report"}, origin_call_id="c1")


def kinds(harness: Harness, task: HarnessTask) -> list[str]:
    return [event.type.value for event in harness.tasks.detail(task.id).events]


def test_an_empty_root_has_its_folders_and_no_records(tmp_path: Path) -> None:
    with opened(tmp_path / "root") as harness:
        assert sorted(path.name for path in harness.paths.root.iterdir() if path.is_dir()) == [
            "instances",
            "memory",
            "notifications",
            "tasks",
        ]
        assert harness.tasks.find().records == [] == harness.notifications.find().records


def test_a_started_task_runs_here_and_has_two_events(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        detail = harness.tasks.detail(task.id)
        assert detail.task.status is TaskStatus.RUNNING
        assert detail.task.runtime == harness.tasks.instance
        assert [(event.sequence, event.type) for event in detail.events] == [
            (1, TaskEventKind.CREATED),
            (2, TaskEventKind.STARTED),
        ]


def test_a_completed_task_has_its_result_and_one_notification(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        harness.tasks.progress(task.id, "half of it", fraction=0.5)
        harness.tasks.complete(task.id, {"pages": 12}, summary="12 pages")
        detail = harness.tasks.detail(task.id)
        assert kinds(harness, task) == ["created", "started", "progress", "succeeded"]
        assert detail.result == TaskResult(
            task_id=task.id, completed_at_ms=1_700_000_000_000, summary="12 pages", output={"pages": 12}
        )
        (notification,) = harness.notifications.find().records
        assert notification.kind is NotificationKind.TASK_SUCCEEDED
        assert (notification.task_id, notification.body) == (task.id, "12 pages")
        assert notification.title == "Task completed: report"


def test_progress_is_kept_in_the_record_and_stays_between_0_and_1(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        harness.tasks.progress(task.id, "almost", fraction=1.7)
        kept = harness.tasks.get(task.id)
        assert (kept.fraction, kept.progress) == (1.0, "almost")


def test_a_task_ends_only_once(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        harness.tasks.complete(task.id, 1)
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
        for end in (harness.tasks.complete, harness.tasks.fail, harness.tasks.cancel):
            with pytest.raises(TaskAlreadyTerminalError, match="has ended already: succeeded"):
                end(task.id, "again")
        with pytest.raises(TaskNotRunningError, match="it has succeeded"):
            harness.tasks.progress(task.id, "more")
        assert harness.tasks.interrupt(task.id, "too late").status is TaskStatus.SUCCEEDED
        assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("end", ["fail", "cancel", "interrupt"])
def test_a_task_that_did_not_succeed_has_no_result(tmp_path: Path, end: str) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        harness.paths.result_file(task.id).write_text('{"taskId": "x", "completedAtMs": 1}')
        getattr(harness.tasks, end)(task.id, "the printer is on fire")
        detail = harness.tasks.detail(task.id)
        assert detail.result is None
        assert detail.task.last_error == "the printer is on fire"
        assert harness.notifications.find().records[0].body == "the printer is on fire"


def test_a_task_whose_program_has_died_is_interrupted(tmp_path: Path) -> None:
    code = (
        "import os, sys; from gemini_live_runtime.harness.store import Harness\n"
        "from gemini_live_runtime.harness.tasks import NewRunningTask\n"
        "harness = Harness.open(sys.argv[1])\n"
        "print(harness.tasks.start(NewRunningTask(title='t')).id, harness.tasks.instance.instance_id, os.getpid())\n"
        "sys.stdout.flush(); os._exit(9)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    task_id, instance, pid = done.stdout.split()
    with opened(tmp_path) as harness:
        harness.reconcile()
        detail = harness.tasks.detail(task_id)
        assert detail.task.status is TaskStatus.INTERRUPTED
        last = detail.events[-1]
        assert (last.runtime_instance_id, last.pid) == (instance, int(pid))
        (notification,) = harness.notifications.find().records
        assert notification.kind is NotificationKind.TASK_INTERRUPTED


def test_a_task_of_a_living_program_stays_untouched(tmp_path: Path) -> None:
    with opened(tmp_path) as owner, opened(tmp_path) as other:
        task = owner.tasks.start(REPORT)
        other.reconcile()
        with pytest.raises(HarnessError, match="belongs to another program"):
            other.tasks.complete(task.id, 1)
        assert owner.tasks.complete(task.id, 1).status is TaskStatus.SUCCEEDED


def test_another_program_asks_the_owner_to_cancel(tmp_path: Path) -> None:
    with opened(tmp_path) as owner, opened(tmp_path) as other:
        task = owner.tasks.start(REPORT)
        assert owner.tasks.cancel_request(task.id) is None
        other.tasks.request_cancel(task.id, "no longer needed")
        assert owner.tasks.cancel_request(task.id) == "no longer needed"
        owner.tasks.cancel(task.id, "no longer needed")
        assert owner.tasks.cancel_request(task.id) is None


def test_cancelling_a_task_whose_program_is_gone_interrupts_it(tmp_path: Path) -> None:
    with opened(tmp_path) as owner:
        task = owner.tasks.start(REPORT)
    with opened(tmp_path) as other:
        assert other.tasks.request_cancel(task.id).status is TaskStatus.INTERRUPTED


def test_a_cut_last_line_hides_no_event_and_the_next_number_is_right(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        with harness.paths.events_file(task.id).open("a") as file:
            file.write('{"sequence": 3, "recor')
        detail = harness.tasks.detail(task.id)
        assert len(detail.events) == 2
        assert "line 3 is cut short" in detail.problems[0]
        harness.tasks.progress(task.id, "on")
        events = harness.tasks.detail(task.id).events
        assert [event.sequence for event in events] == [1, 2, 3]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"id": 1}', b"\xff\xfe", b"null", b'{"version": 99}'])
def test_one_unusable_record_hides_no_other(tmp_path: Path, damage: bytes) -> None:
    with opened(tmp_path) as harness:
        tasks = [harness.tasks.start(REPORT) for _ in range(3)]
        harness.paths.task_file(tasks[1].id).write_bytes(damage)
        listing = harness.tasks.find()
        assert {task.id for task in listing.records} == {tasks[0].id, tasks[2].id}
        assert [problem.path for problem in listing.problems] == [str(harness.paths.task_file(tasks[1].id))]
        harness.reconcile()
        assert harness.paths.task_file(tasks[1].id).read_bytes() == damage


def test_records_of_the_original_are_read(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        folder = harness.paths.task("task_0000000000001_00042_7")
        folder.mkdir()
        (folder / "task.json").write_text(
            json.dumps(
                {
                    "id": "task_0000000000001_00042_7",
                    "title": "t",
                    "instructions": "i",
                    "status": "failed",
                    "createdAtMs": 1,
                    "updatedAtMs": 2,
                    "requestedBy": None,
                    "tags": [],
                    "summary": None,
                    "lastError": "e",
                    "shape": "round",
                }
            )
        )
        (folder / "events.jsonl").write_text(
            '{"sequence":1,"recordedAtMs":1,"type":"created"}\n'
            '{"sequence":2,"recordedAtMs":1,"type":"started","runtime_instance_id":"runtime_1","pid":42}\n'
        )
        detail = harness.tasks.detail("task_0000000000001_00042_7")
        assert (detail.task.status, detail.task.last_error) == (TaskStatus.FAILED, "e")
        assert detail.events[1].runtime_instance_id == "runtime_1"


@pytest.mark.parametrize("task_id", ["", ".", "..", "../../etc/passwd", "a/b", "ü", "x y", "a" * 200, "\x1b[31m"])
def test_an_id_that_is_no_file_name_reaches_no_file(tmp_path: Path, task_id: str) -> None:
    with opened(tmp_path / "root") as harness, pytest.raises(HarnessError, match="task id"):
        harness.tasks.detail(task_id)


def test_ids_sort_by_their_creation_also_within_a_millisecond_and_when_the_clock_steps_back(tmp_path: Path) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        ids = []
        for step in (0.0, 0.0, -5.0, 0.0, 0.002):
            wall.now += step
            ids.append(harness.tasks.start(REPORT).id)
        assert ids == sorted(ids)


def test_old_tasks_go_and_running_ones_stay(tmp_path: Path) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        running, ended = harness.tasks.start(REPORT), harness.tasks.start(REPORT)
        harness.tasks.complete(ended.id, 1)
        for one in harness.notifications.find().records:
            harness.notifications.acknowledge(one.id)
        wall.now += 91 * 86_400
        harness.reconcile()
        assert [task.id for task in harness.tasks.find().records] == [running.id]
        assert harness.notifications.find().records == []
        assert not harness.paths.task(ended.id).exists()


def test_of_many_ended_tasks_the_newest_stay(tmp_path: Path) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:
        ids = []
        for _ in range(5):
            wall.now += 1
            ids.append(harness.tasks.start(REPORT).id)
            harness.tasks.complete(ids[-1], 1)
        assert harness.tasks.retire(0, 2) == 3
        assert [task.id for task in harness.tasks.find().records] == [ids[4], ids[3]]


def test_of_ended_records_so_many_are_kept_for_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall()
    with opened(tmp_path, wall) as harness:

        def left(tasks: int, notifications: int, days: int) -> tuple[int, int]:
            monkeypatch.setattr(store, "MAX_TASKS", tasks)
            monkeypatch.setattr(store, "MAX_NOTIFICATIONS", notifications)
            monkeypatch.setattr(store, "MAX_DAYS", days)
            harness.reconcile()
            return len(harness.tasks.find().records), len(harness.notifications.find().records)

        for _ in range(5):
            harness.tasks.complete(harness.tasks.start(REPORT).id, 1)
        for one in harness.notifications.find().records:
            harness.notifications.acknowledge(one.id)
        assert left(tasks=9, notifications=9, days=1) == (5, 5)
        assert left(tasks=3, notifications=4, days=1) == (3, 4)
        wall.now += 86_500
        assert left(tasks=9, notifications=9, days=2) == (3, 4)
        assert left(tasks=9, notifications=9, days=1) == (0, 0)


def test_text_that_no_terminal_should_obey_stays_harmless_in_the_files(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(NewRunningTask(title="\x1b[31mred\u202e"))
        harness.tasks.complete(task.id, {"text": "\ud800\x9b2J"}, summary="\x07")
        for path in (path for path in tmp_path.rglob("*") if path.is_file()):
            assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(path.read_text("utf-8"))


def test_files_and_folders_are_private(tmp_path: Path) -> None:
    with opened(tmp_path / "root") as harness:
        task = harness.tasks.start(REPORT)
        harness.tasks.complete(task.id, 1)
        for path in [tmp_path / "root", *(tmp_path / "root").rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_result_that_is_too_large_leaves_the_task_running(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        with pytest.raises(HarnessError, match="of at most"):
            harness.tasks.complete(task.id, "x" * 2_000_000)
        assert harness.tasks.fail(task.id, "its result was too large").status is TaskStatus.FAILED


def test_a_task_whose_events_are_full_has_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_live_runtime.harness.event_log.MAX_LOG", 1000)
    with opened(tmp_path) as harness:
        task = harness.tasks.start(REPORT)
        with pytest.raises(HarnessError, match="is full"):
            harness.tasks.progress(task.id, "x" * 1000)
        ended = harness.tasks.complete(task.id, 1, summary="y" * 1000)
        assert (ended.status, ended.unsettled) == (TaskStatus.SUCCEEDED, False)
        assert kinds(harness, task)[-1] == "succeeded"


def test_notifications_of_a_task_wait_until_acknowledged(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        harness.tasks.fail(harness.tasks.start(REPORT).id, "no paper")
        assert harness.notifications.find(NotificationStatus.QUEUED).records[0].kind is NotificationKind.TASK_FAILED


@pytest.mark.parametrize("root", ["file", "link", "newer", "other", "foreign"])
def test_a_root_that_cannot_be_used_is_refused_in_a_sentence_and_left_alone(tmp_path: Path, root: str) -> None:
    path = tmp_path / "root"
    if root == "file":
        path.write_text("mine")
    elif root == "link":
        (tmp_path / "real").mkdir()
        path.symlink_to(tmp_path / "real")
    elif root == "foreign":
        path.mkdir(mode=0o755)
        (path / "main.py").write_text("mine")
    else:
        path.mkdir()
        header = {"format": "gemini-live-harness", "version": 99} if root == "newer" else {"format": "other"}
        (path / "harness.json").write_text(json.dumps(header))
    before = sorted((str(one), one.lstat().st_mode) for one in tmp_path.rglob("*"))
    with pytest.raises(HarnessError) as caught:
        Harness.open(path, disk=QuickDisk())
    assert caught.value.remedy
    assert sorted((str(one), one.lstat().st_mode) for one in tmp_path.rglob("*")) == before


def test_a_root_of_which_only_the_header_is_missing_is_opened(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        harness.memory.put(MemoryWrite(scope="user", key="name", value="Ada"))
        harness.memory.search("ada")
        harness.consent.grant("pay", "hash")
        harness.paths.header.unlink()
        (tmp_path / ".harness.json.1-0.part").touch()
    with opened(tmp_path) as harness:
        assert harness.memory.get("user", "name").value == "Ada"


def test_a_root_at_the_home_of_no_user_is_refused_in_a_sentence() -> None:
    with pytest.raises(HarnessError, match="root is '~nobody-of-this-name/x', which is no user's home folder"):
        Harness.open("~nobody-of-this-name/x")
    with pytest.raises(HarnessError, match="no user's home folder"):
        HarnessWorker("~nobody-of-this-name/x")


@pytest.mark.parametrize(
    ("number", "remedy"), [(errno.EROFS, "writable"), (errno.ENOSPC, "Free some space"), (errno.EACCES, "right to")]
)
def test_a_root_that_cannot_be_written_is_refused_with_the_remedy(tmp_path: Path, number: int, remedy: str) -> None:
    class Unwritable(QuickDisk):
        def create(self, path: Path) -> int:
            raise OSError(number, os.strerror(number))

    with pytest.raises(HarnessError, match=remedy):
        Harness.open(tmp_path / "root", disk=Unwritable())


def test_a_title_and_a_sentence_without_end_are_cut_with_a_mark(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(replace(REPORT, title="t" * 10_000))
        assert task.title == "t" * (MAX_TITLE - 1) + "…"
        assert harness.tasks.progress(task.id, "p" * 10_000).progress == "p" * (MAX_TEXT - 1) + "…"
        assert harness.tasks.complete(task.id, None, summary="s" * 10_000).summary == "s" * (MAX_TEXT - 1) + "…"
