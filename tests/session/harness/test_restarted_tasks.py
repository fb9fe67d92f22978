"""A task whose program died is started anew where its tool says so."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest
from tests.session.announcing import on_virtual_time
from tests.session.talking import Talk, agent, talk

from gemini_live_runtime import Live, ToolContext, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.errors import AgentError, HarnessError
from gemini_live_runtime.harness.store import Harness
from gemini_live_runtime.harness.task_restarts import MAX_AGE_S, MAX_RESTARTS
from gemini_live_runtime.harness.task_store import TaskStore
from gemini_live_runtime.harness.tasks import HarnessTask, NewRunningTask
from gemini_live_runtime.session.agent.tools.consent import ConsentOptions
from gemini_live_runtime.tools.progress import MAX_CHECKPOINT

RAN: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()
    SEEN.clear()


@tool(spillable=True, restart="again")
async def index(folder: str) -> str:
    """Index a folder.

    Args:
        folder: Which one.
    """
    RAN.append(folder)
    await asyncio.sleep(10)
    return f"{folder} is indexed"


@tool(spillable=True)
async def plain(folder: str) -> str:
    """Do it once.

    Args:
        folder: Which one.
    """
    RAN.append(folder)
    await asyncio.sleep(10)
    return "done"


SEEN: list[Any] = []


@tool(spillable=True, restart="continue")
async def scan(pages: int, context: ToolContext) -> str:
    """Scan pages.

    Args:
        pages: How many.
    """
    SEEN.append(context.checkpoint)
    for page in range((context.checkpoint or {"page": 0})["page"], pages):
        await asyncio.sleep(1)
        context.progress((page + 1) / pages, checkpoint={"page": page + 1})
    return f"{pages} pages"


def librarian() -> Live:
    return agent().tools(index, plain, scan)


def tasks(root: Path) -> list[HarnessTask]:
    """Return the tasks, oldest first."""
    with Harness.open(root) as harness:
        return sorted(harness.tasks.find().records, key=lambda task: task.id)


def lose(root: Path, wall: float, **fields: Any) -> str:
    """Record a task as a program that dies in it; return its id."""
    new: dict[str, Any] = {
        "title": "Background tool: index",
        "metadata": {"toolCallId": "c1", "toolName": "index", "toolArgs": {"folder": "books"}},
        "restart": "again",
        "agent": "test",
        **fields,
    }
    with contextlib.closing(Harness.open(root, wall=lambda: wall)) as harness:
        return harness.tasks.start(NewRunningTask(**new)).id


async def spilled(t: Talk, name: str = "index", folder: str = "books") -> None:
    await t.calls(name, folder=folder)
    await t.passes(0.35)


async def test_a_lost_task_is_started_anew_and_names_the_old_one(tmp_path: Path) -> None:
    old = lose(tmp_path, LoopClock().wall())
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(1.0)
        assert RAN == ["books"]
        lost, new = tasks(tmp_path)
        assert (lost.id, lost.status.value, lost.lost, lost.restarted_as) == (old, "interrupted", True, new.id)
        assert (new.status.value, new.restart_of, new.restarts) == ("running", old, 1)
        told = t.all(ev.TaskChanged)[0]
        assert (told.task_id, told.status) == (new.id, "running")
        assert old in told.text
        await t.passes(10.0)
        assert (tasks(tmp_path)[1].status.value, tasks(tmp_path)[1].summary) == ("succeeded", "books is indexed")
        assert t.state.get_raw("session:called_ok:index") == 1
        assert t.sent("answer") == []


async def test_what_a_session_records_can_be_started_anew(tmp_path: Path) -> None:
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await spilled(t)
        (task,) = tasks(tmp_path)
        assert (task.restart, task.agent) == ("again", "test")
        await spilled(t, "plain")
        assert [one.restart for one in tasks(tmp_path)] == ["again", None]


def lose_scan(root: Path, wall: float, **progress: Any) -> None:
    """Record a scan of ten pages as a program that dies in it."""
    with contextlib.closing(Harness.open(root, wall=lambda: wall)) as harness:
        metadata = {"toolCallId": "c1", "toolName": "scan", "toolArgs": {"pages": 10}}
        new = NewRunningTask(title="scan", metadata=metadata, restart="continue", agent="test")
        task = harness.tasks.start(new)
        harness.tasks.progress(task.id, "", **progress)


async def test_a_lost_task_goes_on_from_its_newest_checkpoint(tmp_path: Path) -> None:
    lose_scan(tmp_path, LoopClock().wall(), checkpoint={"page": 7})
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(1.0)
        assert SEEN == [{"page": 7}]
        assert "continued" in t.all(ev.TaskChanged)[0].text
        await t.passes(2.5)
        assert tasks(tmp_path)[1].status.value == "succeeded"


async def test_a_task_that_is_lost_again_has_the_checkpoint_of_the_one_before(tmp_path: Path) -> None:
    lose_scan(tmp_path, LoopClock().wall(), checkpoint={"page": 7})
    with contextlib.closing(Harness.open(tmp_path, wall=LoopClock().wall)) as harness:
        harness.reconcile()
        (lost,) = harness.tasks.find().records
        assert harness.tasks.claim(lost.id) is not None
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(1.0)
    assert SEEN == [{"page": 7}]


async def test_without_a_checkpoint_it_begins_anew(tmp_path: Path) -> None:
    lose_scan(tmp_path, LoopClock().wall(), fraction=0.1)
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(1.0)
    assert SEEN == [None]


async def test_the_checkpoint_of_a_tool_is_recorded_and_ends_with_its_task(tmp_path: Path) -> None:
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.calls("scan", pages=4)
        await t.passes(2.6)
        assert tasks(tmp_path)[0].checkpoint == {"page": 2}
        await t.passes(2.0)
        assert (tasks(tmp_path)[0].status.value, tasks(tmp_path)[0].checkpoint) == ("succeeded", None)


@pytest.mark.parametrize(
    ("checkpoint", "fault"),
    [
        ({"page": {1, 2}}, "is no JSON"),
        (float("nan"), "is no JSON"),
        ("x" * (MAX_CHECKPOINT + 1), "more than"),
        ({"key": "AIza" + "B" * 35}, "a key or a password"),
    ],
)
def test_a_checkpoint_that_cannot_be_kept_is_refused(checkpoint: Any, fault: str) -> None:
    with pytest.raises(AgentError, match=fault):
        ToolContext("c1", print).progress(checkpoint=checkpoint)


async def test_one_with_a_secret_in_its_arguments_is_not(tmp_path: Path) -> None:
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await spilled(t, folder="AIza" + "S" * 35)
        assert [one.restart for one in tasks(tmp_path)] == [None]


async def test_one_that_the_end_of_its_session_interrupted_is_not(tmp_path: Path) -> None:
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await spilled(t)
    assert [(one.status.value, one.lost) for one in tasks(tmp_path)] == [("interrupted", False)]
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(20.0)
    assert RAN == ["books"]


@pytest.mark.parametrize(
    "fields",
    [
        {"agent": "another"},
        {"restart": None},
        {"restarts": MAX_RESTARTS},
        {"metadata": None},
        {"metadata": {"toolName": "plain", "toolArgs": {"folder": "books"}}},
        {"metadata": {"toolName": "index", "toolArgs": "books"}},
    ],
)
async def test_others_are_not_started(tmp_path: Path, fields: dict[str, Any]) -> None:
    lose(tmp_path, LoopClock().wall(), **fields)
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(5.0)
    assert RAN == []


async def test_an_old_one_is_not_started(tmp_path: Path) -> None:
    lose(tmp_path, LoopClock().wall() - MAX_AGE_S - 1)
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(5.0)
    assert RAN == []


async def test_one_whose_tool_needs_consent_now_is_not_started(tmp_path: Path) -> None:
    lose(tmp_path, LoopClock().wall())
    options = ConsentOptions(policies={"index": "ask"})
    async with talk(librarian(), harness=on_virtual_time(tmp_path), consent=options) as t:
        await t.passes(5.0)
    assert RAN == []


async def test_arguments_that_no_longer_fit_end_it_as_failed(tmp_path: Path) -> None:
    lose(tmp_path, LoopClock().wall(), metadata={"toolName": "index", "toolArgs": {"shelf": 1}})
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(5.0)
    assert RAN == []
    assert [one.status.value for one in tasks(tmp_path)] == ["interrupted", "failed"]


async def test_what_was_claimed_before_the_disk_refuses_more_does_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("books", "maps"):
        lose(tmp_path, LoopClock().wall(), metadata={"toolName": "index", "toolArgs": {"folder": folder}})
    claim, claims = TaskStore.claim, iter([True, False])

    def refuse_second(store: TaskStore, task_id: str) -> HarnessTask | None:
        if not next(claims):
            raise HarnessError("No space left on device")
        return claim(store, task_id)

    monkeypatch.setattr(TaskStore, "claim", refuse_second)
    async with talk(librarian(), harness=on_virtual_time(tmp_path)) as t:
        await t.passes(11.0)
        assert len(RAN) == 1
        assert sorted(task.status.value for task in tasks(tmp_path)) == ["interrupted", "interrupted", "succeeded"]
        assert "No space left" in t.all(ev.Notice)[-1].text


def test_only_one_of_several_programs_gets_it(tmp_path: Path) -> None:
    name = lose(tmp_path, 1_700_000_000.0)
    first, second = (Harness.open(tmp_path, wall=lambda: 1_700_000_000.0) for _ in range(2))
    with first, second:
        first.reconcile()
        claimed = [harness.tasks.claim(name) for harness in (first, second, first)]
        assert [one is not None for one in claimed] == [True, False, False]


def test_a_task_that_kills_its_program_is_given_up(tmp_path: Path) -> None:
    name: str | None = lose(tmp_path, 1_700_000_000.0)
    for _ in range(MAX_RESTARTS):
        with contextlib.closing(Harness.open(tmp_path, wall=lambda: 1_700_000_000.0)) as harness:
            harness.reconcile()
            assert name is not None
            new = harness.tasks.claim(name)
            assert new is not None
            name = new.id
    with Harness.open(tmp_path, wall=lambda: 1_700_000_000.0) as harness:
        harness.reconcile()
        assert harness.tasks.claim(name or "") is None
    assert [one.status.value for one in tasks(tmp_path)] == ["interrupted"] * (MAX_RESTARTS + 1)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"restart": "again"}, "do not go on as tasks"),
        ({"restart": "again", "background": True}, "do not go on as tasks"),
        ({"restart": "again", "spillable": True, "side_effects": True}, "side effects"),
        ({"restart": True, "spillable": True}, "cannot be True"),
        ({"restart": "resume", "spillable": True}, "cannot be 'resume'"),
        ({"restart": "continue", "spillable": True}, "no ToolContext"),
    ],
)
def test_a_restart_that_cannot_be_is_refused(options: dict[str, Any], fault: str) -> None:
    with pytest.raises(AgentError, match=fault):
        tool(name="index", **options)(lambda: None)
