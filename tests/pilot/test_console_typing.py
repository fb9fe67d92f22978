"""Keys and typing: no letter and no message is lost."""

from __future__ import annotations

import pytest
from tests.support.console_driver import Driver, console

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import Interrupt, SendText, SetMicrophone
from gemini_live_tui.actions import PANES, PLACES
from gemini_live_tui.dialogs.meters import MetersScreen
from gemini_live_tui.pickers.jump import JumpScreen
from gemini_live_tui.widgets.filter_line import FilterLine


@pytest.mark.parametrize("way", ["i", "enter"])
async def test_the_keys_of_the_prompt_put_the_cursor_there_and_no_letter_that_follows_is_lost(way: str) -> None:
    async with console() as driver:
        await driver.press(way, *"hi there vs you")
        assert driver.app.console_screen.prompt.text == "hi there vs you"
        assert driver.link.orders == []


async def test_letters_are_commands_in_the_transcript_as_in_every_pane() -> None:
    async with console(size=(120, 40)) as driver:
        for pane in ("transcript", "state", "logs"):
            driver.app.console_screen.grid.go_to(pane)
            await driver.settle()
            await driver.press("z")
            assert [slot.shown for slot in driver.app.console_screen.grid.arrangement.slots] == [pane]
            await driver.press("z", "M")
            assert isinstance(driver.app.screen, MetersScreen)
            await driver.press("escape", *"qjk")
            assert f"k does nothing in {PLACES[pane].title}: i writes, / begins a command" in driver.screen()
        assert driver.app.console_screen.prompt.text == ""


async def test_a_click_into_the_prompt_puts_the_cursor_there() -> None:
    async with console() as driver:
        await driver.pilot.click("#prompt")
        await driver.press(*"zoom")
        assert driver.app.console_screen.prompt.text == "zoom"


async def test_the_cursor_stays_in_the_prompt_after_a_message_in_voice_mode_too() -> None:
    async with console() as driver:
        await driver.press("i", *"one", "enter", *"two", "enter")
        assert driver.link.orders == [SendText(text="one"), SendText(text="two")]
        assert "F4 Mute" in driver.rows()[-1]
        await driver.press("f4")
        assert driver.link.orders[-1] == SetMicrophone(on=False)


async def test_a_letter_of_the_keymap_does_not_keep_from_typing_it() -> None:
    async with console(keymap={"jump": "k,f9", "mark": "K"}) as driver:
        await driver.press("i", *"kK")
        assert driver.app.console_screen.prompt.text == "kK"
        await driver.press("tab")
        await driver.press("k")
        assert isinstance(driver.app.screen, JumpScreen)
        await driver.press("escape")
        await driver.press("i", "f9")
        assert isinstance(driver.app.screen, JumpScreen)


async def test_letters_typed_right_behind_the_key_of_a_filter_land_in_it() -> None:
    async with console() as driver:
        driver.app.console_screen.grid.go_to("state")
        await driver.settle()
        await driver.press("f", *"app:x")
        assert isinstance(driver.app.focused, FilterLine)
        assert driver.app.focused.value == "app:x"


async def _speaking(driver: Driver) -> None:
    driver.link.begin_turn()
    driver.link.model("An answer")
    driver.link.emit(ev.PlaybackStarted(), ev.SessionState(word="speaking"))
    driver.app.say("The disk is full.", "warning")
    await driver.settle()


@pytest.mark.parametrize("place", ["prompt", *(pane for pane in PANES if pane != "failed")])
async def test_escape_stops_the_speech_in_every_place_and_does_nothing_else(place: str) -> None:
    async with console() as driver:
        screen = driver.app.console_screen
        if place == "prompt":
            await driver.press("i")
        else:
            screen.grid.go_to(place)
        await _speaking(driver)
        focused = driver.app.focused
        assert "esc Stop" in driver.rows()[-1]
        await driver.press("escape")
        assert driver.link.orders == [Interrupt()]
        driver.link.emit(ev.PlaybackDrained(of=1), ev.SessionState(word="listening"))
        await driver.settle()
        await driver.press("escape")
        assert driver.link.orders == [Interrupt()]
        assert driver.app.focused is focused
        assert "The disk is full." in driver.screen()


