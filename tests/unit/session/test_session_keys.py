"""Keys that a session writes by itself, for guards."""

from __future__ import annotations

import math

import pytest
from tests.support.manual_clock import ManualClock

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.session_keys import MAX_WORDS, SessionSignals, SessionType
from gemini_live_runtime.state.store import State


class Kept:
    def __init__(self) -> None:
        self.clock = ManualClock(100.0)
        self.state = State()
        self.said = ("", "")
        self.signals = SessionSignals(self.state, self.clock.now, lambda: self.said)

    def __getitem__(self, name: str) -> object:
        return self.state.get(f"session:{name}")

    def after(self, *payloads: ev.Payload) -> Kept:
        for payload in payloads:
            self.signals.observe(payload)
        return self


READY = ev.ConnectionReady(ms=1.0, server_session="s", resumed=False)


def test_figures_that_move_all_the_time_are_read_live_and_make_no_mutations() -> None:
    kept = Kept().after(READY)
    before = kept.state.evidence("session:session_type")
    kept.clock.advance(2.5)
    assert (kept["elapsed_ms"], kept["silence_ms"], kept["remaining_budget_ms"]) == (2500, 2500, 897_500)
    kept.after(ev.TurnStarted(by="typed"))
    assert (kept["elapsed_ms"], kept["silence_ms"]) == (2500, 0)
    assert kept.state.evidence("session:session_type") == before
    assert kept.state.evidence("session:silence_ms") is None


def test_a_picture_makes_the_budget_that_of_video() -> None:
    kept = Kept().after(READY)
    kept.signals.mark_video_sent()
    assert kept["session_type"] == SessionType.AUDIO_VIDEO.value
    kept.clock.advance(130)
    assert kept["remaining_budget_ms"] == 0


def test_a_resumed_connection_goes_on_counting_and_a_fresh_one_begins_anew() -> None:
    kept = Kept().after(READY)
    kept.clock.advance(60)
    kept.after(ev.ConnectionReady(ms=1.0, server_session="s", resumed=True))
    seen = [kept["elapsed_ms"]]
    kept.after(READY)
    assert [*seen, kept["elapsed_ms"]] == [60_000, 0]


@pytest.mark.parametrize("left", [None, math.nan, math.inf, -math.inf])
def test_a_go_away_without_a_usable_time_is_noted_without_one(left: float | None) -> None:
    kept = Kept().after(READY, ev.ConnectionGoAway(time_left_s=left))
    assert kept["go_away_received"] is True
    assert kept["go_away_time_left_ms"] is None


def test_the_next_connection_forgets_that_the_last_one_was_to_end() -> None:
    kept = Kept().after(READY, ev.ConnectionGoAway(time_left_s=9.5), ev.ConnectionClosed(close_code=1001))
    assert (kept["go_away_time_left"], kept["go_away_time_left_ms"], kept["disconnected"]) == ("9.5s", 9500, True)
    kept.after(READY)
    assert (kept["go_away_received"], kept["disconnected"]) == (False, False)
    assert [key for key in kept.state.keys("session") if "go_away_time_left" in key] == []


def test_the_wires_phase_and_the_conversations_are_two() -> None:
    kept = Kept()
    kept.state.set("session:phase", "ask")
    words = []
    for word, reason in (("listening", ""), ("speaking", ""), ("thinking", "running a tool"), ("thinking", "")):
        kept.after(ev.SessionState(word=word, reason=reason))  # type: ignore[arg-type]
        words.append(kept["wire_phase"])
    assert words == ["active", "model_speaking", "tool_call_executing", "active"]
    assert kept["phase"] == "ask"


def test_errors_interruptions_and_tools_are_counted() -> None:
    kept = Kept().after(
        READY,
        ev.Notice(level="error", code="x", text="one"),
        ev.Notice(level="warning", code="x", text="no error"),
        ev.CodeFailed(where="w", name="n", error="two"),
    )
    assert (kept["error_count"], kept["last_error"]) == (2, "two")
    kept.signals.on_tool_ended("pay", True)
    kept.signals.on_tool_ended("pay", False)
    assert kept["called_ok:pay"] == 1
    assert kept.state.get("bg:pay_failed") is True


def test_what_was_said_is_written_whole_when_something_is_decided() -> None:
    kept = Kept()
    kept.said = ("good mor", "")
    kept.said = ("good morning", "hello")
    kept.signals.settle()
    assert (kept["last_input_transcription"], kept["last_output_transcription"]) == ("good morning", "hello")
    kept.said = ("", "still there?")
    kept.signals.settle()
    assert (kept["last_input_transcription"], kept["last_output_transcription"]) == ("good morning", "still there?")


def test_of_a_turn_without_end_the_newest_words_are_kept() -> None:
    kept = Kept()
    kept.said = ("", "first " + "word " * MAX_WORDS)
    kept.signals.settle()
    assert kept["last_output_transcription"] == ("word " * MAX_WORDS)[-MAX_WORDS:]
