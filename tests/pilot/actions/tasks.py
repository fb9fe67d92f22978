"""Tasks: their screen, and cancelling one."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.console_driver import Driver

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import CancelTask
from gemini_live_tui.dialogs.tasks import NO_MEMORY, NO_TASK, TasksScreen


def task(status: ev.TaskState = "running", fraction: float | None = 0.4, text: str = "page 4") -> ev.TaskChanged:
    return ev.TaskChanged(
        task_id="task_1", tool="write_report", call_id="c1", status=status, fraction=fraction, text=text
    )


@check("tasks")
async def _tasks(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert isinstance(driver.app.screen, TasksScreen)
    assert NO_TASK in driver.screen()
    assert NO_MEMORY in driver.screen()
    driver.link.emit(task())
    await driver.settle()
    screen = driver.screen()
    for words in ("write_report", "running", "40%", "page 4", "1 task 40%"):
        assert words in screen, words
    driver.link.emit(task("succeeded", 1.0, "12 pages"))
    await driver.settle()
    assert "succeeded" in driver.screen()
    await driver.press("escape")
    assert not isinstance(driver.app.screen, TasksScreen)
    assert "The task write_report has succeeded: 12 pages" in driver.screen()


@check("cancel-task")
async def _cancel_task(driver: Driver, key: str) -> None:
    driver.link.emit(task())
    await driver.settle()
    await driver.press("T")
    await driver.press(key)
    assert driver.link.orders == [CancelTask(task_id="task_1")]
    driver.link.emit(task("cancelled", 0.4, "The operator cancelled it."))
    await driver.settle()
    await driver.press(key)
    assert len(driver.link.orders) == 1
    assert "cancelled" in driver.screen()
