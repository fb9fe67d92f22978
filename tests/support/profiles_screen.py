"""Write profiles, and stage values on their screen."""

from __future__ import annotations

from pathlib import Path

from tests.support.console_driver import Driver

from gemini_live_runtime import paths
from gemini_live_tui.editors.profile_values import ProfileValuesScreen


def write(text: str, name: str = "work") -> Path:
    path = paths.private_dir(paths.config_dir() / "profiles") / f"{name}.toml"
    path.write_text(text)
    return path


async def values_of(driver: Driver, name: str = "default", row: str = "turns") -> ProfileValuesScreen:
    screen = ProfileValuesScreen(driver.app, name)
    driver.app.push_screen(screen)
    await driver.settle()
    screen.list.go_to(row)
    return screen


async def stage(driver: Driver, text: str) -> None:
    await driver.press("enter")
    await driver.press("ctrl+u", *text, "enter")
