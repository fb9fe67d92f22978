"""List every screen in its states, for checks of contrast and plain signs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tests.support.console_driver import Driver

from gemini_live_tui.screen_registry import SCREENS

Look = Callable[[Driver], Awaitable[None]]


def _pressing(*keys: str) -> Look:
    async def look(driver: Driver) -> None:
        await driver.press(*keys)

    return look


async def _selected(driver: Driver) -> None:
    transcript = driver.app.console_screen.transcript
    await driver.pilot.mouse_down(transcript, offset=(2, 1))
    await driver.pilot.hover(transcript, offset=(30, 4))
    await driver.pilot.mouse_up(transcript, offset=(30, 4))


async def _warned(driver: Driver) -> None:
    driver.app.console_screen.say("Something is not as it should be.", "warning")


async def _failed(driver: Driver) -> None:
    driver.link.die("The engine process ended (signal 9).")


async def _palette(driver: Driver) -> None:
    await driver.press("f3", *"mu")
    await driver.app.workers.wait_for_complete()


LOOKS: dict[str, Look] = {
    "voice": _pressing(),
    "muted": _pressing("space", "v"),
    "text mode": _pressing("f2", *"hello"),
    "selected prompt": _pressing("f2", *"hello", "shift+home"),
    "suggestions": _pressing("/", "down"),
    "selected transcript": _selected,
    "help": _pressing("f1"),
    "jump": _pressing("ctrl+o"),
    "palette": _palette,
    "warned": _warned,
    "failed": _failed,
    **{f"pane {key}": _pressing(key, "down") for key in "23456789T"},
}


def _screen(name: str) -> Look:
    async def look(driver: Driver) -> None:
        driver.app.action_open(name)
        await driver.settle()

    return look


LOOKS.update({f"screen {name}": _screen(name) for name in SCREENS if name not in ("help", "jump", "palette", "themes")})
