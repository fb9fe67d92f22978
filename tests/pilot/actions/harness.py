"""Tasks, notifications and memory: their pane and all that can be done there."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.action_checks import check
from tests.support.console_driver import Driver
from tests.support.harness_records import confirm, done, press, queue, records, remember, tasks_pane, with_records

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import CancelTask
from gemini_live_runtime.harness.store import Harness
from gemini_live_tui.harness.memory_editor import MemoryEditor


def task(status: ev.TaskState = "running", fraction: float | None = 0.4, text: str = "page 4") -> ev.TaskChanged:
    return ev.TaskChanged(
        task_id="task_1", tool="write_report", call_id="c1", status=status, fraction=fraction, text=text
    )


@asynccontextmanager
async def opened(driver: Driver, part: str) -> AsyncIterator[Harness]:
    """Show a part of records with two notifications and two memories."""
    with TemporaryDirectory() as folder, records(Path(folder), age_s=120.0) as harness:
        queue(harness)
        queue(harness, "the door is open")
        remember(harness)
        remember(harness, "diet", {"kind": "vegetarian"})
        await press(driver, "T")
        await with_records(driver, Path(folder))
        tasks_pane(driver).action_part(part)
        await done(driver)
        yield harness
        # The folder goes while nothing of the console uses it.
        await done(driver)


@check("pane-tasks")
async def _pane(driver: Driver, way: str) -> None:
    assert "The session has told of no task." in await press(driver, way)
    assert driver.app.console_screen.grid.focused_pane == "tasks"


@check("tasks")
async def _tasks(driver: Driver, way: str) -> None:
    await press(driver, "right", way)
    assert tasks_pane(driver).parts.shown == "tasks"
    driver.link.emit(task())
    await driver.settle()
    for words in ("write_report", "running", "40%", "page 4", "1 task 40%", "Tasks 1"):
        assert words in driver.screen(), words
    driver.link.emit(task("succeeded", 1.0, "12 pages"))
    await driver.settle()
    assert "succeeded" in driver.screen()
    await driver.press("1")
    assert "The task write_report has succeeded: 12 pages" in driver.screen()


@check("notifications")
async def _notifications(driver: Driver, way: str) -> None:
    assert "The session has told of no notification." in await press(driver, way)
    told = ev.NotificationChanged(
        notification_id="n1", status="queued", title="the oven", reason="you are speaking", source="cron"
    )
    driver.link.emit(told)
    await driver.settle()
    for words in ("waits", "the oven", "you are speaking", "Notifications 1", "1 notification "):
        assert words in driver.screen(), words


@check("memory")
async def _memory(driver: Driver, way: str) -> None:
    assert "The session has told of no change of memory." in await press(driver, way)
    driver.link.emit(ev.MemoryChanged(scope="user", key="name", action="put", value="Ada"))
    await driver.settle()
    for words in ("user", "name", "Ada", "model", "Memory 1"):
        assert words in driver.screen(), words


@check("harness-next")
async def _next(driver: Driver, way: str) -> None:
    await press(driver, "T", way)
    assert tasks_pane(driver).parts.shown == "notifications"
    await press(driver, way, way)
    assert tasks_pane(driver).parts.shown == "tasks"


@check("harness-previous")
async def _previous(driver: Driver, way: str) -> None:
    await press(driver, "T", way)
    assert tasks_pane(driver).parts.shown == "memory"


@check("harness-file")
async def _file(driver: Driver, way: str) -> None:
    async with opened(driver, "notifications") as harness:
        await press(driver, way)
        path = harness.paths.notification(harness.notifications.find().records[0].id)
        assert driver.app.clipboard == str(path)
        assert "Copied the path" in driver.screen()


@check("cancel-task")
async def _cancel_task(driver: Driver, way: str) -> None:
    driver.link.emit(task())
    await press(driver, "T", way)
    assert "Cancel write_report?" in driver.screen()
    await press(driver, "escape")
    assert driver.link.orders == []
    await press(driver, way)
    await confirm(driver)
    assert driver.link.orders == [CancelTask(task_id="task_1")]
    driver.link.emit(task("cancelled", 0.4, "The operator cancelled it."))
    await driver.settle()
    assert "Only a running task can be cancelled." in await press(driver, way)


@check("acknowledge")
async def _acknowledge(driver: Driver, way: str) -> None:
    async with opened(driver, "notifications") as harness:
        assert "Acknowledged: the oven is ready." in await press(driver, way)
        assert sorted(one.status.value for one in harness.notifications.find().records) == ["acknowledged", "queued"]


@check("queue-again")
async def _queue_again(driver: Driver, way: str) -> None:
    async with opened(driver, "notifications") as harness:
        assert "It waits already." in await press(driver, way)
        await press(driver, "H", "end")
        assert "Queued again: the oven is ready." in await press(driver, way)
        assert [one.title for one in harness.notifications.find().records].count("the oven is ready") == 2


@check("harness-delete")
async def _delete(driver: Driver, way: str) -> None:
    async with opened(driver, "memory") as harness:
        await press(driver, way)
        assert "Delete user/diet?" in driver.screen()
        await confirm(driver)
        assert "Deleted: user/diet. u takes it back." in driver.screen()
        assert [one.key for one in harness.memory.find().records] == ["name"]
        await press(driver, "left", way)
        assert [one.title for one in harness.notifications.find().records] == ["the door is open"]


@check("harness-undo")
async def _undo(driver: Driver, way: str) -> None:
    async with opened(driver, "memory") as harness:
        assert "Nothing was deleted here." in await press(driver, way)
        await press(driver, "delete", "enter", "left", "delete")
        assert "Restored: the oven is ready." in await press(driver, way)
        assert "Restored: user/diet." in await press(driver, way)
        assert harness.memory.get("user", "diet").value == {"kind": "vegetarian"}
        assert len(harness.notifications.find().records) == 2


@check("memory-search")
async def _search(driver: Driver, way: str) -> None:
    async with opened(driver, "memory"):
        # Typed as one, as fast as a terminal can deliver them.
        await driver.press(way, *"vege")
        await done(driver)
        assert tasks_pane(driver).parts.memories.rows == ["memory:user/diet"]
        assert "No memory has any of these words." in await press(driver, "x")
        await press(driver, "escape")
        assert len(tasks_pane(driver).parts.memories.rows) == 3


@check("memory-edit")
async def _edit(driver: Driver, way: str) -> None:
    async with opened(driver, "memory") as harness:
        await press(driver, "down", way)
        editor = driver.app.screen
        assert isinstance(editor, MemoryEditor)
        editor.area.text = "Ada Lovelace"
        assert "Remembered user/name: Ada Lovelace" in await press(driver, "ctrl+s")
        memory = harness.memory.get("user", "name")
        assert memory.value == "Ada Lovelace"
        assert memory.provenance is not None
        assert memory.provenance.author == "operator"


@check("memory-add")
async def _add(driver: Driver, way: str) -> None:
    async with opened(driver, "memory") as harness:
        await press(driver, way, *"room", "enter", *"212", "f5")
        assert harness.memory.get("user", "room").value == "212"
        assert "room" in driver.screen()


@check("memory-write")
async def _write(driver: Driver, way: str) -> None:
    async with opened(driver, "memory") as harness:
        await press(driver, "down", "e", *" L.", way)
        assert harness.memory.get("user", "name").value == "Ada L."
        assert driver.app.screen is driver.app.console_screen


@check("memory-kind")
async def _kind(driver: Driver, way: str) -> None:
    async with opened(driver, "memory") as harness:
        await press(driver, "down", "e")
        editor = driver.app.screen
        assert isinstance(editor, MemoryEditor)
        editor.area.text = "[1, 2"
        assert "line 1, column 6: a comma" in await press(driver, way, "f5")
        editor.area.text = "[1, 2]"
        await press(driver, "f5")
        assert harness.memory.get("user", "name").value == [1, 2]


async def _conflict(driver: Driver, harness: Harness) -> None:
    """Write another value while one is edited."""
    await press(driver, "down", "e", *" L.")
    remember(harness, value="Grace")
    assert "Another program has written 'Grace' meanwhile" in await press(driver, "f5")
    assert harness.memory.get("user", "name").value == "Grace"


@check("memory-keep-mine")
async def _keep_mine(driver: Driver, way: str) -> None:
    async with opened(driver, "memory") as harness:
        await _conflict(driver, harness)
        await press(driver, way)
        assert harness.memory.get("user", "name").value == "Ada L."


@check("memory-take-theirs")
async def _take_theirs(driver: Driver, way: str) -> None:
    async with opened(driver, "memory") as harness:
        await _conflict(driver, harness)
        await press(driver, way)
        editor = driver.app.screen
        assert isinstance(editor, MemoryEditor)
        assert editor.area.text == "Grace"
        assert not editor.unsaved
