"""The meter of the echo warns of one that leaks, and of nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.audio_support import Recorder, babble
from tests.unit.audio.echo_support import RATE, noise, room
from tests.unit.audio.test_capture import run

from gemini_live_runtime.audio.echo.cancellers import NoCanceller
from gemini_live_runtime.audio.echo.erle import ErleMeter
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline


def feed_erle(meter: ErleMeter, far: np.ndarray, mic: np.ndarray, clean: np.ndarray) -> list[tuple[float, bool]]:
    changes = []
    for number in range(len(far) // 160):
        span = slice(number * 160, (number + 1) * 160)
        if meter.add(*(float((signal[span] ** 2).mean()) for signal in (far, mic, clean))):
            changes.append((number * 0.01, meter.leaking))
    return changes


def test_an_echo_that_is_not_reduced_warns_and_one_that_is_again_takes_the_warning_back(far: np.ndarray) -> None:
    meter = ErleMeter()
    echo = room(far) + noise(len(far))
    assert [state for _, state in feed_erle(meter, far, echo, echo)] == [True]
    assert meter.erle_db == pytest.approx(0, abs=0.5)
    assert [state for _, state in feed_erle(meter, far, echo, echo * 0.03)] == [False]
    assert meter.erle_db == pytest.approx(30, abs=2)


def test_an_echo_reduced_by_twenty_decibels_does_not_warn(far: np.ndarray) -> None:
    meter = ErleMeter()
    echo = room(far) + noise(len(far))
    assert feed_erle(meter, far, echo, echo * 0.1) == []
    assert meter.erle_db == pytest.approx(20, abs=2)


def test_headphones_do_not_warn_not_even_when_the_person_talks(far: np.ndarray) -> None:
    meter = ErleMeter()
    assert feed_erle(meter, far, noise(len(far)), noise(len(far))) == []
    for seed in (11, 12, 13):
        person = babble(RATE, 10.0, seed, 0.1) + noise(len(far))
        assert feed_erle(meter, far, person, person) == []


def test_a_person_who_talks_over_a_well_cancelled_echo_does_not_warn(far: np.ndarray) -> None:
    meter = ErleMeter()
    for seed in (11, 12, 13):
        person = babble(RATE, 10.0, seed, 0.05)
        echo = room(far) + noise(len(far))
        assert feed_erle(meter, far, echo + person, echo * 0.03 + person) == []


def test_erle_is_told_only_while_something_is_played(far: np.ndarray) -> None:
    meter = ErleMeter()
    echo = room(far)
    feed_erle(meter, far, echo, echo * 0.1)
    silence = np.zeros(RATE, np.float32)
    feed_erle(meter, silence, silence, silence)
    assert meter.erle_db is None


def test_a_leaking_echo_is_told_to_the_listener(far: np.ndarray) -> None:
    recorder = Recorder()
    pipeline = AudioPipeline(recorder, NoCanceller(), mic_rate=RATE, out_rate=RATE)
    run(pipeline, room(far) + noise(len(far)), far)
    assert recorder.of("echo") == [("echo", True)]
