"""Keys: the keymap, and the help on the keys of the focused pane."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.collection import negotiating
from tests.support.console_driver import console
from tests.support.scripted_link import PHRASES

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import SetMicrophone
from gemini_live_tui.actions import ACTIONS, PANES
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.actions.slash import form_of
from gemini_live_tui.dialogs.help import HelpScreen
from gemini_live_tui.pickers.palette import ConsoleCommands
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


async def test_help_begins_with_the_pane_that_has_the_focus_and_fits_a_small_terminal() -> None:
    async with console(size=(80, 24)) as driver:
        driver.app.console_screen.grid.go_to("events")
        await driver.settle()
        await driver.press("f1")
        rows = [row.strip(" │╭╮╰╯[") for row in driver.rows()]
        assert rows[3] == "Events"
        assert rows[4].split() == ["f", "Filter", "h", "Here", "y", "Copy"]
        assert any("^q D     Quit, detach" in row for row in rows)


def _help(place: str, *, replay: bool = False) -> HelpScreen:
    return HelpScreen(keymap={}, ascii_only=False, tmux=False, replay=replay, place=place)


@pytest.mark.parametrize("place", [*PANES, "prompt"])
def test_the_keys_of_every_pane_fit_one_screen_of_80_by_24(place: str) -> None:
    lines = [line.plain for line in _help(place).lines(21)]
    assert len(lines) <= 21
    assert max(map(len, lines)) <= 72
    for action in ACTIONS:
        if action.scope == place and action.keys:
            label = key_label(keys_of(action, {})[0])
            assert any(label in line.split() for line in lines), action.id


@pytest.mark.parametrize(("in_text_mode", "title"), [(False, "Try saying"), (True, "Try writing")])
def test_the_phrases_in_the_help_are_said_or_written(in_text_mode: bool, title: str) -> None:
    screen = HelpScreen(
        keymap={}, ascii_only=False, tmux=False, replay=False, phrases=("Good day",), in_text_mode=in_text_mode
    )
    lines = [line.plain for line in screen.lines(40)]
    assert "Good day" in lines[lines.index(title) + 1]


@pytest.mark.parametrize("replay", [False, True])
def test_a_search_of_the_help_finds_every_action_by_its_words_its_name_and_its_command(replay: bool) -> None:
    screen = _help("transcript", replay=replay)
    for action in ACTIONS:
        if replay and action.is_for_calls:
            continue
        for words in (action.description.split(), [action.id], [form_of(action).usage] if action.slash else []):
            found = " ".join(line.plain for line in screen.found(words))
            keys = [key_label(key) for key in keys_of(action, {})]
            assert all(key in found for key in keys), (action.id, words)
            assert "Nothing is called that" not in found


async def test_typing_in_the_help_searches_all_actions_and_escape_closes_it() -> None:
    async with console(size=(80, 24)) as driver:
        await driver.press("f1")
        await driver.press(*"anger")
        assert "Nothing is called that." in driver.screen()
        await driver.press("ctrl+u", *"theme")
        assert "/theme [THEME]" in driver.screen()
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen


@pytest.mark.parametrize("key", ["down", "pagedown", "end", "tab"])
async def test_the_help_scrolls_by_keys_while_its_filter_keeps_the_cursor(key: str) -> None:
    async with console(size=(80, 24)) as driver:
        await driver.press("f1")
        assert PHRASES[0] not in driver.screen()
        assert "scroll" in driver.rows()[-1]
        await driver.press(*[key] * 8)
        assert PHRASES[0] in driver.screen()
        await driver.press(*"theme")
        assert "/theme [THEME]" in driver.screen()


async def test_the_help_goes_back_to_its_first_line_by_home() -> None:
    async with console(size=(80, 24)) as driver:
        await driver.press("f1")
        await driver.press("end")
        assert "Transcript" not in driver.rows()[2]
        await driver.press("home")
        assert "Transcript" in driver.rows()[2]


async def test_an_action_without_a_key_can_be_given_one_and_keeps_its_command() -> None:
    async with console(size=(100, 300), keymap={"themes": "ctrl+u", "give-context": "ctrl+t"}) as driver:
        await driver.press("ctrl+u")
        assert isinstance(driver.app.screen, ThemesScreen)
        await driver.press("escape")
        await driver.press("ctrl+t")
        assert driver.app.console_screen.prompt.text == "/context "
        await driver.press("escape")
        await driver.press("f1")
        await driver.press(*"themes")
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


async def test_the_key_bar_of_the_transcript_names_the_key_that_copies_a_row_where_there_is_room() -> None:
    for width, voice, named in ((150, True, True), (120, False, True), (80, False, True), (80, True, False)):
        async with console(size=(width, 30)) as driver:
            if not voice:
                await driver.press("f2")
                await driver.press("tab")
            assert driver.app.place == "transcript"
            assert ("y Copy" in driver.rows()[-1]) == named, (width, voice)
            assert "^p Commands" in driver.rows()[-1]


async def test_the_help_says_what_the_key_of_the_selection_copies() -> None:
    async with console(size=(80, 24)) as driver:
        await driver.press("f1")
        assert "^c       Copy selection" in driver.screen()


@pytest.mark.parametrize("key", ["M", "ctrl+e", "g", "m", "x", "d", "ctrl+p"])
async def test_below_a_dialog_no_key_is_offered_that_does_nothing_in_it(key: str) -> None:
    async with console() as driver:
        offered = driver.rows()[-1]
        assert "i Write" in offered
        await driver.press(key)
        assert driver.app.screen is not driver.app.console_screen
        assert driver.rows()[-1].strip() == ""
        await driver.press("escape")
        assert driver.rows()[-1] == offered


async def test_the_key_bar_of_the_phase_pane_names_why_and_the_way_on_in_a_small_terminal_too() -> None:
    for size, tmux, more in (((120, 36), False, "esc Stop"), ((80, 24), True, "F1 Help")):
        async with console(size=size, tmux=tmux) as driver:
            await driver.press("2")
            for words in ("^e Why", "t Go to phase", "b Break", "^q Quit", more):
                assert words in driver.rows()[-1]


async def test_a_key_that_still_fits_is_not_left_out_with_a_longer_one() -> None:
    async with console(size=(120, 36), tmux=True) as driver:
        negotiating(driver.link)
        await driver.settle()
        await driver.press("4")
        row = driver.rows()[-1]
        assert "^p Commands" in row
        assert "e Edit" in row


@pytest.mark.parametrize("width", [80, 100, 120])
async def test_the_palette_is_named_before_the_remark_about_another_key(width: int) -> None:
    async with console(size=(width, 30), tmux=True) as driver:
        driver.link.emit(ev.ControlChanged(mode="text", microphone=False, speaker=True, actor="engine"))
        await driver.settle()
        assert "tab Panes" in driver.rows()[-1]
        assert "^p Commands" in driver.rows()[-1]
        await driver.press("tab")
        assert "^p Commands" in driver.rows()[-1]


async def test_on_a_heading_the_key_bar_offers_no_edit_and_without_one_no_undo() -> None:
    async with console(size=(120, 36)) as driver:
        negotiating(driver.link)
        await driver.settle()
        await driver.press("4")
        for words in ("e Edit", "del Delete"):
            assert words in driver.rows()[-1]
        assert "u Undo" not in driver.rows()[-1]
        await driver.press("up")
        for words in ("e Edit", "del Delete"):
            assert words not in driver.rows()[-1]
        driver.link.emit(ev.EditsApplied(command_id="c", how="edit", values=(), undo=1, redo=0))
        await driver.settle()
        assert "u Undo" in driver.rows()[-1]
        assert "nothing changed: the value is the same as before" in driver.screen()


@pytest.mark.parametrize("width", [80, 90])
async def test_a_pane_without_a_frame_has_its_note_above_the_prompt_and_takes_no_words_of_the_tabs(width: int) -> None:
    async with console(size=(width, 24)) as driver:
        negotiating(driver.link)
        await driver.settle()
        for key in ("1", "2", "3", "4", "8"):
            await driver.press(key)
            pane = driver.app.console_screen.grid.panes[driver.app.console_screen.grid.focused_pane]
            assert pane.noted
            above = driver.app.console_screen.prompt_pane.region.y
            assert f" {pane.noted} " in driver.rows()[above]
            tabs = next(row for row in driver.rows() if "[" in row)
            assert pane.noted not in tabs
            for word in ("Talk", "Phase", "Watch", "State", "Time", "Lat", "Tools", "Evt", "Log", "Tasks"):
                assert word in tabs.replace("Events", "Evt")
        await driver.press("1", "ctrl+f", *"the", "enter")
        assert "found 1 of" in driver.rows()[above]
        assert "N newer" in driver.rows()[above]


async def test_a_wide_terminal_has_more_keys_on_its_bar() -> None:
    more = ("^e Why", "F6 Hold", "m Mark", "^l Sessions", "^o Jump")
    shown = []
    for width in (80, 120, 160, 220):
        async with console(size=(width, 40)) as driver:
            row = driver.rows()[-1]
            for words in ("^b Text", "i Write", "F1 Help", "^q Quit"):
                assert words in row
            shown.append(sum(words in row for words in more))
            await driver.press("i")
            assert "m Mark" not in driver.rows()[-1]
    assert shown == sorted(shown)
    assert (shown[0], shown[-1]) == (0, len(more))


async def test_a_recording_offers_no_edits() -> None:
    async with console(size=(160, 45), replay=True) as driver:
        negotiating(driver.link)
        await driver.settle()
        for pane in ("state", "phase", "watchers", "tools", "transcript"):
            driver.app.console_screen.grid.go_to(pane)
            await driver.settle()
            bar = driver.rows()[-1]
            for title in ("Edit", "Add", "Undo", "Delete", "Break", "Go to phase", "On or off", "Hold", "Mark"):
                assert f" {title} " not in bar, (pane, bar)
            assert "F1 Help" in bar
        driver.app.console_screen.grid.go_to("state")
        for key in ("a", "t"):
            await driver.press(key)
            assert driver.app.screen is driver.app.console_screen
            assert "This is a recording: nothing can be changed." in driver.screen()
        assert "Edit the value" not in "".join(line.plain for line in _help("state", replay=True).lines(40))
        names = [name for name, _, _ in ConsoleCommands(driver.app.screen)._commands()]
        assert [name for name in names if name.startswith(("Change", "Talk", "Write"))] == []
        assert "Inspect: Why" in names


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


async def test_in_a_narrow_terminal_the_help_has_fewer_columns_and_no_broken_row() -> None:
    async with console(size=(60, 20)) as driver:
        await driver.press("f1")
        rows = [row.strip(" │") for row in driver.rows()]
        assert "^b F2    Text or voice  F7       One decision" in rows
        assert rows.count("") <= 2