async def test_escape_closes_the_list_and_clears_the_filter_as_the_key_bar_says() -> None:
    async with console() as driver:
        await driver.press("/", "m")
        assert "esc Close list" in driver.rows()[-1]
        await driver.press("escape")
        assert driver.app.console_screen.prompt.text == "/m"
        assert "esc Stop" in driver.rows()[-1]
        driver.app.console_screen.grid.go_to("state")
        await driver.settle()
        await driver.press("f", "a")
        assert "esc Clear filter" in driver.rows()[-1]
        await _speaking(driver)
        await driver.press("escape")
        assert driver.link.orders == []
        assert "esc Stop" in driver.rows()[-1]


@pytest.mark.parametrize(
    ("pane", "key", "words"), [("transcript", "ctrl+f", "esc End search"), ("state", "f", "esc Clear filter")]
)
async def test_escape_closes_a_line_that_is_in_use_from_its_list_too(pane: str, key: str, words: str) -> None:
    async with console() as driver:
        driver.link.exchange("Is it raining?", "It is raining.")
        driver.app.console_screen.grid.go_to(pane)
        await driver.settle()
        await driver.press(key, *"rain", "enter")
        line = driver.app.console_screen.grid.filter_in_use
        assert line is not None
        assert driver.app.focused is not line
        assert words in driver.rows()[-1]
        await _speaking(driver)
        assert "esc Stop" in driver.rows()[-1]
        await driver.press("escape")
        assert driver.link.orders == [Interrupt()]
        driver.link.emit(ev.PlaybackDrained(of=1), ev.SessionState(word="listening"))
        await driver.settle()
        assert words in driver.rows()[-1]
        await driver.press("escape")
        assert driver.link.orders == [Interrupt()]
        assert line.value == ""
        assert not line.in_use
        assert "esc Stop" in driver.rows()[-1]
        assert "Find older" not in driver.rows()[-1]
        assert driver.app.console_screen.grid.focused_pane == pane


async def test_a_slash_with_nothing_behind_it_goes_with_the_list_of_commands() -> None:
    async with console() as driver:
        await driver.press("/")
        await driver.press("escape")
        assert driver.app.console_screen.prompt.text == ""
        await driver.press("tab")
        await driver.press("/")
        assert driver.app.console_screen.prompt.text == "/"


async def test_a_letter_that_means_nothing_in_a_pane_is_said_to_and_types_nothing() -> None:
    async with console() as driver:
        await driver.press("2")
        await driver.press(*"whq")
        assert driver.app.console_screen.prompt.text == ""
        assert driver.app.console_screen.grid.focused_pane == "phase"
        assert "q does nothing in Phase: i writes, / begins a command, F1 or ? helps." in driver.screen()
        driver.clock.advance(5.0)
        await driver.settle()
        assert "does nothing" not in driver.screen()


async def test_a_command_begun_in_a_pane_keeps_what_was_being_written() -> None:
    async with console() as driver:
        await driver.press("i", *"half a thought", "tab")
        await driver.press("2")
        await driver.press(*"/mute", "enter")
        assert driver.link.orders == [SetMicrophone(on=False)]
        assert driver.app.console_screen.prompt.past[0] == "half a thought"


async def test_what_is_pasted_in_a_pane_is_not_lost() -> None:
    from textual import events

    async with console() as driver:
        await driver.press("2")
        driver.app.post_message(events.Paste("what was copied"))
        await driver.settle()
        assert driver.app.console_screen.prompt.text == "what was copied"
        assert driver.link.orders == []


