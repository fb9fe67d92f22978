"""Programs use the harness of their session, and the records of others."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    Harness,
    HarnessController,
    HarnessError,
    HarnessNotification,
    HarnessPaths,
    HarnessTask,
    MemoryRecord,
    MemoryWrite,
    NewNotification,
    NewRunningTask,
    NotificationKind,
    NotificationStatus,
    TaskDetail,
    TaskEvent,
    TaskEventKind,
    TaskResult,
    TaskRuntimeInstance,
    TaskStatus,
    tool,
)
from gemini_live_runtime.harness.worker import HarnessWorker


@tool(spillable=True)
async def report() -> str:
    """Write a report."""
    await asyncio.sleep(5.0)
    return "12 pages"


async def test_a_program_reads_and_changes_the_harness_of_its_session(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        controller: HarnessController = t.handle.harness
        await t.calls("report")
        await t.passes(1.0)
        running: list[HarnessTask] = (await controller.tasks(TaskStatus.RUNNING)).records
        assert isinstance(running[0].runtime, TaskRuntimeInstance)
        await t.passes(5.0)
        detail: TaskDetail = await controller.task(running[0].id)
        assert isinstance(detail.result, TaskResult)
        last: TaskEvent = detail.events[-1]
        assert last.type is TaskEventKind.SUCCEEDED
        assert not controller.cancel(running[0].id)
        written: MemoryRecord = await controller.remember(MemoryWrite(scope="user", key="name", value="Ada"))
        assert written.is_trusted
        assert [one.key for one in (await controller.recall("Ada")).records] == [written.key]
        told: HarnessNotification = await controller.notify(NewNotification(title="the oven is ready"))
        assert (told.kind, told.status) == (NotificationKind.GENERIC, NotificationStatus.QUEUED)
        root = await controller.call(lambda harness: harness.paths)
        assert root == HarnessPaths(tmp_path)


def test_a_program_records_work_of_its_own(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as harness:
        task = harness.tasks.start(NewRunningTask(title="Nightly build"))
        harness.tasks.complete(task.id, {"tests": 9000}, summary="all green")
        with pytest.raises(HarnessError, match="has ended already"):
            harness.tasks.cancel(task.id)
        assert [one.title for one in harness.notifications.find().records] == ["Task completed: Nightly build"]
