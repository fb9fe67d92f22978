"""Keys and typing: no letter and no message is lost."""

from __future__ import annotations

from tests.support.console_driver import console

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import MAX_TEXT, SendText


async def test_a_letter_opens_the_prompt_and_lands_in_it_and_none_that_follows_is_lost() -> None:
    async with console() as driver:
        await driver.press(*"hi there vs you")
        assert driver.app.console_screen.prompt.text == "hi there vs you"
        assert driver.link.orders == []


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
        assert driver.app.console_screen.desk.focused_pane == "watchers"
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
