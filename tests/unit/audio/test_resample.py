"""Test the converter of device rates: lengths, delay, passed and rejected tones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.audio.audio_support import tone

from gemini_live_runtime.audio.resample import BlockResampler

RATES = [8_000, 16_000, 24_000, 32_000, 44_100, 48_000, 96_000]


def convert(sound: np.ndarray, rate: int, block: int) -> list[np.ndarray]:
    resampler = BlockResampler(rate, 16_000)
    return [resampler.process(sound[at : at + block]) for at in range(0, len(sound), block)]


def level_db(sound: np.ndarray) -> float:
    return float(10 * np.log10((sound**2).mean() + 1e-20))


@pytest.mark.parametrize("rate", RATES)
def test_ten_milliseconds_give_ten_milliseconds_from_the_first_block_on(rate: int) -> None:
    assert {len(block) for block in convert(tone(rate, 0.3), rate, rate // 100)} == {160}


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("hertz", [100.0, 1_000.0, 3_400.0])
def test_a_tone_of_speech_passes_as_it_is_and_as_late_as_stated(rate: int, hertz: float) -> None:
    delay = BlockResampler(rate, 16_000).delay_s
    assert delay < 0.002
    got = np.concatenate(convert(tone(rate, 0.5, hertz), rate, rate // 100))[800:]
    at = np.arange(800, 800 + len(got)) / 16_000 - delay
    assert np.abs(got - 0.5 * np.sin(2 * np.pi * hertz * at)).max() < 0.002


@pytest.mark.parametrize("rate", [24_000, 32_000, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("hertz", [9_100.0, 11_000.0])
def test_a_tone_above_the_band_does_not_come_back_in_it(rate: int, hertz: float) -> None:
    sound = tone(rate, 0.5, hertz)
    got = np.concatenate(convert(sound, rate, rate // 100))[800:]
    assert level_db(got) < level_db(sound) - 55


@pytest.mark.parametrize("rate", RATES)
def test_a_tone_ends_and_begins_beside_silence_as_it_does_in_one_piece(rate: int) -> None:
    silence = np.zeros(rate // 10, np.float32)
    sound = np.concatenate((silence, tone(rate, 0.105), silence, tone(rate, 0.1)))
    whole, parts = convert(sound, rate, len(sound))[0], np.concatenate(convert(sound, rate, rate // 100))
    assert np.allclose(parts, whole, atol=1e-6)


@given(st.sampled_from(RATES), st.integers(1, 700))
def test_the_size_of_the_blocks_changes_nothing(rate: int, block: int) -> None:
    sound = tone(rate, 0.1)
    whole, parts = convert(sound, rate, len(sound))[0], np.concatenate(convert(sound, rate, block))
    assert len(parts) == len(whole) == 1_600
    assert np.allclose(parts, whole, atol=1e-6)
