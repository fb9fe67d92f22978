"""Test that ends of tasks are recorded though the disk refuses them at first."""

from __future__ import annotations

import asyncio
import errno
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.session.announcing import on_virtual_time, titles
from tests.session.talking import agent, talk

from gemini_live_runtime import ToolContext, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import HarnessTask
from gemini_live_runtime.journal.files.disk import FileDisk
from gemini_live_runtime.journal.fold.session_fold import fold

RAN: list[str] = []


@tool(spillable=True, restart="again")
async def report() -> str:
    """Write a report."""
    RAN.append("report")
    await asyncio.sleep(10.0)
    return "12 pages"


class Disk:
    """Switch of all disks; a full one takes no new data, but deletes files."""

    def __init__(self) -> None:
        self.is_full = False

    def check(self) -> None:
        if self.is_full:
            raise OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    switch = Disk()
    write = FileDisk.write

    def refused(self: FileDisk, fd: int, data: bytes | memoryview) -> int:
        switch.check()
        return write(self, fd, data)

    monkeypatch.setattr(FileDisk, "write", refused)
    RAN.clear()
    yield switch
    switch.is_full = False


def tasks(root: Path) -> list[HarnessTask]:
    with Harness.open(root) as harness:
        return harness.tasks.find().records


async def test_an_end_that_the_disk_refuses_is_recorded_and_announced_once_there_is_space(
    disk: Disk, tmp_path: Path
) -> None:
    async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        await t.turn()
        disk.is_full = True
        await t.passes(30.0)
        assert [one.status.value for one in tasks(tmp_path)] == ["running"]
        assert titles(t) == []
        disk.is_full = False
        await t.passes(40.0)
        assert [(one.status.value, one.summary) for one in tasks(tmp_path)] == [("succeeded", "12 pages")]
        assert titles(t) == ["Task completed: report"]
    ends = [(event.status, event.recorded) for event in t.all(ev.TaskChanged) if event.status != "running"]
    assert ends == [("succeeded", False), ("succeeded", True)]
    assert len([event for event in t.all(ev.Notice) if "report" in event.text]) == 1


async def test_an_end_of_which_the_disk_has_a_part_is_finished_later(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync, calls = FileDisk.sync, iter(range(1000))

    def full_after_the_record(self: FileDisk, fd: int) -> None:
        sync(self, fd)
        disk.is_full = disk.is_full or (armed and next(calls) == 1)

    armed = False
    monkeypatch.setattr(FileDisk, "sync", full_after_the_record)
    async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        await t.turn()
        armed = True
        await t.passes(30.0)
        assert [(one.status.value, one.unsettled) for one in tasks(tmp_path)] == [("succeeded", True)]
        armed = disk.is_full = False
        await t.passes(40.0)
        assert [(one.status.value, one.unsettled) for one in tasks(tmp_path)] == [("succeeded", False)]
        assert titles(t) == ["Task completed: report"]


async def test_the_sessions_end_tries_it_once_more(disk: Disk, tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        disk.is_full = True
        await t.passes(11.0)
        disk.is_full = False
    assert [one.status.value for one in tasks(tmp_path)] == ["succeeded"]


async def test_a_tool_whose_end_was_never_recorded_does_not_run_twice(disk: Disk, tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        disk.is_full = True
        await t.passes(11.0)
    assert "is not recorded" in t.all(ev.Notice)[-1].text
    disk.is_full = False
    async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(20.0)
    assert RAN == ["report"]
    assert [(one.status.value, one.lost) for one in tasks(tmp_path)] == [("interrupted", False)]


async def test_another_program_leaves_a_task_alone_whose_end_is_not_recorded(disk: Disk, tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        disk.is_full = True
        await t.passes(11.0)
        disk.is_full = False
        async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as other:
            await other.passes(3.0)
        await t.passes(20.0)
        assert [one.status.value for one in tasks(tmp_path)] == ["succeeded"]
    assert RAN == ["report"]


async def test_the_view_says_that_an_end_is_not_recorded_yet_and_tells_the_end_once(disk: Disk, tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        disk.is_full = True
        await t.passes(11.0)
        (card,) = fold(t.stage.sink.events).harness.tasks.values()
        assert (card.status, card.is_recorded) == ("succeeded", False)
        disk.is_full = False
        await t.passes(30.0)
        view = fold(t.stage.sink.events)
        (later,) = view.harness.tasks.values()
        assert later == replace(card, is_recorded=True)
        told = [block.text for block in view.blocks if block.text.startswith("The task report")]
        assert told == ["The task report has succeeded: 12 pages"]


async def test_the_same_call_again_is_a_task_of_its_own_while_the_end_of_the_first_is_not_recorded(
    disk: Disk, tmp_path: Path
) -> None:
    async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        disk.is_full = True
        await t.passes(11.0)
        await t.calls("report")
        await t.passes(1.0)
        assert RAN == ["report", "report"]


async def test_progress_that_the_disk_refuses_is_reported_once(disk: Disk, tmp_path: Path) -> None:
    @tool(spillable=True)
    async def build(context: ToolContext) -> None:
        """Build."""
        for step in range(10):
            await asyncio.sleep(1.0)
            context.progress(step / 10)

    async with talk(agent().tools(build), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("build")
        await t.passes(0.9)
        disk.is_full = True
        await t.passes(8.0)
        assert ["is not recorded" in one.text for one in t.all(ev.Notice)] == [True]


async def test_a_task_whose_record_was_deleted_is_not_tried_again(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        (task,) = tasks(tmp_path)
        shutil.rmtree(tmp_path / "tasks" / task.id)
        await t.passes(100.0)
        assert [event.recorded for event in t.all(ev.TaskChanged)] == [True, False]
        assert len([one for one in t.all(ev.Notice) if "There is no task" in one.text]) == 1
