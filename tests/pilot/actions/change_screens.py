"""The screens in which one changes what the agent knows and does."""

from __future__ import annotations

from tests.pilot.actions.state import listed
from tests.pilot.actions.watchers import watching
from tests.support.action_checks import check
from tests.support.collection import negotiating
from tests.support.console_driver import BY_NAME, Driver

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import (
    EditState,
    FireWatcher,
    GiveContext,
    GoToPhase,
    PreviewEdit,
    PreviewPhase,
    SendText,
    SetBreakpoint,
    SetInstruction,
    SwitchWatcher,
)
from gemini_live_tui.editors.import_state import ImportState
from gemini_live_tui.editors.model_input import GiveContextScreen, InstructionScreen
from gemini_live_tui.editors.phase_override import PhaseOverride
from gemini_live_tui.editors.state import StateEditor
from gemini_live_tui.editors.watcher import WatcherScreen


async def editing(driver: Driver, key: str = "app:anger") -> StateEditor:
    """Open the editor on a key."""
    await listed(driver, key)
    await driver.press(f"{BY_NAME}state-edit")
    assert isinstance(driver.app.screen, StateEditor)
    return driver.app.screen


def written(driver: Driver) -> list[EditState]:
    """Return the edits that were sent."""
    return [order for order in driver.link.orders if isinstance(order, EditState)]


@check("state-edit")
async def _edit(driver: Driver, key: str) -> None:
    await listed(driver)
    driver.link.foreseen = {"phase": "disputed"}
    await driver.press(key)
    assert isinstance(driver.app.screen, StateEditor)
    assert driver.link.orders == [PreviewEdit(edits=({"key": "app:anger", "value": 0.31},))]
    assert "Edit app:anger (0.31)" in driver.screen()
    assert "the conversation goes to disputed" in driver.screen()


@check("state-add")
async def _add(driver: Driver, way: str) -> None:
    await listed(driver)
    await driver.press(way)
    assert isinstance(driver.app.screen, StateEditor)
    driver.app.screen.key_field.value = "app:plan"
    driver.app.screen.area.text = '"gold"'
    await driver.press("ctrl+s")
    edit = {"key": "app:plan", "value": "gold", "expect_absent": True}
    assert written(driver) == [EditState(edits=(edit,))]
    assert driver.app.screen is driver.app.console_screen
    assert "you set app:plan = gold" in " ".join(block.text for block in driver.app.store.view.blocks)


@check("state-import")
async def _import(driver: Driver, way: str) -> None:
    await listed(driver)
    await driver.press(way)
    screen = driver.app.screen
    assert isinstance(screen, ImportState)
    screen.area.text = '{"app:plan": "gold", "user:name": "Ruiz"}'
    await driver.settle()
    assert "2 keys, written all together or not at all" in driver.screen()
    await driver.press("ctrl+s")
    edits = ({"key": "app:plan", "value": "gold"}, {"key": "user:name", "value": "Ruiz"})
    assert written(driver) == [EditState(edits=edits)]
    assert driver.app.screen is driver.app.console_screen


@check("editor-apply")
async def _apply(driver: Driver, key: str) -> None:
    screen = await editing(driver)
    screen.area.text = "0.95"
    await driver.settle()
    await driver.press(key)
    assert written(driver) == [EditState(edits=({"key": "app:anger", "value": 0.95, "expect": 0.31},))]
    assert driver.app.screen is driver.app.console_screen
    assert "0.95" in driver.screen()


@check("editor-keep-mine")
async def _keep_mine(driver: Driver, key: str) -> None:
    screen = await editing(driver)
    screen.area.text = "0.5"
    await _agent_writes(driver, 0.9)
    assert "The agent has changed it to 0.9 (extractor Said) meanwhile" in driver.screen()
    await driver.press(key)
    assert "meanwhile" not in driver.screen()
    await driver.press("ctrl+s")
    assert written(driver) == [EditState(edits=({"key": "app:anger", "value": 0.5, "expect": 0.9},))]


@check("editor-take-theirs")
async def _take_theirs(driver: Driver, key: str) -> None:
    screen = await editing(driver)
    screen.area.text = "0.5"
    await _agent_writes(driver, 0.9)
    await driver.press(key)
    assert screen.area.text == "0.9"
    assert "Edit app:anger (0.9)" in driver.screen()
    await driver.press("escape")
    assert driver.app.screen is driver.app.console_screen


async def _agent_writes(driver: Driver, value: float) -> None:
    from gemini_live_runtime import events as ev

    driver.link.values["app:anger"] = value
    driver.link.emit(
        ev.StateChanged(key="app:anger", old=0.31, new=value, mutation=99, origin="extractor", by="Said"), after=1.0
    )
    await driver.settle()


# -- phases ----------------------------------------------------------------------------------------------------------


