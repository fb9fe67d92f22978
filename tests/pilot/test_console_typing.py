"""Keys and typing: no letter and no message is lost."""

from __future__ import annotations

from tests.support.console_driver import console

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import MAX_TEXT, Interrupt, SendText, SetMicrophone


async def test_a_letter_opens_the_prompt_and_lands_in_it_and_none_that_follows_is_lost() -> None:
    async with console() as driver:
        await driver.press(*"hi there vs you")
        assert driver.app.console_screen.prompt.text == "hi there vs you"
        assert driver.link.orders == []


async def test_a_letter_that_means_nothing_in_a_pane_is_said_to_and_types_nothing() -> None:
    async with console() as driver:
        await driver.press("2")
        await driver.press(*"whq")
        assert driver.app.console_screen.prompt.text == ""
        assert driver.app.console_screen.grid.focused_pane == "phase"
        assert "q does nothing in Phase. To write: 1 for a message, / for a command." in driver.screen()
        driver.clock.advance(5.0)
        await driver.settle()
        assert "does nothing" not in driver.screen()
        await driver.press("1")
        await driver.press(*"hi")
        assert driver.app.console_screen.prompt.text == "hi"


async def test_a_pane_that_has_the_slash_for_itself_is_not_said_to_begin_a_command_with_it() -> None:
    async with console(keymap={"pane-transcript": "f11"}) as driver:
        driver.app.console_screen.grid.go_to("state")
        await driver.settle()
        await driver.press("h")
        assert "h does nothing in State. To write: F11 for a message." in driver.screen()


async def test_a_command_begun_in_a_pane_keeps_what_was_being_written() -> None:
    async with console() as driver:
        await driver.press(*"half a thought")
        await driver.press("escape")
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


async def test_escape_leaves_the_prompt_and_keeps_what_was_written() -> None:
    async with console() as driver:
        await driver.press(*"hello", "escape")
        assert driver.app.focused is driver.app.console_screen.transcript
        assert driver.app.console_screen.prompt.text == "hello"
        assert driver.link.orders == []


async def test_escape_leaves_the_prompt_in_text_mode_so_that_the_keys_of_panes_can_be_reached() -> None:
    async with console() as driver:
        driver.link.emit(ev.ControlChanged(mode="text", microphone=False, speaker=True, actor="engine"))
        await driver.settle()
        assert driver.app.focused is driver.app.console_screen.prompt
        assert "enter Send" in driver.screen()
        await driver.press(*"hello", "escape")
        assert "enter Send" not in driver.screen()
        await driver.press("3")
        assert driver.app.console_screen.grid.focused_pane == "watchers"
        assert driver.app.console_screen.prompt.text == "hello"


async def test_why_is_asked_from_the_prompt_too() -> None:
    async with console() as driver:
        await driver.press(*"hello", "ctrl+e")
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
        prompt.text = "x" * (MAX_TEXT + 1)
        await driver.press("enter")
        assert driver.link.orders == []
        assert len(prompt.text) == MAX_TEXT + 1
        assert f"{MAX_TEXT + 1:,} characters" in driver.screen()


async def test_a_refused_message_comes_back_into_the_prompt() -> None:
    async with console() as driver:
        driver.link.refusing = "The model takes no text."
        await driver.press(*"hello", "enter")
        assert driver.app.console_screen.prompt.text == "hello"
        assert "Not sent: The model takes no text." in driver.screen()


async def test_a_refused_message_waits_in_the_history_while_another_is_written() -> None:
    async with console() as driver:
        driver.link.answering = False
        await driver.press(*"first", "enter", *"second")
        command = driver.link.sent[0]
        driver.link.emit(ev.CommandRefused(command_id=command.id, command="text.send", reason="Busy."))
        await driver.settle()
        assert driver.app.console_screen.prompt.text == "second"
        await driver.press("up")
        assert driver.app.console_screen.prompt.text == "first"


async def test_a_message_that_the_dying_engine_never_confirmed_comes_back() -> None:
    async with console() as driver:
        driver.link.answering = False
        await driver.press(*"hello", "enter")
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
    async with console(tmux=True) as driver:
        assert "F2 Text (in tmux ^b twice)" in driver.rows()[-1]
        driver.link.emit(ev.ControlChanged(mode="text", microphone=False, speaker=True, actor="engine"))
        await driver.pilot.resize_terminal(60, 16)
        await driver.settle()
        for key in ("F2 Voice", "enter Send", "F1 Help", "^q Quit"):
            assert key in driver.rows()[-1]


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
