"""The console itself."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.console_driver import Driver

from gemini_live_runtime.commands import HangUp, SetMicrophone
from gemini_live_tui.dialogs.help import HelpScreen
from gemini_live_tui.pickers.jump import JumpScreen
from gemini_live_tui.pickers.palette import CommandsScreen
from gemini_live_tui.pickers.themes import ThemesScreen


@check("copy")
async def _copy(driver: Driver, key: str) -> None:
    await driver.press("i", "h", "e", "y", "shift+home")
    await driver.press(key)
    assert driver.app.clipboard == "hey"
    assert "Copied 3 characters" in driver.screen()


@check("help")
async def _help(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert isinstance(driver.app.screen, HelpScreen)
    assert "space F4 Mute" in driver.screen()
    await driver.press("escape")
    assert driver.app.screen is driver.app.console_screen


@check("close-notice")
async def _close_notice(driver: Driver, key: str) -> None:
    driver.app.say("The disk is full.", "warning")
    await driver.settle()
    assert "^n Close message" in driver.rows()[-1]
    await driver.press("escape")
    assert "warning: The disk is full." in driver.screen()
    await driver.press(key)
    assert "The disk is full." not in driver.screen()
    assert "^n" not in driver.rows()[-1]


@check("palette")
async def _palette(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert isinstance(driver.app.screen, CommandsScreen)
    await driver.press(*"mute")
    await driver.app.workers.wait_for_complete()
    await driver.press("enter")
    await driver.press("enter")
    assert driver.link.orders == [SetMicrophone(on=False)]


@check("theme")
async def _theme(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert driver.app.theme == "fjord"
    assert "Theme fjord" in driver.screen()


@check("themes")
async def _themes(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert isinstance(driver.app.screen, ThemesScreen)
    assert driver.app.theme == "ember"
    await driver.press("down")
    assert driver.app.theme == "fjord"
    await driver.press("enter")
    assert driver.app.screen is driver.app.console_screen
    assert driver.app.theme == "fjord"
    assert "Theme fjord" in driver.screen()


@check("quit")
async def _quit(driver: Driver, key: str) -> None:
    await driver.quit(key)
    assert driver.link.orders == [HangUp()]
    assert driver.app.return_value is not None
    assert driver.app.return_value.exit_code == 0


@check("detach")
async def _detach(driver: Driver, key: str) -> None:
    await driver.press(key)
    assert "D detaches" in driver.screen()
    await driver.press("D")
    assert driver.link.orders == []
    assert driver.app.return_value is not None
    assert driver.app.return_value.message.startswith("Detached")


@check("jump")
async def _jump(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert isinstance(driver.app.screen, JumpScreen)
    letters = {spot.title: spot.letter for spot in driver.app.screen.spots}
    for title in ("Transcript", "Prompt"):
        assert f" {letters[title]}  {title}" in driver.screen()
    await driver.press(letters["Prompt"])
    assert driver.app.screen is driver.app.console_screen
    assert driver.app.focused is driver.app.console_screen.prompt
    await driver.press(way, letters["Transcript"])
    assert driver.app.focused is driver.app.console_screen.transcript
