"""The jump overlay: letters over what is in sight, names for what is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.console_driver import Driver, console

from gemini_live_tui.pane_layout import PANES
from gemini_live_tui.pickers.jump import JumpScreen, letters_for


def letters(driver: Driver) -> dict[str, str]:
    screen = driver.app.screen
    assert isinstance(screen, JumpScreen)
    return {spot.title: spot.letter for spot in screen.spots}


@given(st.lists(st.text("abcXYZ ü1", min_size=1), max_size=30))
def test_letters_are_plain_and_no_two_are_alike(titles: list[str]) -> None:
    found = letters_for(titles)
    assert len(found) == min(26, len(titles)) == len(set(found))
    assert all(letter.isascii() and letter.islower() for letter in found)


def test_a_pane_s_letter_is_one_of_its_title() -> None:
    titles = [*(pane.title for pane in PANES), "Prompt"]
    assert all(letter in title.lower() for letter, title in zip(letters_for(titles), titles, strict=True))


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (160, 45)])
async def test_every_pane_can_be_reached_whether_in_sight_or_not(size: tuple[int, int]) -> None:
    async with console(size=size) as driver:
        for name, pane in driver.app.console_screen.grid.panes.items():
            await driver.press("ctrl+o")
            assert f" {letters(driver)[pane.jump_title]}  {pane.jump_title}" in driver.screen()
            await driver.press(letters(driver)[pane.jump_title])
            assert driver.app.screen is driver.app.console_screen
            assert driver.app.console_screen.grid.focused_pane == name


async def test_escape_stays_and_other_letters_do_nothing() -> None:
    async with console() as driver:
        before = driver.app.focused
        await driver.press("ctrl+o", "9")
        assert isinstance(driver.app.screen, JumpScreen)
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen
        assert driver.app.focused is before
        await driver.press("ctrl+o", "ctrl+o")
        assert driver.app.screen is driver.app.console_screen


async def test_a_click_on_a_label_goes_there_and_one_beside_stays() -> None:
    async with console() as driver:
        await driver.press("ctrl+o")
        row = next(at for at, text in enumerate(driver.rows()) if "Prompt " in text and "│" in text)
        await driver.pilot.click(offset=(driver.rows()[row].index("Prompt"), row))
        await driver.settle()
        assert driver.app.focused is driver.app.console_screen.prompt
        await driver.press("ctrl+o")
        await driver.pilot.click(offset=(50, 20))
        await driver.settle()
        assert driver.app.screen is driver.app.console_screen


async def test_over_a_screen_without_places_it_says_so() -> None:
    async with console() as driver:
        await driver.press("f1")
        await driver.press("ctrl+o")
        assert "Nothing here to jump to." in driver.screen()
        await driver.press("escape", "escape")
        assert driver.app.screen is driver.app.console_screen
