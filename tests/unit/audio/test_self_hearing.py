"""Test telling the model's own voice in the microphone from a person's."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.audio_support import babble

from gemini_live_runtime.audio.echo.self_hearing import SelfHearing
from gemini_live_runtime.audio.processing.clock_rate import ClockRate, drift_ppm


def powers(seed: int, frames: int, level: float) -> np.ndarray:
    # At this low rate it costs a quarter, and the powers of its frames go up and down alike.
    sound = babble(4_000, frames / 100, seed, level).reshape(frames, 40)
    return (sound**2).mean(axis=1)


def judged(far: np.ndarray, clean: np.ndarray, start: int, end: int) -> int:
    """Return 1 if the voice from frame `start` to `end` was the loudspeaker's."""
    hearing = SelfHearing()
    for at in range(end):
        hearing.add(float(far[at]), float(clean[at]))
        if at == start:
            hearing.on_voice(True)
    hearing.on_voice(False)
    return hearing.heard_itself


@pytest.mark.parametrize("delay", [0, 8, 20])
def test_a_leak_follows_the_loudspeaker(delay: int) -> None:
    noise = np.random.default_rng(1).uniform(1e-7, 3e-7, 400)
    found = []
    for seed in range(10):
        far = powers(seed, 400, 0.1)
        clean = np.concatenate((np.zeros(delay), far))[:400] * 10 ** (-15 / 10) + noise
        found.append(judged(far, clean, 150, 380))
    assert sum(found) >= 9


def test_a_person_does_not() -> None:
    found = [judged(powers(seed, 400, 0.1), powers(seed + 100, 400, 0.05), 150, 380) for seed in range(40)]
    assert sum(found) <= 1


def test_too_short_a_voice_is_not_judged() -> None:
    far = powers(1, 400, 0.1)
    assert judged(far, far, 150, 160) == 0


def test_two_clocks_are_compared_by_their_callbacks() -> None:
    fast, slow = ClockRate(100), ClockRate(100)
    for number in range(6500):
        fast.add(number * 0.01 / 1.0005, number)
        slow.add(number * 0.01, number)
    assert drift_ppm(fast, slow) == pytest.approx(500, abs=1)
    assert drift_ppm(fast, ClockRate(100)) is None


def test_lost_callbacks_are_no_difference_of_clocks() -> None:
    clock = ClockRate(100)
    for number in range(6500):
        clock.add(number * 0.01, number)
    assert clock.ratio == pytest.approx(1.0, abs=1e-6)
    for number in range(6500, 7100):
        clock.add(0.05 + number * 0.01, number)
    assert clock.ratio is None
