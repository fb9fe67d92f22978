"""Judge how soon the canceller asks about a sound that is much like an echo."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.echo_support import RATE, int16, noise, room, spoken

from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.samples import FRAME

SECONDS = 8


@pytest.fixture
def far() -> np.ndarray:
    return spoken("model_speech.wav", SECONDS, 0.1)


def states(far: np.ndarray, person: np.ndarray) -> list[str]:
    """Return the probe's state after each frame; what is played is not paused."""
    canceller, mic = DualCanceller(), int16(room(far) + person + noise(len(far)))
    states: list[str] = []
    for at in range(0, len(mic), FRAME):
        canceller.render(int16(far[at : at + FRAME]))
        canceller.capture(mic[at : at + FRAME])
        states.append(canceller.probe.state)
    return states


def says(at: int, level: float) -> np.ndarray:
    """Return a person's sound, who speaks from sample `at` on."""
    voice = spoken("barge_in.wav", 3.0, level)
    first = int(np.flatnonzero(np.abs(voice) > level)[0])
    sound = np.zeros(SECONDS * RATE, np.float32)
    sound[at:] = voice[first:][: len(sound) - at]
    return sound


def test_a_first_sound_that_looks_like_a_move_of_the_echo_is_asked_about_within_120_ms(far: np.ndarray) -> None:
    echo = room(far)
    # Where the echo is loud, a wave that is against it by chance looks like what a wrong filter adds.
    loud = np.convolve(echo**2, np.ones(2 * FRAME))[2 * FRAME - 1 :]
    at = 5 * RATE + int(loud[5 * RATE : 7 * RATE].argmax()) // FRAME * FRAME
    person = says(at + FRAME, 0.2)
    person[at : at + FRAME] = -1.2 * echo[at : at + FRAME]
    asked = states(far, person)[at // FRAME :]
    assert asked.index("paused") <= 12


def test_a_person_who_begins_in_a_gap_of_the_model_is_found_in_it(far: np.ndarray) -> None:
    at = 6 * RATE
    far[at : at + RATE // 4] = 0.0
    found = states(far, says(at, 0.1))[at // FRAME :]
    assert found.index("person") <= 16
