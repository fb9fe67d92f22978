"""The core tells of a server's silence and asks again, where it is a fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.unit.session.core_support import Bench

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import LeaveConnection, Prompt
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.session.link.watchdog import SilenceWatchdog
from gemini_live_runtime.tools.dispatch import Outcome

POLICY = LinkPolicy()


def typing() -> Bench:
    return Bench(mode="text").connect()


def left(bench: Bench) -> list[str]:
    """Return the reasons for which connections were left."""
    return [effect.reason for effect in bench.effects if isinstance(effect, LeaveConnection)]


def notices(bench: Bench) -> list[str]:
    return [notice.code for notice in bench.all(ev.Notice)]


def resumed(bench: Bench) -> None:
    """Lose the connection that was left, and make another."""
    from gemini_live_runtime.errors import ConnectionClosedError
    from gemini_live_runtime.session.link.ends import LinkEnd

    error = ConnectionClosedError("left", close_code=1001)
    bench.do(bench.core.connection.on_disconnected(bench.now, error, LinkEnd.STALLED))
    bench.connect()


def call(bench: Bench, name: str = "t") -> None:
    bench.says(toolCall={"functionCalls": [{"id": "c1", "name": name, "args": {}}]})


# -- no answer -------------------------------------------------------------------------------------------------------


def test_an_answer_that_is_late_is_told_once() -> None:
    bench = typing()
    bench.types("hello?")
    bench.passes(9.9)
    assert notices(bench) == []
    bench.passes(5)
    assert notices(bench) == ["answer-late"]
    assert left(bench) == []


def test_a_text_without_an_answer_is_asked_again_on_another_connection_once() -> None:
    bench = typing()
    bench.types("hello?")
    bench.passes(21)
    assert left(bench) == ["stalled"]
    resumed(bench)
    assert [frame["clientContent"]["turns"][0]["parts"][0]["text"] for frame in bench.sent] == ["hello?"] * 2
    bench.passes(100)
    assert left(bench) == ["stalled"]
    assert notices(bench) == ["answer-late", "no-answer"]


def test_words_without_an_answer_are_asked_again() -> None:
    bench = Bench().connect()
    bench.content(inputTranscription={"text": " what time is it"})
    bench.passes(21)
    assert left(bench) == ["stalled"]


def test_a_question_after_one_that_was_asked_again_is_asked_again_itself() -> None:
    bench = typing()
    bench.types("one")
    bench.passes(21)
    resumed(bench)
    bench.passes(21)
    bench.types("two")
    bench.passes(21)
    assert left(bench) == ["stalled", "stalled"]
    resumed(bench)
    assert bench.sent[-1]["clientContent"]["turns"][0]["parts"][0]["text"] == "two"
    assert [(event.outcome, event.ref) for event in bench.all(ev.SendSettled)] == [
        ("resent", "c1"),
        ("unknown", "c1"),
        ("resent", "c1"),
    ]


def test_a_voice_without_words_is_never_a_reason_to_leave() -> None:
    bench = Bench().connect()
    for _ in range(20):
        bench.voice(True)
        bench.passes(2)
        bench.voice(False)
        bench.passes(30)
    assert left(bench) == []
    assert notices(bench) == []


def test_words_that_come_after_their_answer_are_not_waited_on() -> None:
    bench = Bench().connect()
    bench.voice(True)
    bench.voice(False)
    bench.audio(100)
    bench.content(generationComplete=True)
    bench.drains(1)
    bench.content(turnComplete=True)
    bench.content(inputTranscription={"text": " please"})
    bench.passes(60)
    assert left(bench) == []
    assert notices(bench) == []


def test_late_words_of_a_session_without_marks_are_not_waited_on() -> None:
    bench = Bench().connect()
    bench.content(outputTranscription={"text": "Hello."}, generationComplete=True, turnComplete=True)
    bench.content(inputTranscription={"text": " please"})
    bench.passes(60)
    assert left(bench) == []


def test_a_transcript_that_is_repeated_does_not_put_off_the_end_of_patience() -> None:
    bench = Bench().connect()
    for _ in range(5):
        bench.content(inputTranscription={"text": " what time is it"})
        bench.passes(4.5)
    assert left(bench) == ["stalled"]
    resumed(bench)
    assert bench.sent[-1]["clientContent"]["turns"][0]["parts"][0]["text"].split() == ["what", "time", "is", "it"]


def hears_the_user(bench: Bench) -> None:
    bench.voice(True)


def runs_a_tool(bench: Bench) -> None:
    call(bench)


def is_held(bench: Bench) -> None:
    bench.do(bench.core.on_held(bench.now, True))


def still_speaks(bench: Bench) -> None:
    bench.audio(60_000)
    bench.content(inputTranscription={"text": " and now"})


def has_answered(bench: Bench) -> None:
    # Its turn goes on: of some servers the end comes only when all was played.
    bench.content(outputTranscription={"text": "Well."}, generationComplete=True)


def ends_empty(bench: Bench) -> None:
    bench.content(turnComplete=True)
    bench.content(turnComplete=True)


@pytest.mark.parametrize(
    "what", [hears_the_user, runs_a_tool, is_held, still_speaks, has_answered, ends_empty], ids=lambda f: f.__name__
)
def test_silence_is_no_fault_while_something_else_explains_it(what: Callable[[Bench], None]) -> None:
    bench = Bench().connect()
    bench.content(inputTranscription={"text": " what time is it"})
    what(bench)
    bench.passes(60)
    assert left(bench) == []
    assert "answer-late" not in notices(bench)


def test_the_wait_begins_anew_when_the_agent_is_released() -> None:
    bench = typing()
    bench.types("hello?")
    bench.do(bench.core.on_held(bench.now, True))
    bench.passes(15)
    bench.do(bench.core.on_held(bench.now, False))
    bench.passes(19)
    assert left(bench) == []
    bench.passes(2)
    assert left(bench) == ["stalled"]


def test_a_model_that_thinks_aloud_is_not_silent() -> None:
    bench = typing()
    bench.types("hard question")
    for _ in range(10):
        bench.passes(8)
        bench.content(modelTurn={"parts": [{"text": "Let me see", "thought": True}]})
    assert left(bench) == []
    bench.passes(21)
    assert left(bench) == ["stalled"]


@pytest.mark.parametrize(("status", "reasons"), [("ok", ["stalled"])])
def test_silence_after_a_result_that_is_to_be_told_is_a_stall(status: str, reasons: list[str]) -> None:
    bench = typing()
    bench.types("look it up")
    call(bench)
    bench.passes(30)
    bench.tool_ends(Outcome("c1", "t", "ok", {"found": 1}, 1.0))
    bench.passes(21)
    assert left(bench) == reasons


def test_an_answer_that_comes_in_time_ends_the_wait() -> None:
    bench = typing()
    bench.types("hello?")
    bench.passes(15)
    bench.content(outputTranscription={"text": "Hi."}, turnComplete=True)
    bench.passes(60)
    assert left(bench) == []


# -- an answer that stops --------------------------------------------------------------------------------------------


def answering(bench: Bench, seconds: float = 0.0) -> Bench:
    """Let the model begin to answer, with so many seconds of sound."""
    bench.types("tell me a story")
    bench.content(outputTranscription={"text": "Once upon"})
    if seconds:
        bench.audio(round(seconds * 1000))
    return bench


def stopped(bench: Bench) -> str:
    """Return the text of the notice that an answer has stopped, or ""."""
    return next((notice.text for notice in bench.all(ev.Notice) if "has stopped" in notice.text), "")


def test_an_answer_that_stops_is_told_and_then_left_once() -> None:
    bench = answering(typing())
    bench.passes(POLICY.late_answer_s - 0.1)
    assert stopped(bench) == ""
    bench.passes(5)
    assert stopped(bench) == "The model's answer has stopped for 10 s"
    assert left(bench) == []
    bench.passes(60)
    assert left(bench) == ["stopped"]


def test_the_rest_of_an_answer_that_stopped_is_asked_for() -> None:
    bench = answering(typing())
    bench.passes(POLICY.no_answer_s + 0.1)
    resumed(bench)
    assert [settled.outcome for settled in bench.all(ev.SendSettled)] == ["continued"]


def test_sound_that_arrived_at_once_is_heard_to_its_end_before_silence_counts() -> None:
    bench = answering(Bench().connect(), seconds=120)
    bench.passes(120 + POLICY.late_answer_s - 0.1)
    assert notices(bench) == []
    bench.passes(0.2)
    assert notices(bench) == ["answer-late"]


def test_sound_that_a_late_device_still_plays_is_no_silence() -> None:
    bench = answering(Bench().connect(), seconds=5)
    for _ in range(60):
        bench.passes(1)
        bench.plays(1, 80)
    assert notices(bench) == []


@pytest.mark.parametrize("what", [hears_the_user, runs_a_tool, is_held], ids=lambda f: f.__name__)
def test_an_answer_waits_for_what_explains_that_it_stops(what: Callable[[Bench], None]) -> None:
    bench = answering(Bench().connect())
    what(bench)
    bench.passes(300)
    assert left(bench) == []
    assert notices(bench) == []


def test_an_answer_that_stops_after_a_result_was_told_is_left() -> None:
    bench = answering(typing())
    call(bench)
    bench.passes(30)
    bench.tool_ends(Outcome("c1", "t", "ok", {"found": 1}, 1.0))
    bench.content(outputTranscription={"text": " it is"})
    bench.passes(POLICY.no_answer_s + 0.1)
    assert left(bench) == ["stopped"]


def test_silence_after_a_result_in_an_answer_may_be_the_end_of_it() -> None:
    bench = answering(typing())
    call(bench)
    bench.tool_ends(Outcome("c1", "t", "ok", {"found": 1}, 1.0))
    bench.passes(300)
    assert "stopped" not in left(bench)


def test_an_answer_that_was_cut_is_not_waited_on() -> None:
    bench = answering(typing())
    bench.order(cmd.Interrupt())
    bench.passes(300)
    assert left(bench) == []


def test_a_greeting_that_stops_is_left_as_an_answer_is() -> None:
    bench = Bench().connect()
    bench.content(outputTranscription={"text": "Good"})
    bench.passes(POLICY.no_answer_s + 0.1)
    assert left(bench) == ["stopped"]


# -- empty turns -----------------------------------------------------------------------------------------------------


def test_an_empty_turn_is_asked_again_once_and_ends_empty_then() -> None:
    bench = typing()
    bench.types("hello?")
    bench.content(turnComplete=True)
    assert [effect.reason for effect in bench.effects if isinstance(effect, Prompt)] == ["the turn was empty"]
    assert notices(bench) == ["empty-turn"]
    assert bench.all(ev.TurnCompleted) == []
    bench.content(turnComplete=True)
    assert [turn.outcome for turn in bench.all(ev.TurnCompleted)] == ["empty"]
    assert bench.last(ev.Notice).text == "The model ended its turn again without saying anything"


def test_an_empty_turn_that_is_asked_again_is_answered_in_the_same_turn() -> None:
    bench = typing()
    bench.types("hello?")
    bench.content(turnComplete=True)
    bench.content(outputTranscription={"text": "Hi."}, generationComplete=True, turnComplete=True)
    assert [(e.turn, e.payload.outcome) for e in bench.emits(ev.TurnCompleted)] == [(1, "complete")]


def test_a_turn_whose_end_the_server_explains_is_not_asked_again() -> None:
    bench = typing()
    bench.types("hello?")
    bench.content(turnComplete=True, turnCompleteReason="RESPONSE_REJECTED")
    assert [turn.outcome for turn in bench.all(ev.TurnCompleted)] == ["empty"]


def test_a_silent_turn_that_led_to_a_call_is_not_asked_again() -> None:
    bench = typing()
    bench.types("note it")
    call(bench)
    bench.tool_ends(Outcome("c1", "t", "ok", {}, 1.0))
    bench.content(turnComplete=True)
    assert notices(bench) == []


# -- age -------------------------------------------------------------------------------------------------------------


def aged(model: str, seconds: float, *, handle: bool = True) -> Bench:
    bench = Bench(mode="text", model=model).connect()
    if handle:
        bench.says(sessionResumptionUpdate={"newHandle": "h", "resumable": True})
    bench.passes(seconds)
    return bench


@pytest.mark.parametrize(("model", "limit_s"), [("gemini-2.5-flash-live", 600), ("gemini-3.8-live", 3480)])
def test_a_connection_is_left_before_its_known_age_limit(model: str, limit_s: float) -> None:
    assert left(aged(model, limit_s - POLICY.early_s - 1)) == []
    assert left(aged(model, limit_s)) == ["old"]


def test_without_a_handle_or_a_known_limit_a_connection_is_left_as_it_is() -> None:
    assert left(aged("gemini-3.8-live", 7200, handle=False)) == []
    assert left(aged("local-live-1", 7200)) == []


def test_a_handle_that_comes_late_lets_an_old_connection_be_left() -> None:
    bench = aged("gemini-3.8-live", 3470, handle=False)
    bench.says(sessionResumptionUpdate={"newHandle": "h", "resumable": True})
    bench.passes(0.1)
    assert left(bench) == ["old"]


def test_a_connection_that_the_server_has_announced_to_end_is_left_by_that() -> None:
    bench = aged("gemini-3.8-live", 3400)
    bench.says(goAway={"timeLeft": "50s"})
    bench.passes(200)
    assert left(bench) == []


# -- slowness --------------------------------------------------------------------------------------------------------


def measures(bench: Bench, *latencies_ms: float) -> None:
    for latency_ms in latencies_ms:
        bench.do(bench.core.connection.on_latency(bench.now, latency_ms))


def test_a_connection_whose_answers_come_twice_as_late_is_left_and_that_is_said_once() -> None:
    bench = aged("gemini-3.8-live", 0)
    measures(bench, *[600.0] * 8, *[1400.0] * 2)
    assert left(bench) == []
    measures(bench, *[1400.0] * 10)
    assert left(bench) == ["old"]
    assert [notice.text for notice in bench.all(ev.Notice)] == [
        "Answers begin later and later: after 0.6 s at first, 1.4 s now"
    ]


def test_slow_answers_without_a_handle_are_only_said() -> None:
    bench = aged("gemini-3.8-live", 0, handle=False)
    measures(bench, *[600.0] * 5, *[1400.0] * 5)
    assert left(bench) == []
    assert notices(bench) == ["slower"]


@pytest.mark.parametrize("later", [[100.0] * 9, [450.0] * 9, [100.0, 100.0, 9000.0, 9000.0, 100.0]])
def test_answers_that_are_hardly_slower_or_now_and_then_are_no_trend(later: list[float]) -> None:
    bench = aged("gemini-3.8-live", 0)
    measures(bench, *[100.0] * 5, *later)
    assert notices(bench) == []


def test_silence_means_a_dead_socket_sooner_while_the_user_waits_and_pongs_have_come_soon() -> None:
    watchdog = SilenceWatchdog(POLICY)
    assert watchdog.limit_s(user_waits=True) == POLICY.dead_after_s
    limits = []
    for pong_s in (0.1, 4.0, 8.0, 2.0, 40.0):
        watchdog.on_pong(pong_s)
        limits.append(watchdog.limit_s(user_waits=True))
    assert limits == [10.0, 10.0, 16.0, 16.0, 60.0]
    assert watchdog.limit_s(user_waits=False) == POLICY.dead_after_s
    assert watchdog.next_ping_s(user_waits=True) < watchdog.next_ping_s(user_waits=False)
