"""Find the delay of an echo that comes later than a filter reaches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.audio.echo_support import RATE, int16, noise, reduction, room, spoken

from gemini_live_runtime.audio.echo.delay_tracker import DelayTracker, FarDelay
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.samples import FRAME, Int16

SECONDS = 12
SILENCE = np.zeros(FRAME, np.int16)


@pytest.fixture(scope="module")
def far() -> np.ndarray:
    """Return a second of silence, and the model's speech."""
    return np.concatenate([np.zeros(RATE, np.float32), spoken("model_speech.wav", SECONDS - 1, 0.1)])


def echo_after(far: np.ndarray, delay_ms: int) -> np.ndarray:
    """Return a room's echo after `delay_ms`, 20 at least, and soft noise."""
    later = (delay_ms - 20) * RATE // 1000
    echo = np.concatenate([np.zeros(later, np.float32), room(far, 20)])[: len(far)]
    return np.asarray(echo + noise(len(far)))


def frames(sound: np.ndarray) -> list[Int16]:
    return [int16(sound[at : at + FRAME]) for at in range(0, len(sound), FRAME)]


def estimates(far: np.ndarray, microphone: np.ndarray) -> list[int]:
    tracker = DelayTracker()
    found = (tracker.add(*both) for both in zip(frames(far), frames(microphone), strict=True))
    return [delay for delay in found if delay is not None]


@pytest.mark.parametrize("delay_ms", [20, 140, 300, 500, 900])
def test_the_delay_of_an_echo_is_found_also_under_a_person(far: np.ndarray, delay_ms: int) -> None:
    person = np.roll(spoken("barge_in.wav", SECONDS, 0.05), RATE // 3)
    for near in (0.0, person):
        found = estimates(far, echo_after(far, delay_ms) + near)
        assert len(found) > 5
        assert {abs(delay - delay_ms // 10) <= 1 for delay in found} == {True}


def test_a_person_alone_has_no_delay(far: np.ndarray) -> None:
    assert estimates(far, spoken("barge_in.wav", SECONDS, 0.1)) == []


def test_nothing_is_estimated_while_nothing_is_played() -> None:
    assert estimates(np.zeros(SECONDS * RATE, np.float32), spoken("barge_in.wav", SECONDS, 0.1)) == []


@settings(max_examples=25)
@given(delay_ms=st.integers(0, 900))
def test_frames_are_delayed_so_that_a_filter_reaches_the_echo_and_none_is_lost(delay_ms: int) -> None:
    delay = FarDelay(delay_ms)
    assert delay.frames == 0 or 0 < delay.frames * 10 < delay_ms
    assert delay_ms - delay.frames * 10 < 180
    given_out = [int(delay.delayed(np.full(FRAME, number, np.int16))[0]) for number in range(1, 200)]
    assert given_out == [0] * delay.frames + list(range(1, 200 - delay.frames))


def test_a_stored_delay_of_more_than_a_second_is_not_believed() -> None:
    assert FarDelay(1e12).frames == 0


def call(canceller: DualCanceller, far: np.ndarray, microphone: np.ndarray) -> tuple[float, set[str]]:
    """Return the echo's reduction in dB at the end, and the probe's states."""
    clean, states = [], set()
    for played, heard in zip(frames(far), frames(microphone), strict=True):
        canceller.render(played)
        clean.append(canceller.capture(heard))
        states.add(canceller.probe.state)
    return reduction(microphone, np.concatenate(clean) / 32_768, SECONDS - 5, SECONDS), states


@pytest.mark.parametrize("delay_ms", [300, 450])
def test_an_echo_through_bluetooth_is_cancelled_and_known_in_the_next_call(far: np.ndarray, delay_ms: int) -> None:
    microphone, canceller = echo_after(far, delay_ms), DualCanceller()
    assert call(canceller, far, microphone)[0] > 25
    assert canceller.state == "proven"
    path = canceller.learned_path(0.0)
    assert path is not None
    assert path.delay_ms == pytest.approx(delay_ms, abs=2)
    again = DualCanceller(path)
    assert "person" not in call(again, far, microphone)[1]
    assert again.restarts == 0


def test_an_echo_that_comes_early_again_is_followed(far: np.ndarray) -> None:
    canceller = DualCanceller()
    for delay_ms in (300, 40):
        assert call(canceller, far, echo_after(far, delay_ms))[0] > 25
        assert canceller.state == "proven"
    path = canceller.learned_path(0.0)
    assert path is not None
    assert path.delay_ms == pytest.approx(40, abs=2)
