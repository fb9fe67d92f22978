"""Changing the agent, by commands."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.console_driver import Driver

from gemini_live_runtime.commands import (
    EditState,
    FireWatcher,
    GiveContext,
    GoToPhase,
    HandOff,
    RedoEdit,
    SetInstruction,
    SwitchWatcher,
    UndoEdit,
)


async def _written(driver: Driver, way: str, command: str, rest: str) -> None:
    """Write a command that needs more: chosen by name it begins in the prompt."""
    if way.startswith("/"):
        await driver.press(f"{way}{rest}")
    else:
        await driver.press(way)
        assert driver.app.console_screen.prompt.text == f"/{command} "
        await driver.press(*rest, "enter")


@check("set-key")
async def _set_key(driver: Driver, way: str) -> None:
    await _written(driver, way, "set", 'app:plan = "gold"')
    assert driver.link.orders == [EditState(edits=({"key": "app:plan", "value": "gold"},))]
    assert "you set app:plan = gold" in driver.screen()


@check("unset-key")
async def _unset_key(driver: Driver, way: str) -> None:
    await _written(driver, way, "unset", "app:plan")
    assert driver.link.orders == [EditState(edits=({"key": "app:plan", "remove": True},))]
    assert "you set app:plan removed" in driver.screen()


@check("undo")
async def _undo(driver: Driver, way: str) -> None:
    await driver.press("/set app:plan = 1")
    await driver.press(way)
    assert driver.link.orders[-1] == UndoEdit()
    assert "you undid app:plan" in driver.screen()


@check("redo")
async def _redo(driver: Driver, way: str) -> None:
    await driver.press("/set app:plan = 1")
    await driver.press("/undo")
    await driver.press(way)
    assert driver.link.orders[-1] == RedoEdit()
    assert "you redid app:plan" in driver.screen()


@check("go-to-phase")
async def _go_to_phase(driver: Driver, way: str) -> None:
    await _written(driver, way, "goto", "close")
    assert driver.link.orders == [GoToPhase(phase="close")]
    assert "greet → close" in driver.screen()


@check("hand-off")
async def _hand_off(driver: Driver, way: str) -> None:
    await driver.press(f"{way}specialist")
    assert driver.link.orders == [HandOff(agent="specialist")]


@check("fire-watcher")
async def _fire_watcher(driver: Driver, way: str) -> None:
    await _written(driver, way, "fire", "angry")
    assert driver.link.orders == [FireWatcher(watcher="angry")]
    assert "angry" in driver.screen()


@check("switch-watcher")
async def _switch_watcher(driver: Driver, way: str) -> None:
    await _written(driver, way, "mute-watcher", "angry")
    assert driver.link.orders == [SwitchWatcher(watcher="angry", muted=True)]
    assert "watcher angry muted" in driver.screen()


@check("give-context")
async def _give_context(driver: Driver, way: str) -> None:
    await _written(driver, way, "context", "The caller is upset.")
    assert driver.link.orders == [GiveContext(text="The caller is upset.")]
    assert "The model is told" in driver.screen()


@check("set-instruction")
async def _set_instruction(driver: Driver, way: str) -> None:
    await _written(driver, way, "instruction", "Be brief.")
    assert driver.link.orders == [SetInstruction(text="Be brief.")]
    assert "The agent's instruction is replaced" in driver.screen()
