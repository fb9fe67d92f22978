"""Check the actions of explanations."""

from __future__ import annotations

from tests.pilot.actions.change_screens import in_watcher_screen
from tests.support.action_checks import check
from tests.support.collection import Call, negotiating
from tests.support.console_driver import BY_NAME, Driver

from gemini_live_tui.dialogs.why import WhyScreen


async def asked(driver: Driver) -> Call:
    """Open the newest explanation: a watcher that fired after two transitions."""
    call = negotiating(driver.link)
    call.anger()
    await driver.settle()
    await driver.press(f"{BY_NAME}why")
    assert isinstance(driver.app.screen, WhyScreen)
    return call


@check("why")
async def _why(driver: Driver, way: str) -> None:
    await driver.press(way)
    assert "Nothing has happened yet that could be explained." in driver.screen()
    await driver.press("escape")
    negotiating(driver.link).anger()
    await driver.settle()
    await driver.press(way)
    assert isinstance(driver.app.screen, WhyScreen)
    for said in ("Why: anger fired", "yes app:anger crossed above 0.7", "app:anger  0.31 → 0.9", "by extractor Said"):
        assert said in driver.screen()


@check("why-older")
async def _older(driver: Driver, key: str) -> None:
    await asked(driver)
    await driver.press(key)
    assert "Why: verify to negotiate" in driver.screen()
    for _ in range(3):
        await driver.press(key)
    assert "there is nothing older" in driver.screen()


@check("why-newer")
async def _newer(driver: Driver, key: str) -> None:
    await asked(driver)
    await driver.press("[")
    await driver.press(key)
    assert "Why: anger fired" in driver.screen()
    await driver.press(key)
    assert "there is nothing newer" in driver.screen()


@check("copy-why")
async def _copy(driver: Driver, key: str) -> None:
    await asked(driver)
    await driver.press(key)
    assert driver.app.clipboard.startswith("anger fired\n\napp:anger  0.31")
    assert "copied" in driver.screen()


@check("watcher-why")
async def _watcher_why(driver: Driver, key: str) -> None:
    await in_watcher_screen(driver)
    await driver.press(key)
    assert "It has not fired yet" in driver.screen()
    await driver.press("F")
    await driver.press("F")
    await driver.press(key)
    assert isinstance(driver.app.screen, WhyScreen)
    assert "Why: anger fired" in driver.screen()
