"""The state pane: what is listed, copied and changed."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.collection import negotiating
from tests.support.console_driver import Driver

from gemini_live_runtime.commands import EditState, RedoEdit, SetBreakpoint, UndoEdit
from gemini_live_tui.panes.state import StatePane


async def listed(driver: Driver, key: str = "app:anger") -> StatePane:
    """Open the pane with the cursor on a key, when no change is marked any more."""
    negotiating(driver.link)
    await driver.settle()
    driver.app.console_screen.grid.go_to("state")
    driver.clock.advance(5)
    await driver.settle()
    pane = driver.app.console_screen.query_one("#state", StatePane)
    assert pane.list.go_to(f"-{key}")
    return pane


@check("state-filter")
async def _filter(driver: Driver, key: str) -> None:
    pane = await listed(driver)
    await driver.press(key)
    await driver.press(*"ang")
    assert pane.list.rows == ["=app", "-app:anger"]
    await driver.press("enter")
    assert driver.app.focused is pane.list
    assert "ang" in driver.rows()[3]
    await driver.press(key)
    await driver.press("escape")
    assert "-user:name" in pane.list.rows
    assert driver.app.focused is pane.list


@check("state-order")
async def _order(driver: Driver, key: str) -> None:
    pane = await listed(driver)
    await driver.press(key)
    assert pane.list.rows[:3] == ["=app", "-app:paid", "-app:anger"]
    assert "changed first" in driver.screen()
    await driver.press(key)
    assert pane.list.rows[1] == "-app:anger"


@check("state-fold")
async def _fold(driver: Driver, key: str) -> None:
    pane = await listed(driver)
    await driver.press(key)
    assert "-app:anger" not in pane.list.rows
    assert pane.list.row_at_cursor == "=app"
    assert "▸ app  4" in driver.screen()


@check("state-unfold")
async def _unfold(driver: Driver, key: str) -> None:
    pane = await listed(driver)
    assert pane.list.go_to("=session")
    await driver.press(key)
    assert "-session:is_model_speaking" in pane.list.rows


@check("state-pin")
async def _pin(driver: Driver, key: str) -> None:
    pane = await listed(driver)
    await driver.press(key)
    assert pane.list.rows[:2] == ["=pinned", "^app:anger"]
    assert "app:anger" in driver.screen()
    await driver.press(key)
    assert pane.list.rows[0] == "=app"


@check("state-copy")
async def _copy(driver: Driver, key: str) -> None:
    await listed(driver, "user:name")
    await driver.press(key)
    assert driver.app.clipboard == '"Maria Lopez"'
    assert "Copied the value of user:name" in driver.screen()


@check("state-copy-scope")
async def _copy_scope(driver: Driver, key: str) -> None:
    await listed(driver, "user:name")
    await driver.press(key)
    assert driver.app.clipboard == '{\n  "user:name": "Maria Lopez"\n}'
    assert "Copied the scope user" in driver.screen()


@check("state-delete")
async def _delete(driver: Driver, key: str) -> None:
    pane = await listed(driver)
    await driver.press(key)
    assert driver.link.orders == [EditState(edits=({"key": "app:anger", "remove": True, "expect": 0.31},))]
    assert "-app:anger" not in pane.list.rows
    assert "u brings it back" in driver.screen()
    assert "1 to undo" in driver.screen()


@check("state-undo")
async def _undo(driver: Driver, key: str) -> None:
    pane = await listed(driver)
    await driver.press("delete")
    await driver.press(key)
    assert driver.link.orders[-1] == UndoEdit()
    assert "-app:anger" in pane.list.rows
    assert "1 to redo" in driver.screen()


@check("state-redo")
async def _redo(driver: Driver, key: str) -> None:
    pane = await listed(driver)
    await driver.press("delete")
    await driver.press("u")
    await driver.press(key)
    assert driver.link.orders[-1] == RedoEdit()
    assert "-app:anger" not in pane.list.rows
    await driver.press(key)
    assert "There is nothing to redo." in driver.screen()


@check("state-break")
async def _break(driver: Driver, key: str) -> None:
    await listed(driver)
    await driver.press(key)
    assert driver.link.orders == [SetBreakpoint(kind="key", target="app:anger")]
    assert "■ anger" in driver.screen()
