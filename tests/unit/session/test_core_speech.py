"""Report speech whose words never came, and nothing else."""

from __future__ import annotations

import pytest
from tests.unit.session.core_support import Bench

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import ConnectionClosedError
from gemini_live_runtime.session.core.effects import Send
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S
from gemini_live_runtime.wire import compose


@pytest.fixture
def bench() -> Bench:
    return Bench().connect()


def speaks(bench: Bench, seconds: float = 1.6, peak_db: float | None = -24.04) -> None:
    """Speak until 0.3 s before the local mark's end."""
    bench.voice(True)
    bench.passes(seconds)
    bench.do(bench.core.audio.on_voice(bench.now, False, peak_db))
    bench.passes(0.5)


def reported(bench: Bench) -> list[ev.SpeechNotUnderstood]:
    return bench.all(ev.SpeechNotUnderstood)


def order(bench: Bench) -> list[str]:
    kinds = (ev.TurnStarted, ev.SpeechNotUnderstood, ev.TranscriptDelta, ev.TurnCompleted)
    return [payload.type for payload in bench.all(ev.Payload) if isinstance(payload, kinds)]


def test_an_answer_to_speech_without_words_is_preceded_by_a_report_of_the_speech(bench: Bench) -> None:
    speaks(bench)
    bench.content(outputTranscription={"text": "I didn't catch that."})
    bench.content(generationComplete=True, turnComplete=True)
    assert reported(bench) == [
        ev.SpeechNotUnderstood(seconds=1.3, peak_db=-24.0, decided_by="server", answer="answered")
    ]
    assert order(bench) == ["turn.started", "speech.not_understood", "transcript.delta", "turn.completed"]


def test_a_turn_that_ends_without_words_and_without_an_answer_is_reported_too(bench: Bench) -> None:
    speaks(bench)
    bench.content(generationComplete=True)
    bench.content(turnComplete=True)
    bench.content(turnComplete=True)
    assert [report.answer for report in reported(bench)] == ["nothing"]


def test_speech_of_several_pieces_is_one_utterance(bench: Bench) -> None:
    speaks(bench, 1.0, -30.0)
    speaks(bench, 1.0, -20.0)
    bench.audio(100)
    assert [(report.seconds, report.peak_db) for report in reported(bench)] == [(2.2, -20.0)]


def test_the_servers_marks_are_enough(bench: Bench) -> None:
    bench.says(voiceActivity={"voiceActivityType": "ACTIVITY_START"})
    bench.passes(2)
    bench.says(voiceActivity={"voiceActivityType": "ACTIVITY_END"})
    bench.audio(100)
    assert [(report.seconds, report.peak_db) for report in reported(bench)] == [(2.0, None)]


def test_a_push_to_talk_in_which_no_voice_was_heard_is_an_utterance_all_the_same() -> None:
    bench = Bench(manual=True).connect()
    bench.order(cmd.SetMicrophone(on=True))
    bench.core.audio.begin_stream()
    bench.passes(3)
    bench.order(cmd.SetMicrophone(on=False))
    bench.audio(100)
    assert [(report.seconds, report.decided_by) for report in reported(bench)] == [(3.0, "switch")]


@pytest.mark.parametrize(
    "case", ["words", "noise", "typed", "prompted", "tool", "long ago", "reconnected", "back-channel", "silence"]
)
def test_nothing_is_reported_of(bench: Bench, case: str) -> None:
    if case == "back-channel":
        bench.content(outputTranscription={"text": "Hello"})
        speaks(bench)
        bench.content(outputTranscription={"text": " there"})
    elif case != "silence":
        speaks(bench)
    if case == "words":
        bench.content(inputTranscription={"text": "hello"})
    elif case == "noise":
        bench.passes(1)
        speaks(bench)
        bench.content(inputTranscription={"text": "hello"})
    elif case == "typed":
        bench.types("hello")
    elif case == "prompted":
        bench.do(bench.core.server.on_prompt_sent(bench.now))
    elif case == "tool":
        bench.says(toolCall={"functionCalls": [{"id": "c1", "name": "t", "args": {}}]})
        bench.content(inputTranscription={"text": "hello"})
    elif case == "long ago":
        bench.passes(ANSWER_PATIENCE_S)
    elif case == "reconnected":
        bench.do(bench.core.connection.on_disconnected(bench.now, ConnectionClosedError("gone", close_code=1006)))
        bench.connect()
    bench.content(outputTranscription={"text": "Good day."})
    bench.content(turnComplete=True)
    assert reported(bench) == []


def test_words_that_a_server_understood_before_the_gate_opened_are_not_sent_to_it_again() -> None:
    bench = Bench()
    bench.do(bench.core.connection.on_connecting(bench.now, "ws://localhost"))
    bench.do(bench.core.connection.on_connected(bench.now, ms=5.0, server_session="s", hold=True))
    bench.content(inputTranscription={"text": "what time is it"})
    bench.do(bench.core.connection.release(bench.now))
    assert bench.all(ev.SendSettled) == []
    assert bench.core.state.facts.owed


def test_a_session_that_has_been_hung_up_takes_no_sound_when_its_connection_becomes_ready() -> None:
    bench = Bench()
    bench.do(bench.core.connection.on_connecting(bench.now, "ws://localhost"))
    bench.order(cmd.HangUp(reason="enough"))
    bench.do(bench.core.connection.on_connected(bench.now, ms=5.0, server_session="s"))
    assert not bench.core.state.taking_audio


def test_words_that_were_sent_again_in_vain_are_settled_and_answer_no_command(bench: Bench) -> None:
    again = Send(compose.activity_end(), text="what time is it")
    bench.do(bench.core.on_not_sent(bench.now, again))
    assert bench.all(ev.CommandRefused) == []
    assert bench.last(ev.SendSettled) == ev.SendSettled(kind="speech", outcome="unknown", text="what time is it")
