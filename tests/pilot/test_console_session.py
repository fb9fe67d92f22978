"""The console shows a session: words, streams, meters, following and size."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.support.console_driver import console
from tests.support.scripted_link import ScriptedLink

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_tui.cli.console_start import DEMO_HINT
from gemini_live_tui.painting.glyphs import STATE_LABELS


@pytest.mark.parametrize("size", [(100, 34), (110, 30), (120, 36), (150, 45)])
async def test_every_pane_is_named_above_its_place_in_the_order_of_digits(size: tuple[int, int]) -> None:
    async with console(size=size) as driver:
        for key in "493":
            await driver.press(key)
            (row,) = (row for row in driver.rows() if re.search(rf"\[{key}", row))
            frame = next(part for part in row.split("╭") if f"[{key}" in part)
            digits = re.findall(r"(?<![\w:])[1-9](?= |$|\])", frame)
            assert digits == sorted(digits)
            assert set(digits) >= ({"4", "8"} if size[0] == 150 and key == "4" else {"3", "7", "9"})


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_the_pointer_onward_of_the_demo_can_be_read_whole(size: tuple[int, int]) -> None:
    async with console(size=size, hint=DEMO_HINT) as driver:
        for _ in range(2):
            text = " ".join(re.sub("[│╭╮╯╰─]", " ", driver.screen()).split())
            assert re.search("This is the demo on this machine. .*To talk to Gemini: .p or F3, .*API key", text), text
            await driver.press("f2")


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


async def test_the_header_says_in_words_that_the_disk_refuses_the_recording() -> None:
    async with console(size=(80, 24)) as driver:
        driver.link.emit(ev.Notice(level="error", code="journal-failed", text="The session file cannot be written."))
        await driver.settle()
        assert "REC FAILS" in driver.rows()[0]
        driver.link.emit(ev.Notice(level="info", code="journal-recovered", text="It is written again."))
        await driver.settle()
        assert "FAILS" not in driver.rows()[0]
        assert "REC" in driver.rows()[0]


@pytest.mark.parametrize("level", ["info", "warning"])
async def test_a_recording_that_goes_on_again_replaces_the_error_above_the_transcript(level: Any) -> None:
    async with console(size=(80, 24)) as driver:
        failed = "The session file cannot be written: No space left on device."
        driver.link.emit(ev.Notice(level="error", code="journal-failed", text=failed, remedy="Free some space"))
        await driver.settle()
        banner = driver.app.query_one("Banner")
        assert "cannot be written" in banner.message
        assert banner.has_class("-error")
        text = "The session file is written again, without 3 events."
        driver.link.emit(ev.Notice(level=level, code="journal-recovered", text=text))
        await driver.settle()
        assert (banner.message, banner.level) == (text, level)
        assert not banner.has_class("-error")


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


async def test_a_call_that_a_dead_engine_cut_has_no_duration() -> None:
    async with console() as driver:
        driver.link.begin_turn()
        driver.link.emit(ev.ToolCalled(call_id="a", name="pay", args={}))
        cut = {"status": "error", "result": {"error": "cut"}, "ms": None, "delivered": False}
        driver.link.emit(ev.ToolFinished(call_id="a", name="pay", **cut))
        await driver.settle()
        assert "→ error" in driver.screen()
        await driver.press("7")
        assert "pay" in driver.screen()
        assert not re.search(r"error\W+\d+(\.\d+)? m?s", driver.screen())


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


async def test_an_agent_that_greets_first_leaves_the_phrases_until_the_person_has_said_something() -> None:
    async with console() as driver:
        driver.link.begin_turn()
        driver.link.model("Good evening. What can I do for you?")
        await driver.settle()
        rows = driver.rows()
        greeting = next(number for number, row in enumerate(rows) if "Good evening." in row)
        phrases = next(number for number, row in enumerate(rows) if "Try saying" in row)
        assert greeting < phrases
        assert "Answer aloud, or press i and type." in driver.screen()
        driver.link.user("Hello")
        await driver.settle()
        assert "Try saying" not in driver.screen()
        assert "Good evening." in driver.screen()


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


async def test_scrolled_back_text_stands_still_while_more_is_said() -> None:
    async with console() as driver:
        for number in range(40):
            driver.link.exchange(f"Question {number}", f"Answer {number}")
        await driver.settle()
        await driver.press("pageup", "pageup")
        before = [row[:90].rstrip() for row in driver.rows()[3:20]]
        driver.link.exchange("One more", "And another")
        await driver.settle()
        assert [row[:90].rstrip() for row in driver.rows()[3:20]] == before


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


async def test_the_header_says_that_the_user_is_away_until_a_sign_comes() -> None:
    async with console() as driver:
        driver.link.emit(ev.UserStateChanged(old="listening", new="away"))
        await driver.settle()
        assert "user away" in driver.rows()[0]
        driver.link.emit(ev.UserStateChanged(old="away", new="speaking"))
        await driver.settle()
        assert "user away" not in driver.rows()[0]


@pytest.mark.parametrize("word", ["protected", "paused"])
async def test_the_meters_have_a_word_for_an_answer_that_is_protected_or_paused(word: str) -> None:
    async with console() as driver:
        driver.link.sample(answer=word)
        await driver.settle()
        assert word.upper() in driver.rows()[1]
        driver.link.sample(answer="")
        await driver.settle()
        assert word.upper() not in driver.rows()[1]


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


async def test_at_the_transcripts_top_it_is_said_how_much_came_earlier() -> None:
    view = SessionView(seq=1, session_id="20261120-120000-abcd", agent="concierge", blocks_forgotten=1234)
    text = "A paragraph that is long enough to be wrapped over two rows of a narrow terminal at least once, surely."
    view.blocks = [Block(id=1235 + at, kind="model", t=1.0, turn=1, gen=1, text=text, done=True) for at in range(60)]
    view.next_block = 1295
    async with console(started=False, size=(120, 36)) as driver:
        driver.link.hello(view)
        await driver.settle()
        await driver.press("home")
        assert "1,234 earlier paragraphs" in driver.screen()
        await driver.press("down")
        assert "1,234 earlier paragraphs" not in driver.screen()


# -- devices that come and go, and the health of the sound -----------------------------------------------------------

OPENED: dict[str, Any] = {"input_rate": 48_000, "output_rate": 48_000, "echo_canceller": "x"}


async def test_a_lost_microphone_is_told_with_what_follows_and_the_key_that_helps() -> None:
    async with console(size=(100, 30)) as driver:
        reason = "The microphone 'USB' was disconnected."
        driver.link.emit(ev.AudioLost(direction="input", reason=reason, remedy="What you type is sent."))
        await driver.settle()
        told = " ".join(driver.screen().split())
        assert f"{reason} What you type is sent. (^d Devices)" in told
        driver.link.emit(ev.AudioOpened(input="USB", output="Box", again=True, **OPENED))
        await driver.settle()
        assert "The sound goes on. Microphone: USB. Speaker: Box." in " ".join(driver.screen().split())


async def test_a_voice_mode_that_returns_by_itself_leaves_what_is_being_typed_alone() -> None:
    async with console() as driver:
        driver.link.emit(ev.ControlChanged(mode="text", microphone=True, speaker=True, actor="engine"))
        await driver.settle()
        await driver.press("h", "e", "l")
        driver.link.emit(ev.ControlChanged(mode="voice", microphone=True, speaker=True, actor="engine"))
        await driver.settle()
        await driver.press("l", "o")
        assert driver.app.console_screen.prompt.text == "hello"


async def test_trouble_with_the_sound_is_named_in_the_strip_and_told_with_its_remedy() -> None:
    async with console(size=(120, 30)) as driver:
        driver.link.emit(ev.AudioOpened(input="USB", output="Box", **OPENED))
        driver.link.emit(
            ev.SoundHealth(
                kind="no-signal", well=False, text="Only silence.", remedy="Check its mute switch.", action="devices"
            )
        )
        await driver.settle()
        assert "MIC SILENT" in driver.rows()[1]
        assert "Only silence. Check its mute switch. (^d Devices)" in " ".join(driver.screen().split())
        driver.link.emit(ev.SoundHealth(kind="no-signal", well=True))
        await driver.settle()
        assert "MIC SILENT" not in driver.rows()[1]


async def test_a_part_that_fails_again_and_again_is_named_in_the_strip_until_it_works() -> None:
    async with console(size=(120, 30)) as driver:
        failed = "The extractor mood failed 5 times within 60 s"
        driver.link.emit(ev.PartHealth(part="extractor", name="mood", well=False, text=failed))
        await driver.settle()
        assert "DEGRADED" in driver.rows()[1]
        assert failed in " ".join(driver.screen().split())
        await driver.press("M")
        assert failed in " ".join(driver.screen().split())
        await driver.press("escape")
        driver.link.emit(ev.PartHealth(part="extractor", name="mood", well=True))
        await driver.settle()
        assert "DEGRADED" not in driver.rows()[1]
        assert "The extractor mood works again" in " ".join(driver.screen().split())


async def test_a_leaking_echo_is_one_note_with_what_helps() -> None:
    async with console(size=(120, 30)) as driver:
        driver.link.emit(ev.EchoLeaking(leaking=True))
        driver.link.emit(
            ev.SoundHealth(kind="echo", well=False, text="It hears itself.", remedy="Use headphones.", action="devices")
        )
        await driver.settle()
        notes = [block for block in driver.app.store.view.blocks if block.kind == "notice"]
        assert [(note.text, note.detail, note.action) for note in notes] == [
            ("It hears itself.", "Use headphones.", "devices")
        ]
        restored = SessionView.from_json(driver.app.store.view.to_json())
        assert restored.health == {"echo": ("It hears itself.", "devices")}
        assert restored.blocks == driver.app.store.view.blocks
