"""Profiles: list, copy, switch; values are staged, discarded and applied."""

from __future__ import annotations

import tomllib

from tests.support.action_checks import check
from tests.support.console_driver import Driver
from tests.support.profiles_screen import stage, values_of, write
from tests.support.set_up_doubles import FakeStarter

from gemini_live_runtime.commands import SetOptions
from gemini_live_tui.dialogs.confirm import ConfirmScreen
from gemini_live_tui.pickers.profiles import ProfilesScreen
from gemini_live_tui.profile_files import profile_path


@check("profiles")
async def _profiles(driver: Driver, way: str) -> None:
    write("", "work")
    await driver.press(way)
    assert isinstance(driver.app.screen, ProfilesScreen)
    for words in ("default", "in use", "work"):
        assert words in driver.screen()
    await driver.press("escape")
    assert driver.app.screen is driver.app.console_screen


@check("profile-new")
async def _new(driver: Driver, key: str) -> None:
    write("voice = 'Puck'\n", "default")
    await driver.press("/profiles")
    await driver.press(key)
    await driver.press(*"work", "enter")
    assert profile_path("work").read_text() == "voice = 'Puck'\n"
    assert "Created" in driver.screen()


@check("profile-switch")
async def _switch(driver: Driver, key: str) -> None:
    write("", "work")
    starter = driver.app.settings.starter = FakeStarter()  # type: ignore[misc]
    await driver.press("/profiles")
    await driver.press("down", key)
    assert isinstance(driver.app.screen, ConfirmScreen)
    await driver.press("escape")
    assert starter.chosen == []
    await driver.press(key)
    await driver.press("enter")
    assert [choice.profile for choice in starter.chosen] == ["work"]


@check("profile-apply")
async def _apply(driver: Driver, key: str) -> None:
    await values_of(driver)
    await stage(driver, "manual")
    assert driver.link.orders == []
    await driver.press(key)
    assert "turns → manual: at once" in driver.screen()
    await driver.press("enter")
    assert driver.link.orders == [SetOptions(turn_detection="manual")]
    assert tomllib.loads(profile_path("default").read_text()) == {"turns": "manual"}


@check("profile-delete")
async def _delete(driver: Driver, key: str) -> None:
    write("turns = 'client'\n", "default")
    screen = await values_of(driver)
    await stage(driver, "manual")
    assert screen.staged["turns"].value == "manual"
    await driver.press(key)
    assert screen.staged == {}
    await driver.press(key)
    assert screen.staged["turns"].value is None
    await driver.press("a")
    await driver.press("enter")
    assert tomllib.loads(profile_path("default").read_text()) == {}
