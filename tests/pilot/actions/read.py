"""Reading."""

from __future__ import annotations

from tests.support.action_checks import check, filled
from tests.support.console_driver import Driver


@check("scroll-up")
async def _scroll_up(driver: Driver, key: str) -> None:
    end = await filled(driver)
    await driver.press(key)
    assert driver.app.console_screen.transcript.scroll_offset.y == end - 1
    assert "1 line below" in driver.screen()


@check("scroll-down")
async def _scroll_down(driver: Driver, key: str) -> None:
    end = await filled(driver)
    await driver.press("up", "up", key)
    assert driver.app.console_screen.transcript.scroll_offset.y == end - 1


@check("page-up")
async def _page_up(driver: Driver, key: str) -> None:
    end = await filled(driver)
    await driver.press("i", "x", key)
    assert driver.app.console_screen.transcript.scroll_offset.y < end - 5
    assert driver.app.console_screen.prompt.text == "x"


@check("page-down")
async def _page_down(driver: Driver, key: str) -> None:
    end = await filled(driver)
    await driver.press("pageup", key)
    assert driver.app.console_screen.transcript.scroll_offset.y == end


@check("top")
async def _top(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press(key)
    assert driver.app.console_screen.transcript.scroll_offset.y == 0
    assert "Question 0" in driver.screen()


@check("follow")
async def _follow(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press("home")
    assert "lines below" in driver.screen()
    await driver.press(key)
    assert "following" in driver.screen()
    assert "Answer 39" in driver.screen()
