"""The watchers pane."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.collection import negotiating
from tests.support.console_driver import Driver

from gemini_live_runtime.commands import SetBreakpoint, SwitchWatcher
from gemini_live_tui.panes.watchers import WatchersPane


async def watching(driver: Driver) -> WatchersPane:
    """Open the pane with the cursor on the watcher `anger`."""
    negotiating(driver.link)
    await driver.settle()
    driver.app.console_screen.grid.go_to("watchers")
    await driver.settle()
    return driver.app.console_screen.query_one("#watchers", WatchersPane)


@check("watcher-mute")
async def _mute(driver: Driver, key: str) -> None:
    pane = await watching(driver)
    await driver.press(key)
    assert driver.link.orders == [SwitchWatcher(watcher="anger", muted=True)]
    assert "◌ muted     anger" in driver.screen()
    await driver.press(key)
    assert driver.link.orders[-1] == SwitchWatcher(watcher="anger", muted=False)
    assert "○ armed     anger" in driver.screen()
    pane.go_to("pattern:noes")
    await driver.press(key)
    assert "Only watchers can be muted" in driver.screen()


@check("watcher-break")
async def _break(driver: Driver, key: str) -> None:
    await watching(driver)
    await driver.press(key)
    assert driver.link.orders == [SetBreakpoint(kind="watcher", target="anger")]
    assert "anger   ■ break" in driver.screen()