async def test_text_mode_that_cannot_be_left_is_said_once_in_the_transcript_and_at_each_press_above_it() -> None:
    async with console() as driver:
        driver.link.emit(ev.ControlChanged(mode="text", microphone=False, speaker=True, actor="engine"))
        await driver.settle()
        driver.link.refusing = "Staying in text mode. No microphone is open"
        for _ in range(3):
            await driver.press("f2")
        assert driver.screen().count("warn   Staying in text mode") == 1
        assert "warning: Staying in text mode" in driver.screen()
        driver.clock.advance(5.0)
        await driver.settle()
        assert "warning: Staying" not in driver.screen()
        assert driver.app.focused is driver.app.console_screen.prompt


async def test_escape_just_after_the_model_has_ended_says_nothing() -> None:
    async with console() as driver:
        driver.link.begin_turn()
        driver.link.model("An answer")
        driver.link.emit(ev.PlaybackStarted(), ev.SessionState(word="speaking"))
        await driver.settle()
        driver.link.refusing = "There is nothing to interrupt"
        await driver.press("escape")
        assert driver.link.orders == [Interrupt()]
        assert "interrupt" not in " ".join(driver.rows()[:-1])


async def test_bound_single_keys_win_while_the_prompt_is_not_focused() -> None:
    async with console() as driver:
        await driver.press("v")
        assert driver.app.console_screen.prompt.text == ""
        assert len(driver.link.orders) == 1


async def test_tab_leaves_the_prompt_and_keeps_what_was_written() -> None:
    async with console() as driver:
        await driver.press("i", *"hello")
        assert "tab Panes" in driver.rows()[-1]
        await driver.press("tab")
        assert driver.app.focused is driver.app.console_screen.transcript
        assert driver.app.console_screen.prompt.text == "hello"
        assert driver.link.orders == []


async def test_tab_leaves_the_prompt_in_text_mode_so_that_the_keys_of_panes_can_be_reached() -> None:
    async with console() as driver:
        driver.link.emit(ev.ControlChanged(mode="text", microphone=False, speaker=True, actor="engine"))
        await driver.settle()
        assert driver.app.focused is driver.app.console_screen.prompt
        assert "enter Send" in driver.screen()
        await driver.press(*"hello", "tab")
        assert "enter Send" not in driver.screen()
        await driver.press("3")
        assert driver.app.console_screen.grid.focused_pane == "watchers"
        assert driver.app.console_screen.prompt.text == "hello"


async def test_why_is_asked_from_the_prompt_too() -> None:
    async with console() as driver:
        await driver.press("i", *"hello", "ctrl+e")
        assert "Nothing has happened yet that could be explained." in driver.screen()
        await driver.press("escape")
        assert driver.app.console_screen.prompt.text == "hello"


async def test_several_pasted_lines_are_one_message() -> None:
    from textual import events

    async with console() as driver:
        driver.app.post_message(events.Paste("one\ntwo\x1b[2J\nthree"))
        await driver.settle()
        await driver.press("enter")
        assert driver.link.orders == [SendText(text="one\ntwo\nthree")]


async def test_a_message_that_is_too_long_stays_and_is_explained() -> None:
    async with console() as driver:
        prompt = driver.app.console_screen.prompt
        prompt.focus()
        prompt.text = "x" * 50_000
        await driver.press("enter")
        assert driver.link.orders == []
        assert len(prompt.text) == 50_000
        assert "50,000 characters" in driver.screen()


async def test_a_refused_message_comes_back_into_the_prompt() -> None:
    async with console() as driver:
        driver.link.refusing = "The model takes no text."
        await driver.press("i", *"hello", "enter")
        assert driver.app.console_screen.prompt.text == "hello"
        assert "Not sent: The model takes no text." in driver.screen()


async def test_a_refused_message_waits_in_the_history_while_another_is_written() -> None:
    async with console() as driver:
        driver.link.answering = False
        await driver.press("i", *"first", "enter", *"second")
        command = driver.link.sent[0]
        driver.link.emit(ev.CommandRefused(command_id=command.id, command="text.send", reason="Busy."))
        await driver.settle()
        assert driver.app.console_screen.prompt.text == "second"
        await driver.press("up")
        assert driver.app.console_screen.prompt.text == "first"


