"""The key that explains what is under the cursor, in each pane."""

from __future__ import annotations

import pytest
from tests.support.collection import negotiating
from tests.support.console_driver import Driver, console

from gemini_live_runtime import events as ev
from gemini_live_tui.dialogs.why import WhyScreen


def ordered(driver: Driver) -> None:
    """Take an order by a call that writes a key; another is computed of it."""
    link = driver.link
    link.emit(ev.AgentDescribed(agent="restaurant", computed=({"key": "derived:total", "inputs": ["app:items"]},)))
    link.emit(ev.PhaseEntered(phase="order", trigger="initial"))
    link.begin_turn("typed")
    link.emit(ev.TextSent(text="two pasta please", command_id="c1"))
    link.emit(ev.ToolCalled(call_id="one", name="add_item", args={"dish": "pasta"}))
    link.emit(
        ev.StateChanged(
            key="app:items", old=None, new={"pasta": 2}, mutation=1, origin="tool", by="add_item", added=True
        ),
        ev.StateChanged(key="derived:total", old=0, new=22, mutation=2, origin="computed", by="total"),
        ev.ToolFinished(
            call_id="one", name="add_item", status="ok", result={"total": "22 dollars"}, ms=1.0, delivered=True
        ),
    )
    link.exchange("and a coffee", "Anything else?")


async def on(driver: Driver, key: str) -> None:
    """Put the cursor of the pane State on a key."""
    await driver.press("4")
    pane = driver.app.console_screen.grid.panes["state"].body
    pane.list.go_to(f"-{key}")  # type: ignore[attr-defined]
    await driver.settle()


async def test_a_key_is_explained_by_its_writer_and_by_what_was_said() -> None:
    async with console(size=(120, 36)) as driver:
        ordered(driver)
        await driver.settle()
        await on(driver, "app:items")
        await driver.press("ctrl+e")
        said = driver.words()
    assert "Why: app:items was written" in said
    assert "The tool add_item wrote it." in said
    assert "after you wrote: “two pasta please”" in said


async def test_a_computed_key_is_explained_by_the_keys_that_it_reads() -> None:
    async with console(size=(120, 36)) as driver:
        ordered(driver)
        await driver.settle()
        await on(driver, "derived:total")
        await driver.press("ctrl+e")
        said = driver.words()
    assert "It is computed from other keys." in said
    assert 'app:items not set → {"pasta":2}' in said


async def test_a_call_is_explained_by_utterance_agent_and_phase() -> None:
    async with console(size=(120, 36)) as driver:
        ordered(driver)
        await driver.settle()
        await driver.press("7")
        await driver.press("ctrl+e")
        said = driver.words()
    assert "Why: add_item was called" in said
    assert "after you wrote: “two pasta please”" in said
    assert "agent concierge" in said
    assert "phase order" in said


async def test_an_event_is_explained_where_it_can_be() -> None:
    async with console(size=(120, 36)) as driver:
        ordered(driver)
        await driver.settle()
        await driver.press("8")
        await driver.press("f")
        await driver.press(*"tool.finished", "enter")
        await driver.press("ctrl+e")
        assert "Why: add_item was called" in driver.words()


async def test_without_a_row_to_explain_the_newest_decision_says_that_it_is_that() -> None:
    async with console(size=(120, 36)) as driver:
        ordered(driver)
        await driver.settle()
        await driver.press("6")
        await driver.press("ctrl+e")
        assert isinstance(driver.app.screen, WhyScreen)
        assert "The newest decision;" in driver.words()
        assert "Why: order, the first phase" in driver.words()


@pytest.mark.parametrize("fires", [True, False])
async def test_a_watcher_is_explained_by_its_last_firing(fires: bool) -> None:
    async with console(size=(120, 36)) as driver:
        call = negotiating(driver.link)
        if fires:
            call.anger()
        await driver.settle()
        await driver.press("3")
        await driver.press("ctrl+e")
        assert ("Why: anger fired" if fires else "anger has not fired yet") in driver.words()
