"""A call beyond its budget goes on as a task, recorded on the disk."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.session.announcing import titles
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import ToolContext, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.harness.notifications import NotificationKind
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.tasks import HarnessTask, TaskStatus
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.state.terms import CALLED_OK
from gemini_live_runtime.tools.dispatch import MAX_CONCURRENT


@tool(spillable=True)
async def report(seconds: float = 10.0) -> str:
    """Write a report.

    Args:
        seconds: How long it takes.
    """
    await asyncio.sleep(seconds)
    return "12 pages"


def tasks(root: Path) -> list[HarnessTask]:
    with Harness.open(root) as harness:
        return harness.tasks.find().records


def kinds(root: Path) -> list[NotificationKind]:
    with Harness.open(root) as harness:
        return [one.kind for one in harness.notifications.find().records]


def answers(t: Talk) -> list[dict[str, Any]]:
    return [answer[2] for answer in t.sent("answer")]


async def test_a_tool_within_its_budget_is_answered_with_its_result_and_leaves_no_record(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("report", seconds=0.1)
        await t.passes(1.0)
        assert answers(t) == [{"output": "12 pages"}]
    assert list(tmp_path.iterdir()) == []


async def test_a_tool_beyond_its_budget_is_answered_with_the_id_of_a_task(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("report", seconds=9.5)
        await t.passes(0.35)
        (answer,) = answers(t)
        (task,) = tasks(tmp_path)
        assert (answer["status"], answer["task"]) == ("running", task.id)
        assert (task.status, task.title) == (TaskStatus.RUNNING, "Background tool: report")
        assert task.metadata == {"toolCallId": "c1", "toolName": "report", "toolArgs": {"seconds": 9.5}}
        await t.turn()
        await t.passes(10.0)
        (task,) = tasks(tmp_path)
        assert (task.status, task.summary) == (TaskStatus.SUCCEEDED, "12 pages")
        assert kinds(tmp_path) == [NotificationKind.TASK_SUCCEEDED]
        assert len(answers(t)) == 1
    assert [(event.status, event.text) for event in t.all(ev.TaskChanged)] == [
        ("running", ""),
        ("succeeded", "12 pages"),
    ]
    assert [event.task for event in t.all(ev.ToolFinished)] == [task.id]


async def test_progress_within_the_budget_is_that_of_the_task(tmp_path: Path) -> None:
    @tool(spillable=True)
    async def build(context: ToolContext) -> str:
        """Build."""
        context.progress(0.2, "compiling")
        await asyncio.sleep(10)
        return "built"

    async with talk(agent().tools(build), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("build")
        await t.passes(0.5)
        assert [(event.status, event.fraction, event.text) for event in t.all(ev.TaskChanged)] == [
            ("running", 0.2, "compiling")
        ]
        assert [(task.fraction, task.progress) for task in tasks(tmp_path)] == [(0.2, "compiling")]


async def test_the_budget_is_the_tools_own() -> None:
    @tool(budget_ms=2000)
    async def build() -> None:
        """Build."""
        await asyncio.sleep(1.9)

    async with talk(agent().tools(build)) as t:
        await t.calls("build")
        await t.passes(2.5)
        assert not t.all(ev.TaskChanged)


async def test_progress_is_published_and_kept(tmp_path: Path) -> None:
    @tool(spillable=True)
    async def build(context: ToolContext) -> str:
        """Build."""
        for step in range(1, 5):
            await asyncio.sleep(1.0)
            context.progress(step / 4, f"step {step}")
        await asyncio.sleep(10.0)
        return "built"

    async with talk(agent().tools(build), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("build")
        await t.passes(2.6)
        (task,) = tasks(tmp_path)
        assert (task.fraction, task.progress) == (0.5, "step 2")
        await t.passes(20.0)
        assert [event.fraction for event in t.all(ev.TaskChanged)] == [None, 0.25, 0.5, 0.75, 1.0, 1.0]


async def test_progress_from_a_thread_that_floods_is_thinned_and_the_newest_counts(tmp_path: Path) -> None:
    @tool(spillable=True)
    async def build(context: ToolContext) -> str:
        """Build."""
        await asyncio.sleep(1.0)
        await asyncio.to_thread(lambda: [context.progress(step / 1000) for step in range(1001)])
        await asyncio.sleep(5.0)
        return "built"

    async with talk(agent().tools(build), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("build")
        await t.passes(3.0)
        assert [event.fraction for event in t.all(ev.TaskChanged)][-1] == 1.0
        assert len(t.all(ev.TaskChanged)) <= 4
        assert tasks(tmp_path)[0].fraction == 1.0


async def test_a_second_call_for_the_same_names_the_task_that_runs(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        await t.calls("report")
        await t.calls("report", seconds=20.0)
        await t.passes(1.0)
        first, again, other = answers(t)
        assert again["task"] == first["task"] != other["task"]
        assert len(tasks(tmp_path)) == 2


async def test_the_same_call_twice_at_once_is_one_task(tmp_path: Path) -> None:
    ran: list[int] = []

    @tool(spillable=True)
    async def build() -> str:
        """Build."""
        ran.append(1)
        await asyncio.sleep(5.0)
        return "built"

    async with talk(agent().tools(build), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("build", "build", "build")
        await t.passes(1.0)
        assert len(ran) == len(tasks(tmp_path)) == 1
        assert {answer["task"] for answer in answers(t)} == {tasks(tmp_path)[0].id}
        assert len(answers(t)) == 3


async def test_the_same_call_twice_at_once_runs_twice_where_it_is_no_task() -> None:
    ran: list[int] = []

    @tool(spillable=True)
    async def roll() -> int:
        """Roll a die."""
        ran.append(len(ran))
        await asyncio.sleep(0.1)
        return len(ran)

    async with talk(agent().tools(roll)) as t:
        await t.calls("roll", "roll")
        await t.passes(1.0)
        assert answers(t) == [{"output": 1}, {"output": 2}]


async def test_a_call_that_waited_for_the_same_one_ends_with_the_session(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=SlowDisk(tmp_path, refuses=True)) as t:
        await t.calls("report", "report")
        await t.passes(5.0)
        assert t.stage.orchestrator.tools.open_calls == 2
    assert [one.status for one in t.all(ev.ToolFinished)] == ["cancelled", "cancelled"]


@pytest.mark.parametrize(
    ("result", "status"), [({"ok": False, "error": "no paper"}, "failed"), ({"exit_code": 7}, "succeeded")]
)
async def test_a_result_says_whether_the_task_has_succeeded(
    tmp_path: Path, result: dict[str, Any], status: str
) -> None:
    @tool(spillable=True)
    async def print_it() -> dict[str, Any]:
        """Print."""
        await asyncio.sleep(1.0)
        return result

    async with talk(agent().tools(print_it), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("print_it")
        await t.passes(2.0)
    assert [task.status.value for task in tasks(tmp_path)] == [status]


async def test_a_tool_that_raises_later_is_a_failed_task_with_its_error(tmp_path: Path) -> None:
    @tool(spillable=True)
    async def print_it() -> None:
        """Print."""
        await asyncio.sleep(1.0)
        raise RuntimeError("no paper")

    async with talk(agent().tools(print_it), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("print_it")
        await t.passes(2.0)
    (task,) = tasks(tmp_path)
    assert task.status is TaskStatus.FAILED
    assert "no paper" in (task.last_error or "")


async def test_the_end_of_the_session_interrupts_its_tasks_and_says_so(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
    (task,) = tasks(tmp_path)
    assert task.status is TaskStatus.INTERRUPTED
    assert task.last_error == "The session ended: the test is over"
    assert kinds(tmp_path) == [NotificationKind.TASK_INTERRUPTED]
    assert t.all(ev.TaskChanged)[-1].status == "interrupted"


async def test_a_session_that_is_left_closes_its_connection_and_ends_with_its_last_task(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        session = t.stage.session
        assert session.finish_tasks("the console has left")
        await t.rests()
        word = t.all(ev.SessionState)[-1]
        assert (word.word, word.reason) == ("dormant", "it ends once its tasks have")
        await session.done
        assert t.now == pytest.approx(10.0, abs=0.5)
    assert t.all(ev.SessionEnded)[-1].reason == "the console has left; its tasks have ended"
    assert [task.status for task in tasks(tmp_path)] == [TaskStatus.SUCCEEDED]


async def test_what_is_left_for_its_tasks_can_still_be_ended(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        assert t.stage.session.finish_tasks("the console has left")
        await t.passes(1.0)
    assert t.all(ev.SessionEnded)[-1].reason == "the test is over"
    assert [task.status for task in tasks(tmp_path)] == [TaskStatus.INTERRUPTED]


async def test_a_session_without_tasks_has_none_to_finish() -> None:
    async with talk(agent().tools(report)) as t:
        assert not t.stage.session.finish_tasks("the console has left")


async def test_another_program_cancels_a_task_and_its_tool(tmp_path: Path) -> None:
    was_cancelled = asyncio.Event()

    @tool(spillable=True)
    async def build() -> None:
        """Build."""
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            was_cancelled.set()
            raise

    async with talk(agent().tools(build), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("build")
        await t.passes(1.0)
        with Harness.open(tmp_path) as other:
            other.tasks.request_cancel(tasks(tmp_path)[0].id, "not needed")
        await t.passes(6.0)
        assert was_cancelled.is_set()
        (task,) = tasks(tmp_path)
        assert (task.status, task.last_error) == (TaskStatus.CANCELLED, "not needed")


async def test_the_operator_cancels_a_task_and_no_other() -> None:
    async with talk(agent().tools(report)) as t:
        await t.calls("report")
        await t.passes(1.0)
        assert "does not run in this session" in await t.commands(cmd.CancelTask(task_id="task_1"))
        task_id = t.all(ev.TaskChanged)[0].task_id
        assert await t.commands(cmd.CancelTask(task_id=task_id)) == ""
        last = t.all(ev.TaskChanged)[-1]
        assert (last.status, last.text) == ("cancelled", "The operator cancelled it.")


async def test_a_model_with_the_tools_follows_and_cancels_a_task(tmp_path: Path) -> None:
    async with talk(agent().tools(report).task_tools().max_tool_steps(9), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        task_id = answers(t)[0]["task"]
        await t.calls("task_list")
        await t.calls("task_get", task=task_id)
        await t.calls("task_cancel", task=task_id)
        await t.calls("task_get", task="../../etc/passwd")
        await t.passes(2.0)
        by_call = {call_id: answer for _, call_id, answer in t.sent("answer")}
        listed, looked_up, cancelled, refused = (by_call[f"c{number}"] for number in range(2, 6))
        assert listed == {"tasks": [{"task": task_id, "tool": "report", "status": "running"}]}
        assert looked_up == listed["tasks"][0]
        assert cancelled["status"] == "is being cancelled"
        assert "cannot be used as a file name" in refused["error"]
    assert [task.status for task in tasks(tmp_path)] == [TaskStatus.CANCELLED]


async def test_without_asking_for_them_a_model_has_no_tools_for_tasks() -> None:
    assert [declared.name for declared in agent().tools(report).plan().declared] == ["report"]


async def test_where_the_disk_refuses_the_record_the_model_waits_for_the_result(tmp_path: Path) -> None:
    (tmp_path / "root").write_text("no folder")
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path / "root")) as t:
        await t.calls("report")
        await t.passes(5.0)
        assert answers(t) == []
        await t.passes(6.0)
        assert answers(t) == [{"output": "12 pages"}]
    assert [notice.code for notice in t.all(ev.Notice)] == ["harness"]


async def test_a_result_that_is_too_large_for_a_record_is_left_out_and_the_task_has_succeeded(tmp_path: Path) -> None:
    @tool(spillable=True)
    async def poem() -> str:
        """Write a poem."""
        await asyncio.sleep(5.0)
        return "🌹" * 400_000

    async with talk(agent().tools(poem).task_tools(), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("poem")
        await t.passes(6.0)
        (task,) = tasks(tmp_path)
        assert task.status is TaskStatus.SUCCEEDED
        await t.calls("task_get", task=task.id)
        await t.passes(1.0)
        assert "of at most 1,048,576" in answers(t)[-1]["result"]["leftOut"]
    assert kinds(tmp_path) == [NotificationKind.TASK_SUCCEEDED]


async def test_a_fault_of_the_harness_loses_no_call() -> None:
    class Broken(HarnessWorker):
        async def call(self, work: Any) -> Any:
            raise RuntimeError("a fault in this program")

    async with talk(agent().tools(report), harness=Broken()) as t:
        await t.calls("report")
        await t.passes(11.0)
        assert answers(t) == [{"output": "12 pages"}]
        await t.turn()
        await t.stage.session.until_quiet(0.0, tasks_too=True)
    assert "a fault in this program" in t.all(ev.Notice)[0].text


class SlowDisk(HarnessWorker):
    """Worker that takes two seconds for each write, and may refuse it then."""

    def __init__(self, root: Path, *, refuses: bool = False) -> None:
        super().__init__(root)
        self._refuses = refuses

    async def call(self, work: Any) -> Any:
        await asyncio.sleep(2.0)
        if self._refuses:
            raise RuntimeError("the disk is full")
        return await super().call(work)


async def test_a_tool_that_ends_while_its_record_is_written_has_one_answer_and_then_its_end(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=SlowDisk(tmp_path)) as t:
        await t.calls("report", seconds=1.0)
        await t.passes(10.0)
        (answer,) = answers(t)
        (task,) = tasks(tmp_path)
        assert (answer["status"], answer["task"]) == ("running", task.id)
        assert task.status is TaskStatus.SUCCEEDED
        assert t.state.get(f"{CALLED_OK}report") == 1


async def test_a_tool_that_ends_before_the_disk_refuses_its_record_is_answered_and_counted_once() -> None:
    async with talk(agent().tools(report), harness=SlowDisk(Path(), refuses=True)) as t:
        await t.calls("report", seconds=1.0)
        await t.passes(10.0)
        assert answers(t) == [{"output": "12 pages"}]
        assert t.state.get(f"{CALLED_OK}report") == 1


async def test_a_call_without_a_record_counts_as_a_call_again() -> None:
    async with talk(agent().tools(report).max_tool_steps(50), harness=SlowDisk(Path(), refuses=True)) as t:
        for seconds in range(40):
            await t.calls("report", seconds=1000.0 + seconds)
            await t.passes(3.0)
        refused = [answer["error"] for answer in answers(t)]
        assert len(refused) == 40 - MAX_CONCURRENT
        assert all("Too many tools are running" in error for error in refused)


async def test_a_background_call_is_answered_when_its_tool_has_become_another_one(tmp_path: Path) -> None:
    @tool(background=True)
    async def search() -> str:
        """Search."""
        await asyncio.sleep(5.0)
        return "found"

    async def again() -> str:
        """Search."""
        return "found at once"

    async with talk(agent().tools(search), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("search")
        await t.passes(1.0)
        t.stage.orchestrator.tools.dispatcher.replace([tool(name="search")(again)])
        await t.passes(6.0)
        assert len(answers(t)) == 2


async def test_a_call_in_the_background_has_a_record_besides_its_answers(tmp_path: Path) -> None:
    @tool(background=True)
    async def search() -> str:
        """Search."""
        await asyncio.sleep(5.0)
        return "found"

    async with talk(agent().tools(search), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("search")
        await t.passes(1.0)
        assert [task.status for task in tasks(tmp_path)] == [TaskStatus.RUNNING]
        await t.passes(5.0)
        assert [task.status for task in tasks(tmp_path)] == [TaskStatus.SUCCEEDED]
        assert kinds(tmp_path) == []
        assert len(answers(t)) == 2


async def test_a_task_counts_as_a_successful_call_once_it_has_succeeded(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("report")
        await t.passes(1.0)
        assert t.state.get(f"{CALLED_OK}report", 0) == 0
        await t.passes(10.0)
        assert t.state.get(f"{CALLED_OK}report") == 1


async def test_the_conversation_is_quiet_while_a_task_runs() -> None:
    async with talk(agent().tools(report)) as t:
        await t.calls("report")
        await t.passes(1.0)
        await t.turn()
        await t.handle.until_quiet()
        assert t.now < 3.0
        await t.stage.session.until_quiet(0.0, tasks_too=True)
        assert t.now > 10.0


async def test_secrets_reach_no_record(tmp_path: Path) -> None:
    @tool(spillable=True)
    async def log_in(password: str) -> str:
        """Log in.

        Args:
            password: The password.
        """
        await asyncio.sleep(1.0)
        return "api_key=AIzaSyA1234567890abcdefghijklmnopqrstuv"

    async with talk(agent().tools(log_in), harness=HarnessWorker(tmp_path)) as t:
        await t.calls("log_in", password="hunter2hunter2")
        await t.passes(2.0)
    texts = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "hunter2" not in texts
    assert "AIzaSy" not in texts


@pytest.mark.parametrize("options", [{"background": True}, {"blocking": False}])
def test_a_budget_fits_no_tool_that_the_model_does_not_wait_for(options: dict[str, Any]) -> None:
    with pytest.raises(AgentError, match="continues as a task"):
        tool(name="slow", budget_ms=100, **options)(lambda: None)


@pytest.mark.parametrize("budget_ms", [0, -1, float("nan"), float("inf"), "300", True])
def test_a_budget_is_a_number_above_0(budget_ms: Any) -> None:
    with pytest.raises(AgentError, match="budget_ms"):
        tool(budget_ms=budget_ms)(report.function)


async def test_without_a_root_records_last_as_long_as_the_session() -> None:
    worker = HarnessWorker()
    async with talk(agent().tools(report), harness=worker) as t:
        await t.calls("report")
        await t.passes(1.0)
        root = await worker.call(lambda harness: harness.paths.root)
        assert root.exists()
    assert not root.exists()


async def test_a_task_that_ends_while_the_link_is_lost_is_announced_on_the_next_connection(tmp_path: Path) -> None:
    async with talk(agent().tools(report), harness=HarnessWorker(tmp_path)) as t:
        await t.hears("write the report")
        await t.calls("report", seconds=10.0)
        await t.passes(1.0)
        await t.says("It is being written.")
        await t.ends()
        await t.server.closes(1006)
        t.stage.refuses_until(30.0)
        await t.passes(12.0)
        assert [one.status for one in tasks(tmp_path)] == [TaskStatus.SUCCEEDED]
        await t.connects_again()
        assert titles(t) == []
        await t.passes(15.0)
        assert titles(t) == ["Task completed: report"]