async def test_a_message_that_the_dying_engine_never_confirmed_comes_back() -> None:
    async with console() as driver:
        driver.link.answering = False
        await driver.press("i", *"hello", "enter")
        driver.link.die()
        await driver.settle()
        assert driver.app.console_screen.prompt.text == "hello"


async def test_a_mode_changed_by_somebody_else_moves_the_focus() -> None:
    async with console() as driver:
        driver.link.emit(ev.ControlChanged(mode="text", microphone=False, speaker=True, actor="engine"))
        await driver.settle()
        assert driver.app.focused is driver.app.console_screen.prompt


async def test_a_remapped_key_replaces_the_old_one_everywhere() -> None:
    async with console(keymap={"mute": "k"}) as driver:
        assert "k Mute" in driver.rows()[-1]
        await driver.press("k")
        assert len(driver.link.orders) == 1
        await driver.press("f4")
        assert len(driver.link.orders) == 1


async def test_inside_tmux_the_key_bar_names_the_way_past_its_prefix() -> None:
    async with console(size=(120, 30), tmux=True) as driver:
        assert "F2 Text (or ^b twice)" in driver.rows()[-1]
        driver.link.emit(ev.ControlChanged(mode="text", microphone=False, speaker=True, actor="engine"))
        await driver.pilot.resize_terminal(60, 16)
        await driver.settle()
        for key in ("F2 Voice", "enter Send", "F1 Help", "^q Quit"):
            assert key in driver.rows()[-1]


async def test_muting_is_named_before_the_remark_on_tmux_in_a_small_terminal() -> None:
    async with console(size=(80, 24), tmux=True) as driver:
        for keys, words in ((("1",), "space Mute"), (("1", "i"), "F4 Mute")):
            await driver.press(*keys)
            for other in (words, "esc Stop", "F2 Text", "F1 Help", "^q Quit"):
                assert other in driver.rows()[-1]


async def test_a_click_on_the_key_bar_does_what_it_says() -> None:
    async with console() as driver:
        column = driver.rows()[-1].index("Mute")
        await driver.pilot.click("#key-bar", offset=(column, 0))
        await driver.settle()
        assert "MIC MUTED" in driver.rows()[1]


async def test_text_dragged_over_is_copied_without_gutter_and_line_breaks() -> None:
    async with console(size=(60, 30)) as driver:
        driver.link.exchange("Hello", "one two three four five six seven eight nine ten eleven twelve", latency_ms=None)
        await driver.settle()
        transcript = driver.app.console_screen.transcript
        await driver.pilot.mouse_down(transcript, offset=(8, 1))
        await driver.pilot.hover(transcript, offset=(20, 2))
        await driver.pilot.mouse_up(transcript, offset=(20, 2))
        await driver.press("ctrl+c")
        assert driver.app.clipboard.startswith("one two three four")
        assert "\n" not in driver.app.clipboard
        assert "eleven" in driver.app.clipboard


async def test_what_the_search_finds_is_told_while_it_is_typed_and_marked_in_the_transcript() -> None:
    async with console(size=(120, 36)) as driver:
        driver.link.exchange("Is it raining in Bergen?", "It is raining in Bergen.")
        await driver.settle()
        await driver.press("ctrl+f")
        await driver.press(*"bergen")
        assert "1 of 2 · enter n N" in driver.screen()
        await driver.press("x")
        assert "not found" in driver.screen()
        await driver.press("backspace", "enter")
        assert "found 1 of 2 · n older · N newer" in driver.screen()
        await driver.press("n")
        assert "found 2 of 2" in driver.screen()
        transcript = driver.app.console_screen.transcript
        assert transcript.utterance is not None
        assert transcript.utterance.text == "Is it raining in Bergen?"
        assert ("Bergen", "chosen") in [run for line in transcript.item_lines(0, 80) for run in line.runs]
