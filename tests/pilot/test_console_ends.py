"""Sessions end in several ways, and the console says in which."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace

import pytest
from tests.support.console_driver import console, make_app, screen_text
from tests.support.manual_clock import ManualClock
from tests.support.patience import PATIENCE_S
from tests.support.scripted_link import ScriptedLink

from gemini_live_runtime import events as ev
from gemini_live_runtime.commands import HangUp, SendText
from gemini_live_runtime.engine.link import Link
from gemini_live_runtime.errors import EngineError
from gemini_live_runtime.journal.completion.missing_parts import MissingPart
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.console.outcome import failure_of
from gemini_live_tui.console.screen import ConsoleScreen
from gemini_live_tui.session_data import link, store
from gemini_live_tui.settings import ConsoleSettings


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
        assert driver.app.leaving.hanging_up is not None
        await driver.app.leaving.hanging_up
    assert driver.app.return_value is not None
    assert driver.app.return_value.exit_code == 3
    assert driver.link.closed


async def test_an_engine_that_does_not_answer_the_hang_up_is_not_waited_for_for_ever() -> None:
    async with console(bye_timeout_s=0.01) as driver:
        driver.link.answering = False
        await driver.pilot.press("ctrl+q")
        assert driver.app.leaving.hanging_up is not None
        await asyncio.wait_for(driver.app.leaving.hanging_up, PATIENCE_S)
    assert driver.app.return_value is not None
    assert driver.app.return_value.exit_code == 1


async def test_the_answer_to_a_hang_up_counts_although_a_flood_came_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console() as driver:
        monkeypatch.setattr(store, "FOLD_BUDGET_S", 0.0)
        driver.link.answering = False
        driver.link.emit(*(ev.TranscriptDelta(side="model", text="word ") for _ in range(2000)))
        driver.link.bye("hung up", 0)
        await driver.pilot.press("ctrl+q")
        assert driver.app.leaving.hanging_up is not None
        await driver.app.leaving.hanging_up
    assert driver.app.return_value is not None
    assert driver.app.return_value.message == "The session is over: hung up."
    assert driver.app.return_value.exit_code == 0


async def test_a_flood_is_not_drawn_while_the_console_hangs_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async with console() as driver:
        # Each frame folds one event.
        monkeypatch.setattr(store, "FOLD_BUDGET_S", -1.0)
        driver.link.answering = False
        await driver.pilot.press("ctrl+q")
        driver.link.emit(*(ev.TranscriptDelta(side="model", text="word ") for _ in range(100)))
        while driver.app.store.queued < 50:
            await driver.pilot.pause(0)
        drawn: list[int] = []
        monkeypatch.setattr(driver.app.console_screen, "frame", lambda: drawn.append(driver.app.store.queued))
        for _ in range(5):
            driver.app.frames.flush()
        assert drawn == []
        driver.link.bye("hung up", 0)
        assert driver.app.leaving.hanging_up is not None
        await driver.app.leaving.hanging_up
    assert driver.app.return_value is not None
    assert driver.app.return_value.message == "The session is over: hung up."


async def test_an_engine_that_still_sends_is_not_said_to_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "HANG_UP_TIMEOUT_S", 0.0)
    async with console() as driver:
        driver.link.answering = False
        await driver.pilot.press("ctrl+q")
        assert driver.app.leaving.hanging_up is not None
        await driver.app.leaving.hanging_up
    assert driver.app.return_value is not None
    assert driver.app.return_value.exit_code == 1
    assert "still sent messages" in driver.app.return_value.message
    assert "did not answer" not in driver.app.return_value.message


@pytest.mark.parametrize(("code", "told"), [(0, ""), (1, " Not complete: turn 1 was not finished.")])
async def test_hanging_up_in_a_turn_is_no_news_to_whoever_did_it(code: int, told: str) -> None:
    async with console() as driver:
        driver.link.begin_turn()
        driver.link.user("Hello")
        driver.link.bye("hung up", code, missing=(MissingPart("deliveries", "turn 1 was not finished"),))
        await driver.settle()
        assert driver.app.store.view.turn == 1
        await driver.pilot.press("ctrl+q")
    assert driver.app.return_value is not None
    assert driver.app.return_value.message == f"The session is over: hung up.{told}"


async def test_a_console_that_ends_says_what_was_not_delivered() -> None:
    async with console() as driver:
        parts = MissingPart("deliveries", "1 text has no answer"), MissingPart("output", "the model said nothing")
        driver.link.emit(ev.SessionEnded(reason="hung up", exit_code=0))
        driver.link.bye("hung up", missing=parts)
        await driver.settle()
        await driver.pilot.press("ctrl+q")
    assert driver.app.return_value is not None
    assert driver.app.return_value.message == "The session is over: hung up. Not complete: 1 text has no answer."
    assert driver.app.return_value.exit_code == 0


async def test_events_missing_in_the_recording_are_told_after_the_end() -> None:
    async with console() as driver:
        text, remedy = "212 events are missing in the session file.", "Free some space before the next session"
        driver.link.emit(ev.SessionEnded(reason="hung up", exit_code=0))
        driver.link.emit(ev.Notice(level="error", code="events-missing", text=text, remedy=remedy))
        driver.link.bye("hung up")
        await driver.settle()
        await driver.pilot.press("ctrl+q")
    assert driver.app.return_value is not None
    assert driver.app.return_value.missing == f"{text} {remedy}."


async def test_an_engine_that_hangs_is_shown_as_that_until_it_answers_again() -> None:
    async with console() as driver:
        driver.link.state("speaking")
        await driver.settle()
        driver.app.store.note_silence(True, for_s=8)
        since = time.strftime("%H:%M:%S", time.localtime(driver.app.store.silent_since))
        await driver.settle()
        assert "NO ANSWER" in driver.rows()[0]
        assert "REC" not in driver.rows()[0]
        shown = driver.rows()[0][-5:]
        driver.clock.advance(60)
        driver.app.frames.flush()
        assert driver.rows()[0][-5:] == shown
        assert f"No answer from the engine since {since}." in driver.screen()
        assert driver.app.leaving.outcome().message.startswith(
            "The engine does not answer. gemini-live-tui attach 20261120"
        )
        driver.app.store.note_silence(False)
        await driver.settle()
        assert "SPEAKING" in driver.rows()[0]
        assert "The engine answers again." in driver.screen()


async def test_a_console_on_an_engine_that_never_answered_ends_with_a_failure() -> None:
    async with console(started=False, attached=True) as driver:
        driver.app.store.note_silence(True)
        for _ in range(3):
            driver.app.frames.flush()
            await driver.pilot.pause(0)
        assert "No answer from the engine since" in driver.screen()
        await driver.pilot.press("ctrl+q")
    outcome = driver.app.return_value
    assert outcome is not None
    assert outcome.exit_code == 1
    assert outcome.message == "The engine does not answer. Whether it still runs: gemini-live-tui ps"


async def test_a_session_that_ended_is_over_without_the_engines_farewell() -> None:
    async with console() as driver:
        driver.link.emit(ev.SessionEnded(reason="hung up", exit_code=0))
        await driver.settle()
        await driver.pilot.press("ctrl+q")
    assert driver.app.return_value is not None
    assert driver.app.return_value.message == "The session is over: hung up."
    assert driver.app.return_value.exit_code == 0


@pytest.mark.parametrize("attached", [False, True])
async def test_detaching_sends_no_hang_up(attached: bool) -> None:
    async with console(attached=attached) as driver:
        await driver.press("D")
        await driver.pilot.press("D")
    assert driver.link.orders == []
    assert driver.link.closed
    assert driver.app.return_value is not None
    assert "Detached" in driver.app.return_value.message


async def test_a_sentence_typed_outside_the_prompt_does_not_leave_the_console() -> None:
    async with console() as driver:
        await driver.press(*"Do you have pizza?", "enter")
        assert driver.app.return_value is None
        assert "Leave this console?" in driver.screen()
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen
    assert driver.link.orders == []


async def test_the_question_before_detaching_can_be_answered_by_hanging_up() -> None:
    async with console() as driver:
        await driver.press("D")
        await driver.quit("ctrl+q")
    assert driver.link.orders == [HangUp()]


async def test_quitting_an_attached_console_asks_whether_the_session_is_to_end() -> None:
    async with console(attached=True) as driver:
        await driver.press("ctrl+q")
        assert "The session can go on without this console" in driver.screen()
        await driver.press("escape")
        assert driver.app.screen is driver.app.console_screen
        await driver.press("ctrl+q")
        await driver.pilot.press("enter")
    assert driver.link.orders == []
    assert driver.app.return_value is not None
    assert "Detached" in driver.app.return_value.message


async def test_quitting_an_attached_console_twice_ends_the_session() -> None:
    async with console(attached=True) as driver:
        await driver.press("ctrl+q")
        await driver.quit("ctrl+q")
    assert driver.link.orders == [HangUp()]


async def test_where_nothing_can_go_on_detaching_says_why() -> None:
    async with console() as driver:
        driver.app.store.hello = replace(driver.app.store.hello, pid=os.getpid())
        await driver.press("D")
        assert "The engine runs in this process" in driver.screen()
        driver.link.bye()
        await driver.settle()
        await driver.press("/detach")
        assert "There is no call here to detach from." in driver.screen()
        assert driver.app.return_value is None


async def test_quitting_right_behind_enter_sends_the_message_and_asks_nothing() -> None:
    async with console() as driver:
        await driver.press("i", *"hello")
        await driver.quit("enter", "ctrl+q")
    sent, *others = driver.link.orders
    assert isinstance(sent, SendText)
    assert (sent.text, others) == ("hello", [HangUp()])


async def test_quitting_asks_about_a_message_that_was_not_sent() -> None:
    async with console() as driver:
        await driver.press("i", *"one more thing")
        await driver.press("ctrl+q")
        assert "This was not sent: one more thing" in driver.screen()
        await driver.press("escape")
        assert driver.app.console_screen.prompt.text == "one more thing"
        assert driver.link.orders == []
        await driver.press("ctrl+q")
        await driver.quit("enter")
    assert driver.link.orders == [HangUp()]


async def test_ctrl_c_asks_once_and_quits_the_second_time() -> None:
    async with console() as driver:
        await driver.press("ctrl+c")
        assert "Press ctrl+c again to quit" in driver.screen()
        assert "Nothing is selected to copy; y copies a row." in driver.words()
        assert driver.link.orders == []
        await driver.pilot.press("ctrl+c")
        while driver.app.leaving.hanging_up is None:
            await driver.pilot.pause(0)
        await driver.app.leaving.hanging_up
        assert driver.link.orders == [HangUp()]


async def test_ctrl_c_much_later_asks_again() -> None:
    async with console() as driver:
        await driver.press("ctrl+c")
        driver.clock.advance(60)
        await driver.press("ctrl+c")
        assert driver.app.leaving.hanging_up is None
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


async def test_a_console_that_was_let_go_comes_back_and_says_so_in_passing() -> None:
    async with console() as driver:
        driver.link.answering = False
        await driver.press("/say Are you there?")
        view = driver.app.store.view.snapshot()
        apply(view, ev.Event(view.seq + 1, 4.0, 1, 1, ev.TextSent(text="Are you there?", command_id="c-1-1")))
        apply(view, ev.Event(view.seq + 1, 4.0, 1, 1, ev.TranscriptDelta(side="model", text="I am back")))
        driver.link.successor = again = ScriptedLink()
        again.hello(view)
        driver.link.die("The console fell 20,001 messages behind and was detached")
        await driver.settle()
        text = driver.screen()
        assert "I am back" in text
        assert "attached again; it takes in 2 events" in text
        assert "cut off" not in text
        assert "over" not in text
        again.exchange("One more", "of course")
        await driver.settle()
        assert "of course" in driver.screen()


async def test_a_text_that_was_lost_is_not_taken_for_an_equal_one_said_before() -> None:
    async with console() as driver:
        await driver.press("/say yes")
        driver.link.answering = False
        await driver.press("/say yes", "/say and this")
        view = driver.app.store.view.snapshot()
        apply(view, ev.Event(view.seq + 1, 4.0, 1, 1, ev.TextSent(text="and this", command_id="elsewhere")))
        driver.link.successor = again = ScriptedLink()
        again.hello(view)
        driver.link.die("The console fell 20,001 messages behind and was detached")
        await driver.settle()
        assert "sending 1" in driver.screen()
        again.bye()
        await driver.settle()
        assert driver.app.console_screen.prompt.text == "/say yes"


async def test_quitting_before_the_engines_first_message_hangs_up_all_the_same() -> None:
    async with console(started=False) as driver:
        await driver.pilot.pause()
        await driver.pilot.press("ctrl+q")
        await driver.pilot.pause()
        assert driver.link.orders == [HangUp()]


class PrintedError(Exception):
    """Error that Textual prints in its own way."""

    def __rich__(self) -> str:
        return "a page about it"


@pytest.mark.parametrize("failure", [KeyError(0), PrintedError("0")])
async def test_a_console_that_breaks_down_names_the_way_back_and_prints_no_traceback(failure: Exception) -> None:
    def fail() -> None:
        raise failure

    running = console()
    app = (await running.__aenter__()).app
    app.call_later(fail)
    with pytest.raises(type(failure)):
        await running.__aexit__(None, None, None)
    assert app.failure is failure
    assert not app._exit_renderables
    told = str(failure_of(failure, app.store, app.settings))
    assert f"Internal error of the console: {type(failure).__name__}: 0." in told
    ident = "20261120-120000-abcd"
    assert f"gemini-live-tui attach {ident} returns to it, gemini-live-tui stop {ident} ends it." in told


async def test_a_key_that_quits_right_after_the_first_frame_quits(monkeypatch: pytest.MonkeyPatch) -> None:
    complete = ConsoleScreen.complete

    begun = asyncio.Event()

    async def quit_meanwhile(self: ConsoleScreen) -> None:
        self.app.exit()
        begun.set()
        await complete(self)

    monkeypatch.setattr(ConsoleScreen, "complete", quit_meanwhile)
    app = make_app(ScriptedLink())
    async with app.run_test(size=(100, 30)):
        await begun.wait()
    assert app.return_code == 0


async def test_a_console_that_leaves_takes_in_only_how_the_session_ends() -> None:
    async with console() as driver:
        driver.link.answering = False
        driver.link.exchange("Question", "Answer")
        await driver.settle()
        await driver.pilot.press("ctrl+q")
        driver.link.emit(*(ev.TranscriptDelta(side="model", text="unread ") for _ in range(100)))
        text, remedy = "7 events are missing in the session file.", "Free some space"
        driver.link.emit(ev.Notice(level="error", code="events-missing", text=text, remedy=remedy))
        driver.link.emit(ev.SessionEnded(reason="hung up", exit_code=3))
        driver.link.die("The engine process ended.")
        assert driver.app.leaving.hanging_up is not None
        await driver.app.leaving.hanging_up
        assert not [block.text for block in driver.app.store.view.blocks if "unread" in block.text]
        assert driver.app.store.missed == 0
    outcome = driver.app.return_value
    assert outcome is not None
    assert (outcome.exit_code, outcome.message) == (3, "The session is over: hung up.")
    assert outcome.missing == f"{text} {remedy}."
