"""Test when the worker steps: with the callbacks, by chunks, seldom in a silence."""

from __future__ import annotations

import pytest

from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.audio.devices.streams import MicrophoneStream
from gemini_live_runtime.audio.processing.step_clock import IDLE_AFTER_S, StepClock
from gemini_live_runtime.audio.ring import SampleRing


def stream(callbacks: int = 0, last: float = 0.0, block_ms: int = 10) -> MicrophoneStream:
    """Return a stream as it is after some callbacks."""
    made = MicrophoneStream(SoundDevice(0, "Microphone", "Fake API", 1, 0, 16_000), SampleRing(16_000))
    made.callbacks, made.last_callback, made.block_ms = callbacks, last, block_ms
    return made


def test_a_step_comes_a_millisecond_after_the_callback_that_completes_its_chunk() -> None:
    clock, microphone = StepClock(), stream(100, last=5.003)
    clock.plan(5.005, [(microphone, microphone.callbacks, 2)])
    assert clock.left(5.005) == pytest.approx(0.019)
    microphone.callbacks, microphone.last_callback = 101, 5.012
    assert clock.left(5.013) == pytest.approx(0.010)
    microphone.callbacks, microphone.last_callback = 102, 5.022
    assert clock.left(5.0225) == 0


def test_of_two_streams_the_later_one_decides() -> None:
    clock, microphone, speaker = StepClock(), stream(7, last=1.0), stream(7, last=1.006)
    clock.plan(1.007, [(microphone, microphone.callbacks, 1), (speaker, speaker.callbacks, 1)])
    microphone.callbacks, microphone.last_callback = 8, 1.01
    assert clock.left(1.011) == pytest.approx(0.006)
    speaker.callbacks = 8
    assert clock.left(1.016) == 0


def test_a_late_callback_is_looked_for_again_and_not_waited_for_longer_than_a_frame() -> None:
    clock, microphone = StepClock(), stream(7, last=1.0)
    clock.plan(1.0, [(microphone, microphone.callbacks, 2)])
    assert clock.left(1.0215) == pytest.approx(0.002)
    assert clock.left(1.0295) == pytest.approx(0.0005)
    assert clock.left(1.03) == 0


def test_a_stream_that_has_stopped_is_looked_at_once_a_frame_and_its_late_blocks_are_taken_at_once() -> None:
    clock, microphone = StepClock(), stream(7, last=1.0)
    clock.plan(1.5, [(microphone, microphone.callbacks, 2)])
    assert clock.left(1.5) == pytest.approx(0.01)
    microphone.callbacks, microphone.last_callback = 11, 1.507
    assert clock.left(1.51) == 0


def test_blocks_that_came_during_the_step_are_not_waited_for_again() -> None:
    clock, microphone = StepClock(), stream(9, last=1.03)
    clock.plan(1.0, [(microphone, 7, 2)])
    assert clock.left(1.031) == 0


def test_a_callback_between_two_looks_at_its_stream_does_not_delay_the_step() -> None:
    class Called(MicrophoneStream):
        """A microphone whose callback comes as soon as its last one is looked at."""

        @property
        def last_callback(self) -> float:  # type: ignore[override]
            last, self._last = self._last, 1.02
            self.callbacks += 1
            return last

        @last_callback.setter
        def last_callback(self, moment: float) -> None:
            self._last = moment

    microphone = Called(SoundDevice(0, "Microphone", "Fake API", 1, 0, 16_000), SampleRing(16_000))
    clock = StepClock()
    microphone.last_callback = 1.01
    clock.plan(1.0, [(microphone, 0, 2)])
    assert clock.left(1.0205) == pytest.approx(0.0005)


def test_blocks_of_twenty_milliseconds_are_awaited_whole() -> None:
    clock, speaker = StepClock(), stream(3, last=2.0, block_ms=20)
    clock.plan(2.0, [(speaker, speaker.callbacks, 1)])
    assert clock.left(2.0) == pytest.approx(0.021)


def test_without_a_stream_there_is_nothing_to_wait_for() -> None:
    clock = StepClock()
    clock.plan(1.0, [])
    assert clock.left(1.0) is None


def test_in_a_silence_three_chunks_are_taken_at_once_and_one_as_soon_as_somebody_speaks() -> None:
    clock = StepClock()
    assert clock.frames(10.0, active=True) == 2
    assert clock.frames(10.0 + IDLE_AFTER_S - 0.01, active=False) == 2
    assert clock.frames(10.0 + IDLE_AFTER_S, active=False) == 10
    assert clock.frames(20.0, active=True) == 2
