"""Test the verdicts of the microphone test and the echo test."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.audio_support import babble, pcm

from gemini_live_runtime.audio.checks.sound_check import SOUND_S, EchoCheck, MicrophoneCheck, echo_check_sound
from gemini_live_runtime.audio.interface import CHUNK_SAMPLES, MIC_RATE, MODEL_RATE
from gemini_live_runtime.audio.levels import mean_square, power_db
from gemini_live_runtime.samples import MeterSample


def heard(voice_db: float | None, room_db: float, *, seconds: float = 5.0) -> MicrophoneCheck:
    """Return a check of five seconds of room noise, with a voice in the middle three."""
    rng = np.random.default_rng(1)
    count = int(seconds * MIC_RATE)
    sound = rng.normal(0, 10 ** (room_db / 20), count)
    check = MicrophoneCheck()
    if voice_db is not None:
        start, end = count // 5, count * 4 // 5
        sound[start:end] += babble(MIC_RATE, (end - start) / MIC_RATE, 2, 10 ** (voice_db / 20))[: end - start]
    for at in range(0, count - CHUNK_SAMPLES + 1, CHUNK_SAMPLES):
        samples = np.clip(sound[at : at + CHUNK_SAMPLES] * 32768, -32768, 32767)
        check.add(pcm(samples.astype(np.int16)), speaking=voice_db is not None and count // 5 <= at < count * 4 // 5)
    return check


@pytest.mark.parametrize(
    ("check", "mark", "said", "remedy"),
    [
        (heard(-20, -60), "good", "clear", ""),
        (heard(-48, -60), "fair", "very quiet", "closer"),
        (heard(-20, -34), "fair", "room is loud", "headset"),
        (heard(0, -60), "fair", "clips", "level down"),
        (heard(None, -50), "poor", "only the room", "Say a sentence"),
        (heard(None, -200), "poor", "silence", "permission"),
        (MicrophoneCheck(), "poor", "nothing at all", "another"),
    ],
    ids=["clear", "quiet", "noisy", "clipping", "no voice", "muted", "dead"],
)
def test_the_verdict_names_what_was_heard_and_the_remedy(
    check: MicrophoneCheck, mark: str, said: str, remedy: str
) -> None:
    verdict = check.verdict()
    assert verdict.mark == mark, verdict
    assert said in verdict.text
    assert remedy in verdict.remedy


def test_voice_and_room_are_told_apart_by_their_levels() -> None:
    check = heard(-20, -50)
    assert check.floor_db == pytest.approx(-50, abs=2)
    assert -22 < check.voice_db < -12
    assert check.peak_db > check.voice_db


def levels(mic: float, out: float, clean: float = -60.0, erle: float | None = None) -> MeterSample:
    return MeterSample(mic_db=mic, mic_peak_db=mic, clean_db=clean, out_db=out, erle_db=erle)


def echo(mic: float, *, room: float = -60.0, clean: float = -60.0, erle: float | None = None) -> EchoCheck:
    check = EchoCheck()
    for _ in range(20):
        check.add(levels(room, -60.0), playing=False)
    for number in range(120):
        check.add(levels(mic, -20.0, clean, erle if number > 60 else None), playing=True)
    return check


@pytest.mark.parametrize(
    ("check", "mark", "said"),
    [
        (echo(-60.0), "good", "Nothing came back"),
        (echo(-40.0, room=-42.0), "good", "Nothing came back"),
        (echo(-30.0, clean=-50.0, erle=24.0), "good", "taken out"),
        (echo(-30.0, clean=-59.0, erle=None), "good", "gone entirely"),
        (echo(-30.0, clean=-44.0, erle=14.0), "fair", "Most of the echo"),
        (echo(-30.0, clean=-34.0, erle=4.0), "poor", "hear itself"),
        (echo(-30.0, clean=-30.0, erle=None), "poor", "hear itself"),
        (EchoCheck(), "poor", "not played"),
    ],
    ids=["headphones", "loud room", "cancelled", "inaudible", "fair", "leaking", "no reading", "nothing"],
)
def test_the_echo_verdict_follows_what_comes_back_and_what_is_taken_out(check: EchoCheck, mark: str, said: str) -> None:
    verdict = check.verdict()
    assert (verdict.mark, said in verdict.text) == (mark, True), verdict


def test_how_loud_it_comes_back_is_relative_to_how_loud_it_was_played() -> None:
    check = echo(-32.0, clean=-50.0, erle=20.0)
    assert check.return_db == pytest.approx(-12.0)
    assert check.reduction_db == pytest.approx(20.0)


def test_a_device_that_measures_nothing_counts_for_nothing() -> None:
    check = EchoCheck()
    check.add(MeterSample(), playing=True)
    assert check.verdict().mark == "poor"


def test_the_sound_is_six_seconds_at_minus_twenty_and_never_clips() -> None:
    sound = echo_check_sound()
    assert len(sound) == int(SOUND_S * MODEL_RATE)
    assert power_db(mean_square(sound)) == pytest.approx(-20, abs=0.5)
    assert np.abs(sound.astype(int)).max() < 32767
