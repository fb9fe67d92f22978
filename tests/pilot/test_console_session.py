"""What the console shows of a session, and how it behaves when the session does not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.support.console_driver import console, screen_text
from tests.support.scripted_link import ScriptedLink

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import ManualClock
from gemini_live_runtime.commands import MAX_TEXT, HangUp, SendText
from gemini_live_runtime.engine.link import Link
from gemini_live_runtime.errors import EngineError
from gemini_live_runtime.journal.view import Block, SessionView
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.glyphs import STATE_LABELS
from gemini_live_tui.settings import ConsoleSettings

# -- what is shown ---------------------------------------------------------------------------------------------------


async def test_every_state_is_told_by_its_word() -> None:
    async with console() as driver:
        for word, label in STATE_LABELS.items():
            driver.link.state(word)
            await driver.settle()
            assert label in driver.rows()[0]


async def test_the_header_names_agent_backend_model_recording_cost_and_time() -> None:
    async with console(size=(120, 30)) as driver:
        usage: dict[str, Any] = {"prompt": {}, "response": {}, "total_tokens": 3, "cost_usd": 0.0214}
        driver.link.emit(ev.UsageReported(prompt_tokens=1, response_tokens=2, **usage), after=75)
        await driver.settle()
        for part in ("concierge", "local · local-concierge", "REC", "~$0.021", "01:15"):
            assert part in driver.rows()[0]


async def test_time_goes_on_between_events_but_not_when_the_session_is_over() -> None:
    async with console() as driver:
        driver.clock.advance(65)
        driver.app.frames.flush()
        assert "01:05" in driver.rows()[0]
        driver.link.bye()
        await driver.settle()
        shown = driver.rows()[0][-5:]
        driver.clock.advance(60)
        driver.app.frames.flush()
        await driver.pilot.pause(0)
        assert driver.rows()[0][-5:] == shown


async def test_both_sides_stream_in_word_by_word() -> None:
    async with console() as driver:
        driver.link.begin_turn()
        for said, shown in (("What is", "you    What is"), (" the weather", "you    What is the weather")):
            driver.link.user(said)
            await driver.settle()
            assert shown in driver.screen()
        driver.link.model("It is ")
        await driver.settle()
        driver.link.model("raining.")
        await driver.settle()
        assert "model  It is raining." in driver.screen()


async def test_an_interrupted_answer_says_where_it_was_cut_and_strikes_what_was_not_heard() -> None:
    async with console() as driver:
        link = driver.link
        link.begin_turn()
        link.model("One two three four")
        cut = {"cut_below": 1, "heard_samples": 1, "unheard_samples": 1, "heard_text": "One two", "unheard_text": ""}
        link.emit(ev.TurnInterrupted(by="server", **cut))
        await driver.settle()
        line = driver.app.console_screen.transcript._item(0)[0]
        assert [run for run in line.runs if run[1] in ("said", "unheard", "cut")] == [
            ("One two", "said"),
            (" ✂ cut", "cut"),
            (" three four", "unheard"),
        ]


async def test_a_tool_runs_and_ends_in_its_place() -> None:
    async with console() as driver:
        driver.link.begin_turn()
        driver.link.emit(ev.ToolCalled(call_id="a", name="weather", args={"city": "Oslo"}))
        await driver.settle()
        assert 'weather(city="Oslo") → running' in driver.screen()
        finished = {"status": "ok", "result": {"sky": "clear"}, "ms": 141.0, "delivered": True}
        driver.link.emit(ev.ToolFinished(call_id="a", name="weather", **finished))
        await driver.settle()
        assert 'weather(city="Oslo") → ok · 141 ms' in driver.screen()
        assert '{"sky": "clear"}' in driver.screen()


async def test_a_finished_turn_shows_its_latency() -> None:
    async with console() as driver:
        driver.link.exchange("Hello", "Hello to you", latency_ms=1234)
        await driver.settle()
        assert "Hello to you  1.2 s" in driver.screen()
        assert "LAT 1.2 s" in driver.rows()[1]


async def test_the_empty_console_offers_phrases_and_the_way_to_type() -> None:
    async with console(hint="Set GEMINI_API_KEY to talk to Gemini.") as driver:
        text = driver.screen()
        for part in ("Try saying", "What's the weather in Lisbon?", "F2", "Set GEMINI_API_KEY"):
            assert part in text


async def test_a_notice_does_not_take_the_phrases_away() -> None:
    async with console() as driver:
        driver.link.emit(ev.Notice(level="warning", code="sound", text="No sound device was found."))
        await driver.settle()
        rows = driver.rows()
        notice = next(number for number, row in enumerate(rows) if "No sound device" in row)
        phrases = next(number for number, row in enumerate(rows) if "Try saying" in row)
        assert notice < phrases
        driver.link.exchange("Hello", "Hello to you")
        await driver.settle()
        assert "Try saying" not in driver.screen()


async def test_only_as_many_phrases_are_offered_as_there_is_room_for() -> None:
    async with console(size=(60, 16)) as driver:
        assert "What's the weather in Lisbon?" in driver.screen()
        assert "more" in driver.screen()
        assert "Cancel the timer" not in driver.screen()


async def test_the_meters_say_what_is_heard_and_what_is_not() -> None:
    async with console(size=(120, 30)) as driver:
        driver.link.sample(mic_db=-18.0, out_db=-21.0, erle_db=24.0, buffer_ms=62.0, speech=True, clipped=True)
        await driver.settle()
        for part in ("-18 dB", "CLIP", "-21 dB", "ECHO -24 dB", "BUF  62 ms"):
            assert part in driver.rows()[1]
        driver.clock.advance(3)
        driver.link.sample(mic_db=-18.0, speech=True)
        await driver.settle()
        assert "voice" in driver.rows()[1]
        assert "CLIP" not in driver.rows()[1]


async def test_a_model_that_hears_itself_is_told_in_words() -> None:
    async with console(size=(120, 30)) as driver:
        driver.link.emit(ev.EchoLeaking(leaking=True))
        await driver.settle()
        assert "model may hear itself, use headphones" in driver.rows()[1]


async def test_a_session_without_sound_says_none() -> None:
    link = ScriptedLink()
    async with console(started=False, link=link) as driver:
        link.hello()
        link.emit(ev.AudioOpened(input="", output="", input_rate=0, output_rate=0, echo_canceller=""))
        link.state("text")
        await driver.settle()
        assert "MIC none" in driver.rows()[1]
        assert "OUT none" in driver.rows()[1]


async def test_an_attached_console_shows_what_was_said_before() -> None:
    view = SessionView(seq=41, t=90.0, session_id="x", agent="concierge", word="listening")
    view.blocks = [Block(id=1, kind="user", t=1.0, turn=1, gen=0, text="Said long ago", done=True)]
    view.next_block = 2
    link = ScriptedLink()
    async with console(started=False, link=link) as driver:
        link.hello(view)
        link.user("and now")
        await driver.settle()
        assert "Said long ago" in driver.screen()
        assert "and now" in driver.screen()


# -- keys and typing -------------------------------------------------------------------------------------------------


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
    async with console(keymap={"mute": "m"}) as driver:
        assert "m Mute" in driver.rows()[-1]
        await driver.press("m")
        assert len(driver.link.orders) == 1
        await driver.press("f4")
        assert len(driver.link.orders) == 1


async def test_inside_tmux_the_key_bar_names_the_way_past_its_prefix() -> None:
    async with console(tmux=True) as driver:
        assert "F2 Text (in tmux ^b twice)" in driver.rows()[-1]


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


# -- following and size ----------------------------------------------------------------------------------------------


async def test_scrolled_back_text_stands_still_while_more_is_said() -> None:
    async with console() as driver:
        for number in range(40):
            driver.link.exchange(f"Question {number}", f"Answer {number}")
        await driver.settle()
        await driver.press("pageup", "pageup")
        before = [row[:90] for row in driver.rows()[3:20]]
        driver.link.exchange("One more", "And another")
        await driver.settle()
        assert [row[:90] for row in driver.rows()[3:20]] == before


async def test_a_terminal_that_is_too_small_keeps_the_state_the_meters_and_the_session() -> None:
    async with console() as driver:
        await driver.pilot.resize_terminal(50, 12)
        await driver.settle()
        rows = driver.rows()
        assert "LISTENING  terminal too small (need 60x16)" in rows[0]
        assert "MIC" in rows[1]
        assert not any(rows[2:])
        await driver.press("space")
        assert "MUTED" in driver.rows()[1]
        driver.link.exchange("Still", "here")
        await driver.pilot.resize_terminal(100, 30)
        await driver.settle()
        assert "model  here" in driver.screen()


@pytest.mark.parametrize("size", [(160, 45), (120, 36), (80, 24), (60, 16)])
async def test_no_row_is_wider_than_the_terminal_whatever_is_said(size: tuple[int, int]) -> None:
    async with console(size=size) as driver:
        driver.link.exchange("長い日本語の質問です" * 20, "wörd " * 80 + "x" * 400)
        driver.link.emit(ev.Notice(level="error", code="x", text="Something " * 30, remedy="Do this " * 20))
        driver.link.emit(ev.EchoLeaking(leaking=True))
        await driver.settle()
        from rich.cells import cell_len

        assert max(cell_len(row) for row in driver.rows()) <= size[0]
        assert len(driver.rows()) == size[1]


async def test_an_idle_console_draws_nothing_but_the_time() -> None:
    async with console() as driver:
        await driver.settle()
        painted: list[object] = []
        screen = driver.app.console_screen
        for widget in (screen.header, screen.meters, screen.transcript, screen.key_bar, screen.prompt):
            widget.refresh = lambda *regions, widget=widget, **_: painted.append(widget)  # type: ignore[method-assign]
        for _ in range(5):
            driver.app.frames.flush()
        assert painted == []
        driver.clock.advance(1)
        driver.app.frames.flush()
        assert painted == [screen.header]


# -- ends ------------------------------------------------------------------------------------------------------------


async def test_an_engine_that_dies_leaves_everything_on_the_screen_and_says_so() -> None:
    async with console() as driver:
        driver.link.exchange("Remember this", "I will")
        driver.link.die("The engine process ended (signal 9).")
        await driver.settle()
        text = driver.screen()
        assert "ERROR" in driver.rows()[0]
        assert "REC" not in driver.rows()[0]
        assert "The session was cut off: The engine process ended (signal 9)" in text
        assert "Remember this" in text
        await driver.press("ctrl+q")
        assert driver.app.return_value is not None
        assert driver.app.return_value.exit_code == 1


async def test_an_engine_that_cannot_be_started_is_a_sentence_not_a_traceback() -> None:
    async def source() -> Link:
        raise EngineError("The engine did not start", remedy="See: gemini-live-tui doctor")

    app = ConsoleApp(source, settings=ConsoleSettings(theme="ember", tmux=False), clock=ManualClock())
    async with app.run_test(size=(100, 30)) as pilot:
        while app._link_task is None or not app._link_task.done():
            await pilot.pause()
        app.frames.flush()
        await pilot.pause()
        assert "No session: The engine did not start. See: gemini-live-tui doctor" in screen_text(app)
        await pilot.press("ctrl+q")
    assert app.return_value is not None
    assert app.return_value.exit_code == 1


async def test_a_session_that_ends_by_itself_says_why_and_stays_readable() -> None:
    async with console() as driver:
        driver.link.exchange("Question", "Answer")
        driver.link.bye("the cost limit is reached", 1)
        await driver.settle()
        assert "The session is over: the cost limit is reached" in driver.screen()
        assert "Answer" in driver.screen()


async def test_quitting_hangs_up_and_takes_the_sessions_exit_code() -> None:
    async with console() as driver:
        driver.link.answering = False
        await driver.pilot.press("ctrl+q")
        while not driver.link.sent:
            await driver.pilot.pause(0)
        assert driver.link.orders == [HangUp()]
        driver.link.bye("done", 3)
        assert driver.app._hanging_up is not None
        await driver.app._hanging_up
    assert driver.app.return_value is not None
    assert driver.app.return_value.exit_code == 3
    assert driver.link.closed


async def test_an_engine_that_does_not_answer_the_hang_up_is_not_waited_for_for_ever() -> None:
    async with console(bye_timeout_s=0.01) as driver:
        driver.link.answering = False
        await driver.pilot.press("ctrl+q")
        assert driver.app._hanging_up is not None
        await asyncio.wait_for(driver.app._hanging_up, 10)
    assert driver.app.return_value is not None
    assert driver.app.return_value.exit_code == 1


async def test_detaching_sends_no_hang_up() -> None:
    async with console(detach_on_quit=True) as driver:
        await driver.pilot.press("ctrl+q")
    assert driver.link.orders == []
    assert driver.link.closed
    assert driver.app.return_value is not None
    assert "Detached" in driver.app.return_value.message


async def test_ctrl_c_asks_once_and_quits_the_second_time() -> None:
    async with console() as driver:
        await driver.press("ctrl+c")
        assert "Press ctrl+c again to quit" in driver.screen()
        assert driver.link.orders == []
        await driver.pilot.press("ctrl+c")
        while driver.app._hanging_up is None:
            await driver.pilot.pause(0)
        await driver.app._hanging_up
        assert driver.link.orders == [HangUp()]


async def test_ctrl_c_much_later_asks_again() -> None:
    async with console() as driver:
        await driver.press("ctrl+c")
        driver.clock.advance(60)
        await driver.press("ctrl+c")
        assert driver.app._hanging_up is None
        assert "Press ctrl+c again" in driver.screen()


async def test_a_passing_hint_goes_away_by_itself() -> None:
    async with console() as driver:
        await driver.press("ctrl+c")
        driver.clock.advance(10)
        driver.app.frames.flush()
        await driver.pilot.pause(0)
        assert "Press ctrl+c" not in driver.screen()


async def test_a_recording_cannot_be_talked_to_and_is_marked() -> None:
    link = ScriptedLink()
    async with console(replay=True, link=link) as driver:
        link.exchange("Question", "Answer")
        link.bye()
        await driver.settle()
        assert "REPLAY" in driver.rows()[0]
        assert "REC" not in driver.rows()[0].replace("REPLAY", "")
        assert "Answer" in driver.screen()
        await driver.press("space", "x")
        assert "This is a recording" in driver.screen()
        assert link.orders == []
        await driver.pilot.press("ctrl+q")
    assert driver.app.return_value is not None
    assert driver.app.return_value.exit_code == 0


async def test_events_that_never_arrived_are_counted_and_said() -> None:
    async with console() as driver:
        driver.link._seq += 3
        driver.link.state("hearing")
        await driver.settle()
        assert "3 events did not arrive" in driver.screen()
