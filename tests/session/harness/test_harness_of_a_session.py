"""Programs use the harness of their session, and the records of others."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.session.talking import agent, talk

from gemini_live_runtime import (
    ForwardOutcome,
    Harness,
    HarnessController,
    HarnessError,
    HarnessNotification,
    HarnessPaths,
    HarnessRuntimeBridge,
    HarnessTask,
    HarnessToolCompletion,
    HarnessToolCompletionDisposition,
    HarnessToolRegistry,
    HarnessToolRuntime,
    MemoryRecord,
    MemoryWrite,
    NewNotification,
    NewRunningTask,
    NotificationKind,
    NotificationStatus,
    PassiveNotificationPump,
    TaskDetail,
    TaskEvent,
    TaskEventKind,
    TaskResult,
    TaskRuntimeInstance,
    TaskStatus,
    ToolCall,
    ToolDescriptor,
    ToolKind,
    ToolProvider,
    format_passive_notification_prompt,
    tool,
)
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.harness.pump import Deliver
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.io.harness_bridge import NO_CONNECTION


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


async def test_the_records_of_a_session_that_is_over_are_refused_in_a_sentence(tmp_path: Path) -> None:
    worker = HarnessWorker(tmp_path)
    async with talk(agent(), harness=worker) as t:
        await t.turn()
    await worker.close()
    for call in (t.handle.harness.tasks(), t.handle.harness.notify("later"), t.handle.harness.recall("tea")):
        with pytest.raises(HarnessError, match="The session is over"):
            await call


async def test_a_session_goes_on_without_records_that_cannot_be_reached(tmp_path: Path) -> None:
    # As below a folder without the right to enter it, which root has: whether the file is there cannot be told.
    orders = []

    @tool(side_effects=True)
    def order() -> None:
        """Order more."""
        orders.append(1)

    async with talk(agent().tools(report, order), harness=HarnessWorker(tmp_path / ("x" * 300))) as t:
        await t.calls("order")
        await t.passes(1.0)
        codes = {notice.code: notice.text for notice in t.all(ev.Notice)}
        assert "File name too long" in codes["harness"]
        assert "Remembered consent does not count" in codes["consent"]
        assert orders == []
        with pytest.raises(HarnessError, match="File name too long"):
            await t.handle.harness.tasks()


class Warehouse:
    """Provider of tools that another program serves."""

    kind = ToolKind.REMOTE

    def tools(self) -> list[Any]:
        return [self.count, tool(side_effects=True, consent="deny")(self.order)]

    def count(self, item: str) -> int:
        """Count an item. Counting takes a moment."""
        return len(item)

    def order(self) -> None:
        """Order more."""


async def test_the_tools_of_a_provider_are_called_and_described_with_its_kind() -> None:
    provider: ToolProvider = Warehouse()
    async with talk(agent().tools(report, provider).task_tools()) as t:
        await t.calls("count", item="nails")
        assert [answer[2] for answer in t.sent("answer")] == [{"output": 5}]
        described: tuple[ToolDescriptor, ...] = t.handle.harness.tools()
        assert {one.name: one.kind.value for one in described} == {
            "report": "local",
            "count": "remote",
            "order": "remote",
            "task_list": "built-in",
            "task_get": "built-in",
            "task_cancel": "built-in",
        }
        assert described[1].summary == "Count an item."
        assert (described[2].consent, described[2].side_effects) == ("deny", True)


@tool
async def slow() -> str:
    """Take a second."""
    await asyncio.sleep(1.0)
    return "done"


@tool
def fails() -> None:
    """Fail."""
    raise RuntimeError("no paper")


async def test_a_bridge_tells_the_calls_as_their_answers_go_out(tmp_path: Path) -> None:
    of = HarnessToolCompletionDisposition
    async with talk(agent().tools(report, fails), harness=HarnessWorker(tmp_path)) as t:
        bridge: HarnessRuntimeBridge = t.handle.harness.bridge()
        await t.calls("fails")
        await t.calls("report")
        await t.passes(0.5)
        (task,) = (await t.handle.harness.tasks()).records
        failed = HarnessToolCompletion("c1", "fails", of.FAILED, {"error": "no paper"})
        assert await anext(bridge) == ForwardOutcome(failed)
        spilled = await anext(bridge)
        assert (spilled.completion.disposition, spilled.completion.task_id) == (of.RESPONDED, task.id)
        assert spilled.is_forwarded


async def test_a_bridge_tells_an_answer_that_waits_once_it_has_gone_out() -> None:
    async with talk(agent().tools(slow)) as t, t.handle.harness.bridge() as bridge:
        await t.calls("slow")
        t.stage.refuses_until(t.now + 10.0)
        await t.server.closes(1006)
        following = asyncio.ensure_future(anext(bridge))
        await t.passes(5.0)
        assert not following.done()
        await t.connects_again()
        assert (await following).is_forwarded


async def test_a_bridge_tells_a_call_that_the_server_cancelled_and_ends_with_the_session() -> None:
    async with talk(agent().tools(slow)) as t:
        bridge = t.handle.harness.bridge()
        await t.calls("slow")
        await t.server.says(toolCallCancellation={"ids": ["c1"]})
        await t.rests()
        outcome = await anext(bridge)
        assert outcome.completion.disposition is HarnessToolCompletionDisposition.CANCELLED
        assert not outcome.is_forwarded
        await t.calls("slow")
        t.stage.refuses_until(t.now + 1000.0)
        await t.server.closes(1006)
        await t.passes(3.0)
    (left,) = [outcome async for outcome in bridge]
    assert (left.completion.call_id, left.failure) == ("c2", NO_CONNECTION)


async def test_the_runtime_of_tools_knows_the_tasks_that_run(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        runtime: HarnessToolRuntime = t.handle.harness.runtime
        assert runtime.is_idle
        await t.calls("report")
        await t.passes(0.5)
        (task,) = (await t.handle.harness.tasks()).records
        assert not runtime.is_idle
        assert runtime.running_like(ToolCall("c9", "report", {})) == task.id
        assert runtime.cancel(task.id, "enough")
        await t.passes(1.0)
        assert runtime.is_idle


def test_a_registry_refuses_two_tools_of_one_name_and_routes_the_others() -> None:
    registry = HarnessToolRegistry([report])
    assert (registry.route("report"), registry.route("search")) == (report.mode, None)
    with pytest.raises(AgentError, match="Two tools are named report"):
        HarnessToolRegistry([report, report])


def test_a_provider_without_a_kind_is_a_fault_of_the_plan() -> None:
    provider = Warehouse()
    provider.kind = "far away"  # type: ignore[assignment]
    with pytest.raises(AgentError, match=r"Warehouse.kind cannot be 'far away'"):
        agent().tools(provider).plan()


async def test_a_program_that_delivers_by_itself_uses_the_pump_and_the_prompt_of_a_session(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as harness:
        queued = harness.notifications.queue(NewNotification(title="the oven is ready"))
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        await t.passes(3.0)
        pump = PassiveNotificationPump()
        pump.on_records([queued])
        step = pump.next_step(0.0, queued.created_at_ms)
        assert isinstance(step, Deliver)
        prompt = format_passive_notification_prompt(*step.notifications)
        assert [text for _, text in t.sent("user context")] == [f"[Context] {prompt}"]


async def test_a_program_lists_notifications_and_dismisses_one(tmp_path: Path) -> None:
    async with talk(agent(), harness=HarnessWorker(tmp_path)) as t:
        harness = t.handle.harness
        queued = await harness.notify("the oven is ready")
        assert [one.id for one in (await harness.notifications()).records] == [queued.id]
        assert (await harness.acknowledge(queued.id)).status is NotificationStatus.ACKNOWLEDGED
        await t.passes(3.0)
        assert t.sent("user context") == []


def test_a_program_records_work_of_its_own(tmp_path: Path) -> None:
    with Harness.open(tmp_path) as harness:
        task = harness.tasks.start(NewRunningTask(title="Nightly build"))
        harness.tasks.complete(task.id, {"tests": 9000}, summary="all green")
        with pytest.raises(HarnessError, match="has ended already"):
            harness.tasks.cancel(task.id)
        assert [one.title for one in harness.notifications.find().records] == ["Task completed: Nightly build"]
