"""Screens over screens: none twice, escape closes one, typed text stays."""

from __future__ import annotations

import pytest
from tests.pilot.actions.change_screens import editing
from tests.pilot.actions.state import listed
from tests.support.console_driver import BY_NAME, Driver, console
from tests.support.recordings_screens import done, record_live, record_three
from tests.support.set_up_doubles import FakeStarter
from textual.widget import Widget

from gemini_live_tui.actions import ACTIONS, PLACES
from gemini_live_tui.dialogs.events_filter import MAX_FILTER, EventsFilterScreen
from gemini_live_tui.dialogs.go_to import MAX_MOMENT, GoToScreen
from gemini_live_tui.dialogs.help import HelpScreen
from gemini_live_tui.dialogs.meters import MetersScreen
from gemini_live_tui.editors.export import ExportScreen
from gemini_live_tui.editors.state import StateEditor
from gemini_live_tui.pickers.sessions import SessionsScreen
from gemini_live_tui.screen_registry import SCREENS


def stack(driver: Driver) -> list[str]:
    """Return the names of the screens over the console, the one in front last."""
    return [type(screen).__name__ for screen in driver.app.screen_stack[1:]]


async def test_a_screen_that_is_open_comes_to_the_front_and_escape_goes_back_step_by_step() -> None:
    record_three()
    async with console() as driver:
        for _ in range(3):
            await driver.press(f"{BY_NAME}meters")
            await driver.press("ctrl+l")
            await done(driver)
        assert stack(driver) == ["MetersScreen", "SessionsScreen"]
        await driver.press(f"{BY_NAME}meters")
        assert stack(driver) == ["SessionsScreen", "MetersScreen"]
        await driver.press("escape")
        assert isinstance(driver.app.screen, SessionsScreen)
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen
        await driver.press("2")
        assert driver.app.console_screen.grid.focused_pane == "phase"


async def test_a_screen_that_comes_to_the_front_is_as_it_was_left_and_still_works() -> None:
    record_three()
    async with console() as driver:
        await driver.press("ctrl+l")
        await done(driver)
        await driver.press("down")
        screen = driver.app.screen
        assert isinstance(screen, SessionsScreen)
        chosen = screen.list.row_at_cursor
        await driver.press(f"{BY_NAME}meters")
        await driver.press("ctrl+l")
        assert driver.app.screen is screen
        assert screen.list.row_at_cursor == chosen
        await driver.press("up")
        assert screen.list.row_at_cursor != chosen


async def test_the_palette_and_the_letters_do_not_stay_below_what_they_opened() -> None:
    async with console() as driver:
        await driver.press(f"{BY_NAME}meters")
        await driver.press("ctrl+p")
        await driver.press("ctrl+l")
        assert stack(driver) == ["MetersScreen", "SessionsScreen"]
        await driver.press("ctrl+o")
        await driver.press("ctrl+p")
        assert stack(driver) == ["MetersScreen", "SessionsScreen", "CommandsScreen"]
        await driver.press(*"session: sessions")
        await driver.app.workers.wait_for_complete()
        await driver.press("enter")
        await done(driver)
        assert stack(driver) == ["MetersScreen"]


@pytest.mark.parametrize("name", sorted({*SCREENS} - {"welcome"}))
async def test_no_screen_is_there_twice(name: str) -> None:
    """Check all but the first run's screen, which only a choice closes."""
    async with console(starter=FakeStarter()) as driver:
        await driver.press(f"{BY_NAME}meters")
        for _ in range(2):
            driver.app.action_open(name)
            await driver.settle()
            driver.app.action_open("go-to")
            await driver.settle()
        assert len(stack(driver)) == len(set(stack(driver)))
        for _ in stack(driver):
            await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen


async def test_a_screen_about_something_else_takes_the_place_of_its_kind() -> None:
    record_live()
    record_three()
    async with console() as driver:
        await driver.press("/export")
        assert isinstance(driver.app.screen, ExportScreen)
        await driver.press("ctrl+l")
        await done(driver)
        await driver.press("x")
        assert stack(driver) == ["SessionsScreen", "ExportScreen"]
        await driver.press("escape")
        assert isinstance(driver.app.screen, SessionsScreen)


async def test_what_is_being_written_is_not_lost_to_another_screen_of_its_kind() -> None:
    async with console() as driver:
        screen = await editing(driver)
        screen.area.text = "0.75"
        await driver.settle()
        await driver.press(f"{BY_NAME}meters")
        assert isinstance(driver.app.screen, MetersScreen)
        driver.app.console_screen.grid.panes["state"].body.action_edit()
        await driver.settle()
        assert driver.app.screen is screen
        assert screen.area.text == "0.75"
        assert "Something is written here already" in driver.screen()
        driver.app.action_open("state-editor")
        await driver.settle()
        assert driver.app.screen is screen
        assert "esc once more leaves it" in driver.screen()


async def test_an_editor_in_which_nothing_is_written_gives_way() -> None:
    async with console() as driver:
        await listed(driver)
        await driver.press("a")
        first = driver.app.screen
        assert isinstance(first, StateEditor)
        driver.app.console_screen.grid.panes["state"].body.action_edit()
        await driver.settle()
        assert driver.app.screen is not first
        assert stack(driver) == ["StateEditor"]


async def test_a_filter_and_a_moment_take_no_more_than_their_limits() -> None:
    async with console() as driver:
        for screen, most in ((EventsFilterScreen, MAX_FILTER), (GoToScreen, MAX_MOMENT)):
            opened = screen.of(driver.app)
            await driver.app.push_screen(opened)
            opened.field.value = "x" * (most - 1)
            await driver.press("end", "y", "z")
            assert opened.field.value == "x" * (most - 1) + "y"
            await driver.press("escape")


async def test_f1_explains_the_keys_of_every_dialog() -> None:
    """Check all but the help itself, and the two that give way to what they open."""
    places = {PLACES[action.scope].title for action in ACTIONS if PLACES[action.scope].kind == "screen"}
    async with console(starter=FakeStarter()) as driver:
        for name in sorted({*SCREENS} - {"help", "jump", "palette", "welcome"}):
            driver.app.action_open(name)
            await driver.settle()
            dialog = driver.app.screen
            titles = {str(widget.border_title) for widget in dialog.walk_children(Widget)} - {"", "None"}
            await driver.press("f1")
            assert isinstance(driver.app.screen, HelpScreen), name
            lines = [line.plain for line in driver.app.screen.lines(40)]
            assert lines[0] in {*titles, *places}, name
            assert any("^q" in line for line in lines), name
            await driver.press("f1")
            assert driver.app.screen is dialog, name
            await driver.press("escape")


async def test_the_help_of_a_modal_dialog_names_no_key_that_does_nothing_there() -> None:
    async with console() as driver:
        await driver.press(f"{BY_NAME}meters", "f1")
        screen = driver.screen()
        assert "the last minute, esc closes" in screen
        assert "Go to phase" not in screen
        assert "^p F3    Commands" in screen
