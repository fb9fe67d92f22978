"""The state pane's listing is restored by the next start."""

from __future__ import annotations

from pathlib import Path

from tests.pilot.actions.state import listed
from tests.support.console_driver import console


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
