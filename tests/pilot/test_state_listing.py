"""The state pane's listing is restored by the next start."""

from __future__ import annotations

from pathlib import Path

from tests.pilot.actions.state import listed
from tests.support.collection import negotiating
from tests.support.console_driver import console

from gemini_live_runtime import events as ev
from gemini_live_tui.editors.state import StateEditor
from gemini_live_tui.panes.state import StatePane


async def test_pinned_keys_folded_scopes_and_the_order_outlive_the_console(tmp_path: Path) -> None:
    memory = tmp_path / "console.json"
    async with console(memory=memory) as driver:
        pane = await listed(driver)
        await driver.press("*")
        assert pane.list.go_to("=user")
        await driver.press("left")
        rows = list(pane.list.rows)
        assert rows[:2] == ["=pinned", "^app:anger"]
    async with console(memory=memory) as driver:
        pane = await listed(driver)
        assert list(pane.list.rows) == rows
        await driver.press("s")
    async with console(memory=memory) as driver:
        await listed(driver)
        assert "changed first" in driver.screen()


async def test_the_cursor_begins_on_a_key_not_on_the_heading_of_its_scope() -> None:
    async with console() as driver:
        negotiating(driver.link)
        await driver.settle()
        await driver.press("4")
        pane = driver.app.console_screen.query_one("#state", StatePane)
        assert pane.list.rows[:2] == ["=app", "-app:anger"]
        await driver.press("e")
        assert isinstance(driver.app.screen, StateEditor)
        await driver.press("escape")
        await driver.press("up")
        assert pane.list.row_at_cursor == "=app"
        driver.link.emit(ev.StateChanged(key="app:added", old=None, new=1, mutation=99, origin="agent", added=True))
        await driver.settle()
        assert pane.list.row_at_cursor == "=app"
