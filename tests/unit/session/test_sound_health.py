"""Test what is called wrong with the sound, and when it is well again."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.support.manual_clock import ManualClock

from gemini_live_runtime import events as ev
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.session.metrics.sound_health import SoundHealth

GOOD: dict[str, Any] = {"mic_db": -40.0, "mic_peak_db": -30.0}


class Judged:
    """A health that is sampled once a second."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.told: list[ev.SoundHealth] = []
        self.health = SoundHealth(self._emit, self.clock.now)
        self._numbers = itertools.count(1)

    def _emit(self, payload: ev.Payload) -> None:
        assert isinstance(payload, ev.SoundHealth)
        self.told.append(payload)

    def passes(self, seconds: int, **values: Any) -> list[tuple[str, bool]]:
        """Sample for `seconds`; return kind and `well` of each event."""
        before = len(self.told)
        for _ in range(seconds):
            self.clock.advance(1.0)
            self.health.on_sample(MeterSample(**{**GOOD, **values}))
        return [(told.kind, told.well) for told in self.told[before:]]

    def happens(self, *payloads: ev.Payload, gen: int = 1) -> None:
        for payload in payloads:
            self.health.on_event(ev.Event(next(self._numbers), self.clock.now(), 1, gen, payload))

    def opens(self, canceller: str = "WebRTC AEC3") -> None:
        self.happens(
            ev.AudioOpened(
                input="Desk", output="Desk", input_rate=48_000, output_rate=48_000, echo_canceller=canceller, again=True
            )
        )

    def is_cut_at_once(self, gen: int, question: str, heard: str, seconds: float) -> None:
        """Ask, cut the answer off after `seconds`, and recognise `heard`."""
        self.happens(ev.TranscriptDelta(side="user", text=question))
        self.clock.advance(0.1)
        self.happens(ev.TranscriptDelta(side="model", text="Once"), gen=gen)
        self.clock.advance(seconds)
        cut = ev.TurnInterrupted(
            by="server",
            cut_below=gen + 1,
            heard_samples=round(24_000 * seconds),
            unheard_samples=1,
            heard_text="",
            unheard_text="",
        )
        self.happens(cut, gen=gen)
        self.clock.advance(0.5)
        if heard:
            self.happens(ev.TranscriptDelta(side="user", text=heard))

    def cut(self, user: str = "", model: str = "Once upon a time there was a fox in the wood") -> None:
        self.happens(
            ev.TranscriptDelta(side="model", text=model),
            ev.TurnInterrupted(
                by="server", cut_below=2, heard_samples=1, unheard_samples=1, heard_text="", unheard_text=""
            ),
        )
        if user:
            self.happens(ev.TranscriptDelta(side="user", text=user))


def test_good_sound_is_not_spoken_of() -> None:
    assert Judged().passes(120, drift_ppm=50.0) == []


def test_a_microphone_that_only_ever_gave_zeros_is_named_with_its_remedy() -> None:
    judged = Judged()
    assert judged.passes(4, mic_db=-60.0, mic_peak_db=-60.0) == []
    assert judged.passes(4, mic_db=-60.0, mic_peak_db=-60.0) == [("no-signal", False)]
    assert "permission" in judged.told[0].remedy
    assert judged.told[0].action == "devices"
    assert judged.passes(1) == [("no-signal", True)]


def test_a_headset_that_closes_its_microphone_between_sentences_is_not_silent() -> None:
    judged = Judged()
    judged.passes(3)
    assert judged.passes(50, mic_db=-60.0, mic_peak_db=-60.0) == []
    assert judged.passes(20, mic_db=-60.0, mic_peak_db=-60.0) == [("no-signal", False)]


def test_a_microphone_that_was_heard_is_not_silent_when_the_speaker_opens_anew() -> None:
    judged = Judged()
    judged.opens()
    judged.passes(1)
    judged.opens()
    assert judged.passes(55, mic_db=-60.0, mic_peak_db=-60.0) == []
    assert judged.passes(10, mic_db=-60.0, mic_peak_db=-60.0) == [("no-signal", False)]


def test_a_muted_microphone_is_not_silent() -> None:
    assert Judged().passes(60, mic_db=None, mic_peak_db=None) == []


def test_clipping_is_told_once_and_over_a_while_after_the_last() -> None:
    judged = Judged()
    judged.passes(1)
    assert judged.passes(2, clipped=True) == []
    assert judged.passes(10, clipped=True) == [("clipping", False)]
    assert judged.passes(10) == []
    assert judged.passes(30) == [("clipping", True)]


