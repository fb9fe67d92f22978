"""Test what a session makes of devices that are lost and come back."""

from __future__ import annotations

from tests.unit.session.core_support import MS, Bench

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev


def lose(bench: Bench, direction: str) -> None:
    bench.do(bench.core.audio.on_device_lost(bench.now, direction, f"The {direction} was disconnected."))


def reopen(bench: Bench, microphone: str = "mic") -> None:
    opened = ev.AudioOpened(
        input=microphone, output="out", input_rate=48_000, output_rate=48_000, echo_canceller="aec", again=True
    )
    bench.do(bench.core.audio.on_opened(bench.now, opened))


def test_voice_mode_returns_with_the_microphone_and_says_why() -> None:
    bench = Bench().connect()
    lose(bench, "input")
    assert bench.last(ev.ControlChanged).mode == "text"
    assert "until a microphone opens" in bench.last(ev.AudioLost).remedy
    reopen(bench)
    control = bench.last(ev.ControlChanged)
    assert (control.mode, control.actor, control.reason) == ("voice", "engine", "there is a microphone again")
    assert bench.word == "listening"


def test_voice_mode_comes_when_a_session_without_a_microphone_gets_one() -> None:
    bench = Bench(microphone="").connect()
    assert bench.last(ev.ControlChanged).mode == "text"
    reopen(bench)
    assert bench.last(ev.ControlChanged).mode == "voice"


def test_text_mode_that_the_operator_chose_stays() -> None:
    bench = Bench().connect()
    bench.order(cmd.SetMode(mode="text"))
    lose(bench, "input")
    reopen(bench)
    assert bench.last(ev.ControlChanged).mode == "text"


def test_voice_mode_asked_for_without_a_microphone_comes_with_it() -> None:
    bench = Bench(mode="text", microphone="").connect()
    bench.order(cmd.SetMode(mode="voice"))
    assert "Staying in text mode" in bench.last(ev.CommandRefused).reason
    reopen(bench)
    assert bench.last(ev.ControlChanged).mode == "voice"


def test_a_muted_microphone_comes_back_muted() -> None:
    bench = Bench().connect()
    bench.order(cmd.SetMicrophone(on=False))
    lose(bench, "input")
    reopen(bench)
    control = bench.last(ev.ControlChanged)
    assert (control.mode, control.microphone) == ("voice", False)


def test_the_part_of_an_answer_that_a_lost_speaker_did_not_play_is_marked_once() -> None:
    bench = Bench().connect()
    bench.content(outputTranscription={"text": "one two three four"})
    bench.audio(1000)
    bench.plays(1, 500)
    lose(bench, "output")
    cut = bench.last(ev.TurnInterrupted)
    assert (cut.by, cut.heard_samples, cut.unheard_samples) == ("device", 500 * MS, 500 * MS)
    assert (cut.heard_text, cut.unheard_text) == ("one two", " three four")
    lose(bench, "output")
    assert len(bench.all(ev.TurnInterrupted)) == 1


def test_the_loss_of_a_speaker_that_was_back_in_the_same_answer_is_marked_again() -> None:
    bench = Bench().connect()
    bench.content(outputTranscription={"text": "one two three four"})
    bench.audio(1000)
    bench.plays(1, 250)
    lose(bench, "output")
    reopen(bench)
    bench.plays(1, 500)
    lose(bench, "output")
    assert [cut.heard_samples for cut in bench.all(ev.TurnInterrupted)] == [250 * MS, 750 * MS]


def test_a_report_of_playback_says_how_long_ago_its_last_sample_was_heard() -> None:
    bench = Bench().connect()
    bench.audio(1000)
    for heard_at in (bench.now - 0.015, bench.now + 0.02, None):
        bench.do(bench.core.audio.on_playback_heard(bench.now, 1, 0, 480, heard_at))
    assert [heard.late_ms for heard in bench.all(ev.PlaybackHeard)] == [15.0, -20.0, 0.0]


def test_an_answer_that_was_heard_in_full_is_not_marked() -> None:
    bench = Bench().connect()
    bench.audio(1000)
    bench.content(turnComplete=True)
    bench.drains(1)
    lose(bench, "output")
    assert bench.all(ev.TurnInterrupted) == []
