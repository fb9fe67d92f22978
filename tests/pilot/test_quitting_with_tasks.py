"""Quitting asks what becomes of tasks that run."""

from __future__ import annotations

from tests.support.console_driver import console

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import HangUp
from gemini_live_tui.dialogs.confirm import ConfirmScreen

RUNNING = ev.TaskChanged(task_id="task_1", tool="order_taxi", call_id="c1", status="running", fraction=0.4)


async def test_a_task_can_be_left_to_finish() -> None:
    async with console() as driver:
        driver.link.emit(RUNNING)
        await driver.settle()
        await driver.press("ctrl+q")
        assert "A task is running: order_taxi (40%)." in driver.screen()
        await driver.quit("enter")
        assert driver.link.orders == [HangUp(finish_tasks=True)]
        assert driver.app.return_value is not None
        assert "ends once its tasks have" in driver.app.return_value.message


async def test_one_can_stay() -> None:
    async with console() as driver:
        driver.link.emit(RUNNING)
        await driver.settle()
        await driver.press("ctrl+q")
        await driver.press("escape")
        assert not isinstance(driver.app.screen, ConfirmScreen)
        assert driver.link.orders == []


async def test_the_quit_key_interrupts_it() -> None:
    async with console() as driver:
        driver.link.emit(RUNNING)
        await driver.settle()
        await driver.press("ctrl+q")
        await driver.quit("ctrl+q")
        assert driver.link.orders == [HangUp()]


async def test_a_task_that_has_ended_is_no_question() -> None:
    async with console() as driver:
        driver.link.emit(RUNNING)
        driver.link.emit(ev.TaskChanged(task_id="task_1", tool="order_taxi", call_id="c1", status="succeeded"))
        await driver.settle()
        await driver.quit("ctrl+q")
        assert driver.link.orders == [HangUp()]