@pytest.mark.parametrize("counter", ["far_missing", "far_dropped", "mic_dropped", "xruns"])
def test_lost_frames_of_either_side_are_told(counter: str) -> None:
    judged = Judged()
    judged.passes(1)
    assert judged.passes(3, **{counter: 5}) == []
    assert judged.passes(1, **{counter: 30}) == [("lost", False)]
    # A change of devices begins to count anew.
    assert judged.passes(40, **{counter: 1}) == [("lost", True)]


def test_clocks_that_differ_are_told() -> None:
    judged = Judged()
    assert judged.passes(15, drift_ppm=-1500.0) == []
    assert judged.passes(10, drift_ppm=-1500.0) == [("drift", False)]
    assert "headset" in judged.told[0].remedy


def test_a_model_cut_off_twice_without_words_hears_itself() -> None:
    judged = Judged()
    judged.happens(ev.TranscriptDelta(side="user", text="tell me a story"))
    judged.passes(5)
    judged.cut()
    assert judged.passes(10) == []
    judged.cut()
    assert judged.passes(10) == [("echo", False)]
    assert "headphones" in judged.told[0].remedy
    assert judged.passes(120) == [("echo", True)]


def test_a_model_cut_off_by_its_own_words_hears_itself() -> None:
    judged = Judged()
    for _ in range(2):
        judged.cut("there was a fox in")
        judged.passes(10)
    assert [(told.kind, told.well) for told in judged.told] == [("echo", False)]


def test_the_question_is_not_what_cut_off_its_answer() -> None:
    judged = Judged()
    for gen in (1, 2):
        judged.is_cut_at_once(gen, "tell me a story", "", 0.2)
        judged.passes(10)
    assert [(told.kind, told.well) for told in judged.told] == [("echo", False)]


def test_an_echo_that_nothing_cancels_is_known_by_cutting_off_the_first_words() -> None:
    judged = Judged()
    judged.opens(canceller="")
    judged.is_cut_at_once(1, "tell me a story", "what", 0.2)
    judged.passes(2)
    judged.is_cut_at_once(2, "", "", 0.2)
    assert judged.passes(10) == [("echo", False)]
    assert "--no-aec" in judged.told[0].remedy


@pytest.mark.parametrize(
    ("canceller", "seconds", "heard"),
    [("none needed", 0.2, "stop"), ("", 1.0, "stop"), ("", 0.2, "no I meant tomorrow")],
)
def test_a_person_who_cuts_off_the_first_words_is_no_echo(canceller: str, seconds: float, heard: str) -> None:
    judged = Judged()
    judged.opens(canceller)
    for gen in range(1, 5):
        judged.is_cut_at_once(gen, "tell me a story", heard, seconds)
        judged.passes(10)
    assert judged.told == []


def test_a_person_who_cuts_in_is_no_echo() -> None:
    judged = Judged()
    for _ in range(5):
        judged.cut("wait please, another one")
        judged.passes(4)
    assert judged.told == []


def test_words_that_come_before_the_cut_or_at_the_end_of_a_long_sentence_count() -> None:
    judged = Judged()
    for _ in range(3):
        judged.happens(ev.TranscriptDelta(side="user", text="wait please"))
        judged.passes(1)
        judged.cut()
        judged.passes(10)
    for _ in range(3):
        judged.cut()
        judged.passes(6)
        judged.happens(ev.TranscriptDelta(side="user", text="tell me about the weather in Lisbon instead"))
        judged.passes(10)
    assert judged.told == []


def test_a_server_that_sends_no_words_of_the_user_accuses_nobody() -> None:
    judged = Judged()
    for _ in range(5):
        judged.cut()
        judged.passes(4)
    assert judged.told == []


def test_voices_that_follow_the_loudspeaker_are_signs_of_echo() -> None:
    judged = Judged()
    assert judged.passes(2, heard_itself=1) == []
    assert judged.passes(2, heard_itself=2) == [("echo", False)]


def test_an_echo_that_leaks_is_told_until_it_is_gone() -> None:
    judged = Judged()
    judged.happens(ev.EchoLeaking(leaking=True))
    assert judged.passes(1) == [("echo", False)]
    assert judged.passes(60) == []
    judged.happens(ev.EchoLeaking(leaking=False))
    assert judged.passes(20) == [("echo", True)]
