"""Going to panes, and what fills the screen."""

from __future__ import annotations

from tests.support.action_checks import CHECKS, Check, check
from tests.support.console_driver import Driver

from gemini_live_tui.pane_layout import PANES
from gemini_live_tui.panes.base import Pane


def _going_to(name: str, title: str) -> Check:
    async def going(driver: Driver, way: str) -> None:
        await driver.press("7" if name != "tools" else "1")
        await driver.press(way)
        screen = driver.app.console_screen
        assert screen.grid.focused_pane == name
        assert screen.query_one(f"#{name}-pane", Pane).display
        assert title in driver.screen()

    return going


for _pane in PANES:
    CHECKS[f"pane-{_pane.id}"] = _going_to(_pane.id, _pane.tab)


@check("zoom")
async def _zoom(driver: Driver, way: str) -> None:
    await driver.pilot.resize_terminal(120, 40)
    await driver.press("7")
    await driver.press(way)
    grid = driver.app.console_screen.grid
    assert [slot.shown for slot in grid.arrangement.slots] == ["tools"]
    assert "7 Tools" in driver.screen()
    await driver.press("7", way)
    assert len(grid.arrangement.slots) > 1


@check("talk-view")
async def _talk_view(driver: Driver, way: str) -> None:
    await driver.pilot.resize_terminal(120, 40)
    await driver.settle()
    grid = driver.app.console_screen.grid
    assert len(grid.arrangement.slots) > 1
    await driver.press(way)
    assert [slot.shown for slot in grid.arrangement.slots] == ["transcript"]
    await driver.press(way)
    assert len(grid.arrangement.slots) > 1


@check("next-pane")
async def _next_pane(driver: Driver, way: str) -> None:
    screen = driver.app.console_screen
    await driver.press("i", *"hello")
    assert "tab Panes" in driver.rows()[-1]
    await driver.press(way)
    assert screen.grid.focused_pane == "transcript"
    assert screen.prompt.text == "hello"
    await driver.press("z", way)
    assert driver.app.focused is screen.prompt


@check("previous-pane")
async def _previous_pane(driver: Driver, way: str) -> None:
    screen = driver.app.console_screen
    await driver.press(way)
    assert driver.app.focused is screen.prompt
    await driver.press(way)
    assert driver.app.focused is not screen.prompt