@check("phase-override")
async def _override(driver: Driver, way: str) -> None:
    negotiating(driver.link)
    driver.link.foreseen_phase = {"missing": ("app:plan",), "tools_added": ("record",), "clears": ("app:monthly",)}
    await driver.settle()
    driver.app.console_screen.grid.go_to("phase")
    await driver.settle()
    await driver.press(way)
    assert isinstance(driver.app.screen, PhaseOverride)
    assert driver.link.orders == [PreviewPhase(phase="plan")]
    for said in ("lacks app:plan, which it requires", "tools added    record", "Be in plan."):
        assert said in driver.screen()
    await driver.press("enter")
    assert driver.link.orders[-1] == GoToPhase(phase="plan", when="turn-end")
    assert "goes to plan when the turn ends" in driver.screen()


@check("go-now")
async def _now(driver: Driver, key: str) -> None:
    negotiating(driver.link)
    await driver.settle()
    await driver.press(f"{BY_NAME}phase-override")
    screen = driver.app.screen
    assert isinstance(screen, PhaseOverride)
    screen.reason.value = "the caller asked"
    await driver.press("down")
    await driver.press(key)
    assert driver.link.orders[-1] == GoToPhase(phase="paid", when="now", reason="the caller asked")
    assert driver.app.screen is driver.app.console_screen
    assert driver.app.store.view.phase == "paid"


# -- watchers --------------------------------------------------------------------------------------------------------


async def in_watcher_screen(driver: Driver) -> WatcherScreen:
    """Open the screen of the watcher `anger`."""
    await watching(driver)
    await driver.press("enter")
    assert isinstance(driver.app.screen, WatcherScreen)
    return driver.app.screen


@check("watcher-screen-mute")
async def _screen_mute(driver: Driver, key: str) -> None:
    await in_watcher_screen(driver)
    await driver.press(key)
    assert driver.link.orders == [SwitchWatcher(watcher="anger", muted=True)]
    assert "anger (muted)" in driver.screen()


@check("watcher-screen-break")
async def _screen_break(driver: Driver, key: str) -> None:
    await in_watcher_screen(driver)
    await driver.press(key)
    assert driver.link.orders == [SetBreakpoint(kind="watcher", target="anger")]
    assert "the agent is held when it fires" in driver.screen()


@check("watcher-fire")
async def _fire(driver: Driver, key: str) -> None:
    await in_watcher_screen(driver)
    await driver.press(key)
    assert driver.link.orders == []
    assert "f once more: it acts" in driver.screen()
    await driver.press(key)
    assert driver.link.orders == [FireWatcher(watcher="anger")]
    assert "anger (fired once)" in driver.screen()


# -- the model -------------------------------------------------------------------------------------------------------


@check("write-context")
async def _context(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert isinstance(driver.app.screen, GiveContextScreen)
    await driver.press("ctrl+s")
    assert "Write what the model should know." in driver.screen()


@check("send-telling")
async def _telling(driver: Driver, key: str) -> None:
    await driver.press(f"{BY_NAME}write-context")
    screen = driver.app.screen
    assert isinstance(screen, GiveContextScreen)
    screen.area.text = "the caller is a lawyer"
    driver.link.refusing = "The model takes no context."
    await driver.press(key)
    assert "Not sent: The model takes no context." in driver.screen()
    assert screen.area.text == "the caller is a lawyer"
    driver.link.refusing = ""
    await driver.press(key)
    assert driver.link.orders[-1] == GiveContext(text="the caller is a lawyer")
    assert driver.app.screen is driver.app.console_screen
    assert "The model was given the context." in driver.screen()


@check("edit-instruction")
async def _instruction(driver: Driver, way: str) -> None:
    negotiating(driver.link)
    await driver.settle()
    await driver.press(way)
    screen = driver.app.screen
    assert isinstance(screen, InstructionScreen)
    assert screen.area.text == "You collect a debt."
    screen.area.text = "You are kind."
    await driver.press("ctrl+s")
    assert driver.link.orders == [SetInstruction(text="You are kind.")]
    assert "The model has its new instruction." in driver.screen()


@check("resend")
async def _resend(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert driver.link.orders == []
    assert "You have not said anything yet." in driver.screen()
    driver.link.exchange("What is the weather?", "Fine.")
    driver.link.emit(ev.SpeechNotUnderstood(seconds=1.2, peak_db=-20.0, decided_by="server", answer="nothing"))
    await driver.settle()
    await driver.press(way)
    assert driver.link.orders == [SendText(text="What is the weather?")]
    driver.link.emit(ev.SendSettled(kind="speech", outcome="unknown", text="What is the weather?"))
    driver.link.exchange("And tomorrow?", "Rain.")
    await driver.settle()
    assert "Send again)" in driver.screen()
    await driver.press(way, way)
    assert driver.link.orders[1:] == [SendText(text="What is the weather?")]
