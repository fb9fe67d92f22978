"""Test time stretching: length, pitch, and independence of block sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime.audio.playback.stretch import Stretcher
from gemini_live_runtime.audio.samples import Float32

RATE = 24_000
SPEEDS = [0.5, 2.0, 4.0]


def tone(seconds: float, hertz: float = 220.0) -> Float32:
    sound: Float32 = (0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * RATE)) / RATE)).astype(np.float32)
    return sound[:, None]


def pitch(sound: Float32) -> float:
    spectrum = np.abs(np.fft.rfft(sound[:, 0] * np.hanning(len(sound))))
    return float(np.argmax(spectrum)) * RATE / len(sound)


@pytest.mark.parametrize("speed", SPEEDS)
def test_it_takes_as_long_as_the_speed_says_and_sounds_as_high_as_before(speed: float) -> None:
    out = Stretcher(RATE, speed).process(tone(4.0), last=True)
    assert abs(len(out) / RATE - 4.0 / speed) < 0.05
    assert abs(pitch(out) - 220.0) < 2.0


@pytest.mark.parametrize("speed", SPEEDS)
def test_a_steady_tone_stays_steady(speed: float) -> None:
    out = Stretcher(RATE, speed).process(tone(4.0), last=True)[RATE // 10 : -RATE // 10]
    loud = [float(np.max(np.abs(part))) for part in np.array_split(out, 40)]
    assert min(loud) > 0.45
    assert max(loud) < 0.55


def test_at_its_own_speed_nothing_changes() -> None:
    sound = tone(0.3)
    assert Stretcher(RATE, 1.0).process(sound, last=True) is sound


@given(st.sampled_from(SPEEDS), st.lists(st.integers(0, 9000), max_size=8), st.integers(0, 2**32 - 1))
def test_blocks_of_any_size_give_what_one_gives(speed: float, sizes: list[int], seed: int) -> None:
    sound: Float32 = np.random.default_rng(seed).normal(0, 0.1, (sum(sizes), 2)).astype(np.float32)
    whole = Stretcher(RATE, speed, 2).process(sound, last=True)
    stretcher, parts, at = Stretcher(RATE, speed, 2), [], 0
    for size in sizes:
        parts.append(stretcher.process(sound[at : at + size]))
        at += size
    parts.append(stretcher.process(sound[at:], last=True))
    assert np.array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("speed", [0.0, -1.0, 100.0])
def test_a_speed_that_makes_no_sense_is_refused(speed: float) -> None:
    with pytest.raises(ValueError, match="not between"):
        Stretcher(RATE, speed)
