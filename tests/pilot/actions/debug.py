"""Holding, stepping, marking, breaking."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.collection import negotiating
from tests.support.console_driver import BY_NAME, Driver

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import HoldAgent, ReleaseAgent, RemoveBreakpoint, SetBreakpoint, SetMark


async def held(driver: Driver) -> None:
    """Hold the agent at a watcher."""
    driver.link.emit(ev.AgentHeld(by="b1", at="watcher no_consent"), ev.AgentHolding(answers=1, steps=3))
    driver.link.sent.clear()
    await driver.settle()


async def broken(driver: Driver) -> None:
    """Set two breakpoints and open the screen that lists them."""
    driver.link.breakpoints = [
        {"id": "b1", "kind": "watcher", "target": "no_consent", "enabled": True, "hits": 2},
        {"id": "b2", "kind": "expression", "target": "app:n > 3", "enabled": False, "hits": 0},
    ]
    driver.link.emit(ev.BreakpointsChanged(breakpoints=tuple(driver.link.breakpoints)))
    await driver.press(f"{BY_NAME}breakpoints")


@check("pause")
async def _pause(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert driver.link.orders == [HoldAgent()]
    assert "LISTENING   HELD" in driver.rows()[0]
    assert " HELD  at the next decision" in driver.screen()
    await driver.press(key)
    assert driver.link.orders[-1] == ReleaseAgent(how="continue")
    assert "HELD" not in driver.rows()[0]


@check("step")
async def _step(driver: Driver, key: str) -> None:
    await held(driver)
    assert "HELD  at watcher no_consent · 0 s · 1 answer, 3 decisions wait" in driver.screen()
    await driver.press(key)
    assert driver.link.orders == [ReleaseAgent(how="event")]
    assert "HELD" not in driver.rows()[0]


@check("step-turn")
async def _step_turn(driver: Driver, key: str) -> None:
    await held(driver)
    await driver.press(key)
    assert driver.link.orders == [ReleaseAgent(how="turn")]
    assert "resumed until the turn ends" in driver.screen()


@check("mark")
async def _mark(driver: Driver, key: str) -> None:
    moment = driver.app.store.moment
    await driver.press(key)
    assert "A note, or nothing" in driver.screen()
    driver.link.exchange("Something is said", "meanwhile")
    await driver.settle()
    await driver.press("o", "d", "d", "enter")
    assert driver.link.orders == [SetMark(text="odd", of=moment[0], t=moment[1])]
    assert "mark   odd" in driver.screen()


@check("continue")
async def _continue(driver: Driver, way: str) -> None:
    await held(driver)
    await driver.press(way)
    assert driver.link.orders == [ReleaseAgent(how="continue")]
    assert "HELD" not in driver.rows()[0]


@check("marks")
async def _marks(driver: Driver, key: str) -> None:
    driver.link.emit(ev.MarkSet(text="that was odd"), ev.MarkSet())
    await driver.press(key)
    assert "00:00  that was odd" in driver.screen()
    assert "00:00  marked" in driver.screen()
    driver.link.emit(ev.MarkSet(text="and that"))
    await driver.settle()
    assert "00:00  and that" in driver.screen()
    await driver.press("home", "enter")
    assert driver.app.screen is driver.app.console_screen
    assert driver.app.store.cursor.seq == driver.app.store.view.agent_view.marks[0].of


@check("break")
async def _break(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert "› /break" in driver.screen()
    await driver.press(*"expression app:n > 3", "enter")
    assert driver.link.orders == [SetBreakpoint(kind="expression", target="app:n > 3")]
    assert "The agent will be held at the expression app:n > 3." in driver.screen()
    await driver.press(*"/break nothing app:n", "enter")
    assert "one of watcher, phase, transition, tool, key, expression" in driver.screen()
    await driver.press(f"{BY_NAME}breakpoints")
    assert "app:n > 3" in driver.screen()


@check("breakpoints")
async def _breakpoints(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert "The agent is held nowhere. a adds one" in driver.screen()
    await driver.press("escape")
    await broken(driver)
    assert "■  watcher    no_consent" in driver.screen()
    assert "app:n > 3" in driver.screen()
    assert "2 hits" in driver.screen()
    await held(driver)
    assert "held here" in driver.screen()


@check("breakpoint-add")
async def _add(driver: Driver, key: str) -> None:
    driver.link.emit(ev.AgentDescribed(agent="x", tools=({"name": "lookup"}, {"name": "pay"})))
    await broken(driver)
    await driver.press(key)
    assert "[watcher]" in driver.screen()
    await driver.press("right", "right", "right", "enter")
    assert "lookup · pay" in driver.screen()
    await driver.press("l", "o")
    await driver.press("right", "enter")
    assert driver.link.orders == [SetBreakpoint(kind="tool", target="lookup")]
    assert "tool       lookup" in driver.screen()


@check("breakpoint-change")
async def _change(driver: Driver, key: str) -> None:
    await broken(driver)
    await driver.press("down", key)
    assert "[expression]" in driver.screen()
    await driver.press("end", "0", "enter")
    assert driver.link.orders == [SetBreakpoint(kind="expression", target="app:n > 30", id="b2")]
    assert "app:n > 30" in driver.screen()


@check("breakpoint-switch")
async def _switch(driver: Driver, key: str) -> None:
    await broken(driver)
    await driver.press(key)
    assert driver.link.orders == [SetBreakpoint(kind="watcher", target="", enabled=False, id="b1")]
    row = next(row for row in driver.rows() if "no_consent" in row)
    assert "off" in row
    assert "■" not in row


@check("breakpoint-forget")
async def _forget(driver: Driver, key: str) -> None:
    await broken(driver)
    await driver.press(key)
    assert driver.link.orders == [RemoveBreakpoint(id="b1")]
    assert "no_consent" not in driver.screen()
    assert "app:n > 3" in driver.screen()


@check("phase-break")
async def _phase_break(driver: Driver, key: str) -> None:
    negotiating(driver.link)
    await driver.settle()
    driver.app.console_screen.grid.go_to("phase")
    await driver.press(key)
    assert driver.link.orders == [SetBreakpoint(kind="phase", target="negotiate")]
    assert "negotiate ■ break" in driver.screen()
    await driver.press("down")
    await driver.press("down")
    await driver.press(key)
    assert driver.link.orders[-1] == SetBreakpoint(kind="transition", target="negotiate>paid")
    assert "paid     ■ break" in driver.screen()
    await driver.press(key)
    assert driver.link.orders[-1] == RemoveBreakpoint(id="b2")
    assert "paid     ■ break" not in driver.screen()


@check("tool-break")
async def _tool_break(driver: Driver, key: str) -> None:
    driver.link.call_tool("lookup", {"name": "Ada"}, {"found": True})
    driver.app.console_screen.grid.go_to("tools")
    await driver.settle()
    await driver.press(key)
    assert driver.link.orders == [SetBreakpoint(kind="tool", target="lookup")]
    assert 'lookup ■ break (name="Ada")' in driver.screen()
    await driver.press(key)
    assert driver.link.orders[-1] == RemoveBreakpoint(id="b1")
    assert "■ break" not in driver.screen()
