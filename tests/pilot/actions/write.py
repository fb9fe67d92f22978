"""Writing."""

from __future__ import annotations

from tests.support.action_checks import check
from tests.support.console_driver import Driver

from gemini_live_runtime.commands import SendText


@check("send")
async def _send(driver: Driver, key: str) -> None:
    await driver.press("i", "h", "i")
    await driver.press(key)
    assert driver.link.orders == [SendText(text="hi")]
    assert driver.app.console_screen.prompt.text == ""
    assert "you    hi" in driver.screen()


@check("newline")
async def _newline(driver: Driver, key: str) -> None:
    await driver.press("i", "a", key, "b", "enter")
    assert driver.link.orders == [SendText(text="a\nb")]


@check("history-previous")
async def _history_previous(driver: Driver, key: str) -> None:
    await driver.press("f2", "o", "n", "e", "enter", "t", "w", "o", "enter")
    await driver.press(key)
    assert driver.app.console_screen.prompt.text == "two"
    await driver.press(key)
    assert driver.app.console_screen.prompt.text == "one"


@check("history-next")
async def _history_next(driver: Driver, key: str) -> None:
    await driver.press("i", "o", "n", "e", "enter", "d", "r", "a", "f", "t")
    await driver.press("up")
    assert driver.app.console_screen.prompt.text == "one"
    await driver.press(key)
    assert driver.app.console_screen.prompt.text == "draft"


@check("say")
async def _say(driver: Driver, way: str) -> None:
    await driver.press(f"{way}/etc/hosts")
    assert driver.link.orders == [SendText(text="/etc/hosts")]
    assert "you    /etc/hosts" in driver.screen()


@check("complete")
async def _complete(driver: Driver, way: str) -> None:
    await driver.press(*"/the", way)
    assert driver.app.console_screen.prompt.text == "/theme "
    await driver.press(*"hi", way, "enter")
    assert driver.app.theme == "high-contrast"


@check("write")
async def _write(driver: Driver, way: str) -> None:
    await driver.press(way)
    await driver.press(*"hi")
    assert driver.app.console_screen.prompt.text == "hi"
    assert driver.link.orders == []


@check("command")
async def _command(driver: Driver, way: str) -> None:
    await driver.press("2")
    await driver.press(way)
    await driver.press(*"mute")
    assert driver.app.console_screen.prompt.text == "/mute"
    assert driver.app.focused is driver.app.console_screen.prompt
