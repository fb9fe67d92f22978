"""Keys: the keymap, and the help on the keys of the focused pane."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.collection import negotiating
from tests.support.console_driver import console

from gemini_live_runtime.commands import SetMicrophone
from gemini_live_tui.actions import ACTIONS, PLACES
from gemini_live_tui.dialogs.help import HelpScreen
from gemini_live_tui.pickers.themes import ThemesScreen


async def test_of_a_broken_keymap_the_rest_works_and_a_sentence_says_what_does_not() -> None:
    async with console(keymap={"mute": "k", "hepl": "f6", "quit": "f1"}) as driver:
        assert "keymap.hepl: unknown action 'hepl'. Did you mean help?" in driver.screen()
        assert "the rest of the keymap is in use" in " ".join(driver.screen().split())
        await driver.press("k")
        assert driver.link.orders == [SetMicrophone(on=False)]
        await driver.press("f1")
        assert isinstance(driver.app.screen, HelpScreen)


async def test_a_broken_theme_of_the_config_file_is_told_of_and_another_is_used(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('primary = "blue"\n')
    async with console(theme="mine", themes_dir=tmp_path) as driver:
        assert driver.app.theme in ("ember", "ansi")
        assert "mine.toml" in driver.screen()


async def test_help_begins_with_the_pane_that_has_the_focus() -> None:
    async with console() as driver:
        await driver.press("f1")
        rows = [row.strip(" │") for row in driver.rows()]
        about = next(at for at, row in enumerate(rows) if row == "Transcript")
        assert rows[about + 1].startswith("Both sides as they are heard")
        assert about < next(at for at, row in enumerate(rows) if row == "Talk")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("replay", [False, True])
def test_help_names_every_key_of_every_place(place: str, replay: bool) -> None:
    screen = HelpScreen(mode="voice", keymap={}, ascii_only=False, tmux=False, replay=replay, place=place)
    text = " ".join("\n".join(line.plain for line in screen.lines()).split())
    if PLACES[place].kind == "pane":
        assert PLACES[place].about in text
    for action in ACTIONS:
        if action.keys and not (replay and action.group in ("Talk", "Write")):
            assert action.description in text, action.id


async def test_an_action_without_a_key_can_be_given_one_and_keeps_its_command() -> None:
    async with console(size=(100, 300), keymap={"themes": "ctrl+u", "give-context": "ctrl+t"}) as driver:
        await driver.press("ctrl+u")
        assert isinstance(driver.app.screen, ThemesScreen)
        await driver.press("escape")
        await driver.press("ctrl+t")
        assert driver.app.console_screen.prompt.text == "/context "
        await driver.press("escape", "f1")
        assert "^u" in driver.screen()


async def test_beginning_a_command_by_its_key_keeps_what_was_being_written() -> None:
    async with console(keymap={"give-context": "ctrl+t"}) as driver:
        await driver.press("i", *"half a thought")
        await driver.press("ctrl+t")
        prompt = driver.app.console_screen.prompt
        assert prompt.text == "/context "
        assert prompt.past[-1] == "half a thought"


async def test_the_key_bar_offers_the_keys_of_the_pane_in_place_of_those_for_writing() -> None:
    async with console(size=(120, 36)) as driver:
        await driver.press("f2")
        assert "enter Send" in driver.rows()[-1]
        await driver.press("ctrl+o", "s")
        assert driver.app.place == "state"
        assert "Send" not in driver.rows()[-1]
        assert "f Filter" in driver.rows()[-1]


async def test_the_key_bar_of_the_phase_pane_names_why_and_the_way_on_in_a_small_terminal_too() -> None:
    for size, tmux, more in (((120, 36), False, "esc Stop"), ((80, 24), True, "F1 Help")):
        async with console(size=size, tmux=tmux) as driver:
            await driver.press("2")
            for words in ("^e Why", "t Go to phase", "b Break", "^q Quit", more):
                assert words in driver.rows()[-1]


def test_what_the_key_bar_offers_has_a_key() -> None:
    assert [action.id for action in ACTIONS if (action.bar or action.bar_in) and not action.keys] == []


async def test_copying_where_there_is_nothing_keeps_what_was_copied_before() -> None:
    async with console() as driver:
        driver.app.copy_to_clipboard("mine")
        driver.app.copy_to_clipboard("")
        for pane in ("state", "logs"):
            driver.app.console_screen.grid.go_to(pane)
            await driver.settle()
            await driver.press("y", "Y")
            assert driver.app.clipboard == "mine", pane
        assert "No line is listed: the clipboard stays as it is." in driver.screen()


async def test_keys_that_edit_the_prompt_are_not_overtaken_by_letters() -> None:
    async with console() as driver:
        driver.app.console_screen.prompt.focus()
        await driver.press(*"old", "ctrl+u", *"ew", "home", "n", "end", "!")
        assert driver.app.console_screen.prompt.text == "new!"


async def test_enter_on_a_watcher_shows_how_near_it_is() -> None:
    async with console() as driver:
        negotiating(driver.link)
        await driver.settle()
        driver.app.console_screen.grid.go_to("watchers")
        await driver.settle()
        await driver.press("enter")
        for said in ("app:anger crossed above 0.7", "debt.py:40", "app:anger = 0.31", "44 % of the way"):
            assert said in driver.screen()
