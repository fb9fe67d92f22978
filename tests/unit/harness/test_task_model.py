"""Compare the tasks of two programs, which may die at any time, with a reference."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from harness_support import Wall
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule
from tests.support.quick_disk import QuickDisk

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.notifications import KIND_OF_END
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.task_store import TaskStore
from gemini_live_runtime.harness.tasks import NewRunningTask, TaskEventKind, TaskStatus

ENDS = ("complete", "fail", "cancel", "interrupt")
STATUS = dict(zip(ENDS, (status for status in TaskStatus if status.is_terminal), strict=True))
PROGRAMS = st.sampled_from(("engine", "talk"))


class Died(BaseException):
    """Death of a program in the middle of a call."""


class MortalDisk(QuickDisk):
    """Disk whose program dies at a call that changes something."""

    def __init__(self) -> None:
        super().__init__()
        self.dies_in = -1

    def _count(self) -> None:
        self.dies_in -= 1
        if self.dies_in == 0:
            raise Died

    def write(self, fd: int, data: bytes | memoryview) -> int:
        self._count()
        return super().write(fd, data)

    def replace(self, source: Path, target: Path) -> None:
        self._count()
        super().replace(source, target)

    def unlink(self, path: Path) -> None:
        self._count()
        super().unlink(path)


@dataclass
class Known:
    """Task as the reference knows it."""

    owner: int
    """Number of the program that runs it; each life of a program has another."""
    status: TaskStatus = TaskStatus.RUNNING
    may_be: TaskStatus | None = None
    """Status that its program was writing when it died."""
    is_asked: bool = False
    """True once another program has asked to cancel it."""


class Tasks(RuleBasedStateMachine):
    """Two programs on one root."""

    tasks = Bundle("tasks")

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name) / "root"
        self.wall = Wall()
        self.known: dict[str, Known] = {}
        self.lives = 0
        self.programs: dict[str, Harness] = {}
        self.disks: dict[str, MortalDisk] = {}
        self.life: dict[str, int] = {}
        for name in ("engine", "talk"):
            self.begin(name)

    def teardown(self) -> None:
        for harness in self.programs.values():
            harness.close()
        self.folder.cleanup()

    # -- programs ----------------------------------------------------------------------------------------------------

    def begin(self, name: str) -> None:
        """Start a program, which finishes what others have left."""
        self.lives += 1
        self.life[name], self.disks[name] = self.lives, MortalDisk()
        self.programs[name] = Harness.open(self.root, disk=self.disks[name], wall=self.wall)
        self.programs[name].reconcile()
        with Harness.open(self.root, disk=QuickDisk(), wall=self.wall) as harness:
            for task_id, known in self.known.items():
                if known.status is TaskStatus.RUNNING and known.owner not in self.life.values():
                    status = harness.tasks.get(task_id).status
                    assert status in (TaskStatus.INTERRUPTED, known.may_be)
                    known.status = status

    @rule(name=PROGRAMS)
    def die(self, name: str) -> None:
        self.kill(name)
        self.begin(name)

    def kill(self, name: str) -> None:
        """End a program as the system does: its locks become free, and its files stay."""
        tasks = self.programs[name].tasks
        tasks._locks.release_all()
        if tasks._lock is not None:
            os.close(tasks._lock._fd)
            tasks._lock._fd = -1

    @rule(name=PROGRAMS)
    def close(self, name: str) -> None:
        self.programs[name].close()
        self.begin(name)

    @rule(seconds=st.integers(-100, 1000))
    def set_the_clock(self, seconds: int) -> None:
        self.wall.now += seconds

    # -- tasks -------------------------------------------------------------------------------------------------------

    @rule(target=tasks, name=PROGRAMS)
    def start(self, name: str) -> str:
        task = self.programs[name].tasks.start(NewRunningTask(title="build"))
        self.known[task.id] = Known(self.life[name])
        return task.id

    @rule(name=PROGRAMS, at=st.integers(1, 6))
    def die_at_a_start(self, name: str, at: int) -> None:
        self.disks[name].dies_in = at
        store = self.programs[name].tasks
        with pytest.raises(Died):
            self.start_until_death(store)
        self.kill(name)
        self.adopt()
        self.begin(name)

    def start_until_death(self, store: TaskStore) -> None:
        while True:
            store.start(NewRunningTask(title="build"))

    def adopt(self) -> None:
        """Take in the tasks that a program recorded before it died."""
        with Harness.open(self.root, disk=QuickDisk(), wall=self.wall) as harness:
            for task in harness.tasks.find().records:
                self.known.setdefault(task.id, Known(-1))

    def may_change(self, name: str, known: Known) -> bool:
        return known.status is TaskStatus.RUNNING and known.owner == self.life[name]

    @rule(name=PROGRAMS, task_id=tasks, fraction=st.floats(-1, 2))
    def progress(self, name: str, task_id: str, fraction: float) -> None:
        store = self.programs[name].tasks
        if self.may_change(name, self.known[task_id]):
            assert 0 <= (store.progress(task_id, "on", fraction=fraction).fraction or 0) <= 1
        else:
            with pytest.raises(HarnessError):
                store.progress(task_id, "on", fraction=fraction)

    @rule(name=PROGRAMS, task_id=tasks, end=st.sampled_from(ENDS))
    def end(self, name: str, task_id: str, end: str) -> None:
        known = self.known[task_id]
        if self.may_change(name, known):
            known.status = self.ended(name, task_id, end)
            assert known.status is STATUS[end]
        elif end == "interrupt" and known.status.is_terminal:
            assert self.ended(name, task_id, end) is known.status
        else:
            with pytest.raises(HarnessError):
                self.ended(name, task_id, end)

    def ended(self, name: str, task_id: str, end: str) -> TaskStatus:
        store = self.programs[name].tasks
        return {
            "complete": lambda: store.complete(task_id, {"tests": 9}, summary="green"),
            "fail": lambda: store.fail(task_id, "red"),
            "cancel": lambda: store.cancel(task_id, "enough"),
            "interrupt": lambda: store.interrupt(task_id, "over"),
        }[end]().status

    @rule(task_id=consumes(tasks), end=st.sampled_from(ENDS), at=st.integers(1, 12))
    def die_at_an_end(self, task_id: str, end: str, at: int) -> None:
        known = self.known[task_id]
        name = next((name for name, life in self.life.items() if life == known.owner), "")
        if not name or not self.may_change(name, known):
            return
        self.disks[name].dies_in = at
        try:
            known.status = self.ended(name, task_id, end)
        except Died:
            known.may_be = STATUS[end]
        self.kill(name)
        self.begin(name)

    @rule(target=tasks, name=PROGRAMS, task_id=tasks)
    def ask_to_cancel(self, name: str, task_id: str) -> object:
        known, store = self.known[task_id], self.programs[name].tasks
        if known.status is TaskStatus.RUNNING:
            store.request_cancel(task_id, "not needed")
            known.is_asked = True
        else:
            with pytest.raises(HarnessError):
                store.request_cancel(task_id)
        return multiple()

    # -- what always holds -------------------------------------------------------------------------------------------

    @invariant()
    def the_files_agree(self) -> None:
        with Harness.open(self.root, disk=QuickDisk(), wall=self.wall) as harness:
            listing = harness.tasks.find()
            assert not listing.problems
            assert {task.id: task.status for task in listing.records} == {
                task_id: known.status for task_id, known in self.known.items()
            }
            told = {one.task_id: one.kind for one in harness.notifications.find().records}
            assert len(told) == len(harness.notifications.find().records)
            for task in listing.records:
                detail = harness.tasks.detail(task.id)
                ends = [event.type for event in detail.events if event.type.value in set(TaskStatus)]
                if task.status.is_terminal:
                    assert ends == [TaskEventKind(task.status.value)]
                    assert told.pop(task.id) is KIND_OF_END[task.status]
                else:
                    assert ends == []
                    asked = harness.tasks.cancel_request(task.id) is not None
                    assert asked == self.known[task.id].is_asked
                assert (detail.result is not None) == (task.status is TaskStatus.SUCCEEDED)
                assert [event.sequence for event in detail.events] == list(range(1, len(detail.events) + 1))
            assert told == {}


Tasks.TestCase.settings = settings(max_examples=20, stateful_step_count=30, deadline=None)
TestTasks = Tasks.TestCase
