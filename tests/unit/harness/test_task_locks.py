"""Test that a task stays its living program's when lock files are deleted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness_support import opened

from gemini_live_runtime.harness.instances import runs
from gemini_live_runtime.harness.tasks import NewRunningTask, TaskStatus

TASK = NewRunningTask(title="report", restart="again", agent="test")

_PROGRAM = """
import sys
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import NewRunningTask

harness = Harness.open(sys.argv[1])
task = harness.tasks.start(NewRunningTask(title="report", restart="again", agent="test"))
print(task.id, flush=True)
for line in sys.stdin:
    print(harness.tasks.complete(task.id, "12 pages").status.value, flush=True)
"""


class Program:
    """Another process, which runs a task."""

    def __init__(self, root: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.task_id = self._line()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def complete(self) -> str:
        """End the task; return its status."""
        assert self.process.stdin is not None
        self.process.stdin.write("end\n")
        self.process.stdin.flush()
        return self._line()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    one = Program(tmp_path)
    yield one
    one.kill()
    for pipe in (one.process.stdin, one.process.stdout):
        assert pipe is not None
        pipe.close()


def delete_locks(root: Path) -> None:
    """Delete all files that look like locks, as people do."""
    for path in list(root.rglob("*.lock")):
        path.unlink()


def test_a_task_whose_lock_files_were_deleted_stays_its_programs(program: Program, tmp_path: Path) -> None:
    delete_locks(tmp_path)
    with opened(tmp_path) as other:
        other.reconcile()
        assert other.tasks.get(program.task_id).status is TaskStatus.RUNNING
        assert other.tasks.claim(program.task_id) is None
    assert program.complete() == "succeeded"


def test_a_task_whose_lock_files_were_deleted_is_interrupted_when_its_program_dies(
    program: Program, tmp_path: Path
) -> None:
    delete_locks(tmp_path)
    program.kill()
    with opened(tmp_path) as other:
        other.reconcile()
        task = other.tasks.get(program.task_id)
        assert (task.status, task.lost) == (TaskStatus.INTERRUPTED, True)


def test_a_deleted_lock_file_is_written_again_at_the_next_look_for_requests(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(TASK)
        delete_locks(tmp_path)
        harness.tasks.cancel_request(task.id)
        harness.tasks._locks.release_all()  # as where a file system locks no folders
        assert runs(task, harness.paths, 0)
    assert list(tmp_path.glob("instances/*.lock")) == []


def test_a_deleted_folder_of_locks_is_written_again_with_the_next_task(tmp_path: Path) -> None:
    with opened(tmp_path) as harness:
        first = harness.tasks.start(TASK)
        delete_locks(tmp_path)
        (tmp_path / "instances").rmdir()
        second = harness.tasks.start(TASK)
        harness.tasks._locks.release_all()
        assert all(runs(task, harness.paths, 0) for task in (first, second))


@pytest.mark.parametrize("end", ["complete", "fail", "cancel"])
def test_the_folder_of_an_ended_task_is_no_longer_locked(tmp_path: Path, end: str) -> None:
    with opened(tmp_path) as harness:
        task = harness.tasks.start(TASK)
        getattr(harness.tasks, end)(task.id, "done")
        delete_locks(tmp_path)
        assert not runs(task, harness.paths, 0)
