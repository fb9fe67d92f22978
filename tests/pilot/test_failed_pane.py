"""A pane that raises shows its error, and comes back when it works again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.support.console_driver import Driver, console

from gemini_live_tui.panes import tools
from gemini_live_tui.panes.base import FAILED_S
from gemini_live_tui.panes.phase import PhasePane
from gemini_live_tui.panes.tools import Tools
from gemini_live_tui.widgets.line_list import LineList


@contextmanager
def broken(owner: type, method: str, error: str = "no such leg") -> Iterator[None]:
    """While this lasts, a method raises."""

    def breaks(*_: Any, **__: Any) -> Any:
        raise ValueError(error)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owner, method, breaks)
        yield


async def call_a_tool(driver: Driver) -> None:
    driver.link.call_tool("weather", {"city": "Malmö"}, {"degrees": 21})
    await driver.settle()


async def later(driver: Driver) -> None:
    driver.clock.advance(FAILED_S + 0.1)
    await driver.settle()


async def failed(driver: Driver) -> None:
    await driver.press("7")
    with broken(Tools, "show"):
        await call_a_tool(driver)


async def test_a_pane_that_raises_says_so_while_everything_else_goes_on() -> None:
    async with console(size=(120, 36)) as driver:
        with broken(Tools, "show"):
            await driver.press("7")
            await call_a_tool(driver)
            assert "This pane failed: ValueError: no such leg" in driver.screen()
            assert "y copies the details" in driver.screen()
            driver.link.exchange("Are you there?", "I am.")
            await driver.settle()
            assert "I am." in driver.screen()
            await driver.press("4")
            assert driver.app.console_screen.grid.focused_pane == "state"


async def test_the_copy_key_of_a_failed_pane_holds_while_its_place_has_the_focus() -> None:
    async with console(size=(120, 36)) as driver:
        await failed(driver)
        assert "y Copy" in driver.rows()[-1]
        await driver.press("y")
        assert "ValueError: no such leg" in driver.app.clipboard
        assert "Traceback" in driver.app.clipboard
        assert "Copied what went wrong" in driver.screen()
        await driver.press("1", "7")
        driver.app.copy_to_clipboard("")
        await driver.press("y")
        assert "no such leg" in driver.app.clipboard


async def test_a_failed_pane_comes_back_with_what_happened_meanwhile_and_keeps_the_focus() -> None:
    async with console(size=(120, 36)) as driver:
        await failed(driver)
        await later(driver)
        assert "This pane failed" not in driver.screen()
        assert "weather" in driver.screen()
        await driver.press("down")
        assert isinstance(driver.app.focused, Tools)


async def test_a_pane_that_fails_twice_alike_is_tried_again_though_nothing_happens() -> None:
    async with console(size=(120, 36)) as driver:
        await driver.press("7")
        with broken(Tools, "show"):
            await call_a_tool(driver)
            await later(driver)
            await later(driver)
            assert "This pane failed" in driver.screen()
        await later(driver)
        assert "This pane failed" not in driver.screen()


async def test_what_a_pane_does_upon_a_message_costs_that_pane_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console(size=(120, 36)) as driver:
        await call_a_tool(driver)
        await driver.press("7")

        def breaks(*_: Any, **__: Any) -> None:
            raise ValueError("no such leg")

        monkeypatch.setattr(tools, "ShowDetails", breaks)
        await driver.press("enter")
        assert driver.app.is_running
        assert "This pane failed: ValueError: no such leg" in driver.screen()


@pytest.mark.parametrize(
    ("owner", "method", "key", "about"),
    [
        (Tools, "row_runs", "7", "Tools"),
        (PhasePane, "row_runs", "2", "Phase"),
        (LineList, "render_line", "1", "Transcript"),
    ],
)
async def test_a_pane_that_cannot_paint_its_rows_fails_alone(owner: type, method: str, key: str, about: str) -> None:
    async with console(size=(120, 36)) as driver:
        await call_a_tool(driver)
        with broken(owner, method):
            await driver.press(key)
            await driver.pilot.resize_terminal(121, 36)
            await driver.settle()
            assert "This pane failed: ValueError: no such leg" in driver.screen(), about
            await later(driver)
            assert "This pane failed: ValueError: no such leg" in driver.screen(), about
        await later(driver)
        assert "This pane failed" not in driver.screen(), about


async def test_a_key_of_a_pane_that_raises_costs_that_pane_only() -> None:
    async with console(size=(120, 36)) as driver:
        await driver.press("9")
        with broken(type(driver.app.focused), "action_copy_log"):
            await driver.press("y")
        assert "This pane failed: ValueError: no such leg" in driver.screen()
        await later(driver)
        assert "This pane failed" not in driver.screen()


async def test_what_an_error_says_is_text_and_has_an_end() -> None:
    async with console(size=(120, 36)) as driver:
        await driver.press("7")
        with broken(Tools, "show", "\x1b[2J[bold]x[/]" + "leg" * 10_000):
            await call_a_tool(driver)
        assert "\x1b" not in driver.screen()
        assert "[bold]x[/]" in driver.screen()
        assert "Everything else goes on" in driver.screen()
