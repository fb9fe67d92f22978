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


@check("search")
async def _search(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press("4")
    await driver.press(key)
    assert driver.app.focused is driver.app.console_screen.body.search
    assert "esc End search" in driver.rows()[-1]
    await driver.press(*"question 7")
    assert "found 1 of 1" in driver.screen()
    assert "Question 7" in driver.screen()
    await driver.press("escape")
    assert driver.app.focused is driver.app.console_screen.transcript
    assert not driver.app.console_screen.body.search.display
    assert driver.link.orders == []


@check("search-older")
async def _search_older(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press(key)
    assert "Nothing is searched for yet." in driver.screen()
    await driver.press("ctrl+f", *"answer 1", "enter")
    assert "found 1 of 11" in driver.screen()
    assert "Answer 19" in driver.screen()
    await driver.press(key, key)
    assert "found 3 of 11" in driver.screen()
    assert "Answer 17" in driver.screen()


@check("search-newer")
async def _search_newer(driver: Driver, key: str) -> None:
    await filled(driver)
    await driver.press("ctrl+f", *"answer 1", "enter")
    await driver.press("n", key)
    assert "found 1 of 11" in driver.screen()
    await driver.press(key)
    assert "The search goes on from the other end." in driver.screen()
    assert "found 11 of 11" in driver.screen()
    assert "Answer 1" in driver.screen()
