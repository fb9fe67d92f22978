"""Screens below the top of Textual's stack are taken out, or left alone."""

from __future__ import annotations

import asyncio
import gc
from types import SimpleNamespace
from typing import Any

import pytest
from tests.support.console_driver import Driver, console
from tests.support.set_up_doubles import FakeStarter
from textual._styles_cache import StylesCache

from gemini_live_tui import open_screens
from gemini_live_tui.dialogs.details import DetailsScreen
from gemini_live_tui.dialogs.help import HelpScreen
from gemini_live_tui.dialogs.meters import MetersScreen
from gemini_live_tui.dialogs.why import WhyScreen
from gemini_live_tui.editors.state import StateEditor
from gemini_live_tui.editors.watcher import WatcherScreen
from gemini_live_tui.screen_stack import take_out


def test_a_stack_that_textual_has_elsewhere_is_left_alone() -> None:
    screen: Any = SimpleNamespace()
    without: Any = SimpleNamespace()
    other: Any = SimpleNamespace(_screen_stack=[object()])
    assert not take_out(without, screen)
    assert not take_out(other, screen)
    there: Any = SimpleNamespace(_screen_stack=[screen])
    assert take_out(there, screen)
    assert there._screen_stack == []


@pytest.mark.parametrize("kind", [StateEditor, DetailsScreen, WhyScreen, WatcherScreen])
async def test_a_key_that_comes_twice_at_once_opens_one_screen(kind: type) -> None:
    async with console(size=(120, 36)) as driver:
        app = driver.app
        make = {
            StateEditor: lambda: StateEditor(app, "app:one"),
            DetailsScreen: lambda: DetailsScreen(app.settings, "Row", [], copy={}),
            WhyScreen: lambda: WhyScreen(app, None),
            WatcherScreen: lambda: WatcherScreen(app, "watcher", "none"),
        }[kind]
        app.enter(make())
        app.enter(make())
        await driver.settle()
        assert sum(isinstance(screen, kind) for screen in app.screen_stack) == 1
        assert app.is_running


async def test_without_the_stack_screens_still_open_and_say_what_to_close(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_screens, "take_out", lambda *_, **__: False)
    async with console(size=(120, 36)) as driver:
        app = driver.app
        app.action_open("meters")
        app.action_open("help")
        await driver.settle()
        app.action_open("meters")
        await driver.settle()
        assert isinstance(app.screen, HelpScreen)
        assert "It is open already, below this screen" in app.console_screen.notices.lines[-1].text
        await driver.press("escape")
        assert isinstance(app.screen, MetersScreen)
        await driver.press("escape")
        for key in ("app:one", "app:two"):
            app.enter(StateEditor(app, key))
            await driver.settle()
        assert sum(isinstance(screen, StateEditor) for screen in app.screen_stack) == 2
        assert app.is_running


async def test_screens_that_were_closed_leave_no_painted_rows_in_memory() -> None:
    async def kept_after_opening(driver: Driver, times: int) -> int:
        for _ in range(times):
            await driver.press("f1")
            await driver.press("escape")
        gc.collect()
        return sum(isinstance(item, StylesCache) for item in gc.get_objects())

    async with console() as driver:
        kept = await kept_after_opening(driver, 2)
        # The last screen may still be on its way out, with its widgets; each that stays for good adds at least one.
        assert await kept_after_opening(driver, 20) < kept + 20


async def test_a_screen_closes_only_itself_and_once() -> None:
    async with console() as driver:
        app = driver.app
        app.action_open("mark")
        await driver.settle()
        mark = app.screen
        app.action_open("palette")
        await driver.settle()
        palette = app.screen
        mark.dismiss()
        await driver.settle()
        assert app.screen_stack[1:] == [mark, palette]
        for screen in (palette, palette, mark, mark):
            screen.dismiss()
        await driver.settle()
        assert app.screen is app.console_screen
        assert app.failure is None


@pytest.mark.parametrize("name", ["sessions", "palette", "mark", "help", "devices"])
async def test_a_screen_that_is_closed_before_it_is_built_ends_nothing(name: str) -> None:
    async with console(starter=FakeStarter()) as driver:
        for turns in range(12):
            driver.app.action_open(name)
            for _ in range(turns):
                await asyncio.sleep(0)
            driver.app.screen.dismiss()
            await driver.settle()
        assert driver.app.failure is None
        assert driver.app.screen is driver.app.console_screen
