"""Test that the worker detects streams that end, stop, fail or do not keep up."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.support.patience import PATIENCE_S
from tests.unit.audio.audio_support import FakePortAudio, FakePortAudioError, Recorder, Shifts

from gemini_live_runtime.audio.devices.streams import LoudspeakerStream, MicrophoneStream
from gemini_live_runtime.audio.echo.cancellers import EchoCanceller, NoCanceller
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline
from gemini_live_runtime.audio.processing.worker import AudioWorker


class Watched:
    """A worker with two fake streams whose thread does not run: the test is its clock."""

    def __init__(self, canceller: EchoCanceller | None = None) -> None:
        self.fake = FakePortAudio()
        self.recorder = Recorder()
        self.pipeline = AudioPipeline(self.recorder, canceller or NoCanceller(), mic_rate=48_000, out_rate=48_000)
        devices = self.fake.found().devices
        assert self.pipeline.microphone is not None
        assert self.pipeline.playout.ring is not None
        assert self.pipeline.played is not None
        self.microphone = MicrophoneStream(devices[0], self.pipeline.microphone)
        self.speaker = LoudspeakerStream(devices[1], self.pipeline.playout.ring, self.pipeline.played)
        self.microphone.open(self.fake)
        self.speaker.open(self.fake)
        self.worker = AudioWorker(self.pipeline, self.recorder, self.fake, self.microphone, self.speaker)
        self.start = time.monotonic()


@pytest.mark.parametrize(
    ("times", "ended"),
    [((5.0, 4.97), 99.98), ((5.0, 0.0), 99.99), ((0.0, 5.0), 99.99), ((0.0, 0.0), 99.99), ((1e9, 5.0), 99.99)],
    ids=["told", "no device time", "no present time", "neither", "other clocks"],
)
def test_the_microphones_sound_has_the_time_that_the_device_tells_or_its_latency(
    times: tuple[float, float], ended: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched()
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    watched.fake.stream("input").call(np.zeros(480, np.float32), times)
    assert watched.pipeline.microphone is not None
    assert watched.pipeline.microphone.mark == (480, pytest.approx(ended))


@pytest.mark.parametrize(
    ("times", "ended"),
    [((5.0, 5.05), 100.06), ((5.0, 0.0), 100.03), ((0.0, 5.0), 100.03), ((0.0, 0.0), 100.03)],
    ids=["told", "no device time", "no present time", "neither"],
)
def test_the_speakers_sound_has_the_time_that_the_device_tells_or_its_latency(
    times: tuple[float, float], ended: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched()
    ring = watched.pipeline.playout.ring
    assert ring is not None
    ring.write(np.ones(480, np.float32), 1, 0, 240)
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    watched.fake.stream("output").call(times=times)
    assert ring.mark == (480, pytest.approx(ended))


def test_callbacks_that_just_stop_are_noticed_after_one_second() -> None:
    watched = Watched()
    watched.fake.stream("input").call(np.zeros(480, np.float32))
    watched.fake.stream("output").call()
    last = watched.microphone.last_callback
    watched.worker.check_streams(last + 0.9)
    assert watched.recorder.calls == []
    watched.speaker.last_callback = last + 1
    watched.worker.check_streams(last + 1.1)
    assert watched.recorder.calls == [("lost", "input", "The microphone 'Desk Microphone' stopped responding.")]
    watched.worker.check_streams(last + 2.2)
    assert watched.recorder.of("lost")[1] == ("lost", "output", "The loudspeaker 'Desk Speakers' stopped responding.")


def test_the_first_callback_may_take_three_seconds() -> None:
    watched = Watched()
    watched.worker.check_streams(watched.start + 2.9)
    assert watched.recorder.calls == []
    watched.worker.check_streams(watched.start + 4)
    assert [call[1] for call in watched.recorder.of("lost")] == ["input", "output"]


def test_after_three_underflows_the_speaker_is_opened_anew_with_larger_blocks() -> None:
    watched = Watched()
    for _ in range(3):
        watched.fake.stream("output").call(output_underflow=True)
    watched.worker.check_streams(watched.start)
    reopening = watched.worker._reopening
    assert reopening is not None
    reopening.join(PATIENCE_S)
    watched.worker.check_streams(watched.start)
    stream = watched.fake.stream("output")
    assert (stream.options["blocksize"], stream.options["latency"]) == (960, 0.08)
    assert watched.pipeline.playout.lead == 6
    for _ in range(3):
        stream.call(output_underflow=True)
    watched.worker.check_streams(watched.start)
    assert watched.worker.restarts == 1


def test_a_speaker_that_is_opened_anew_without_a_microphone_is_still_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    watched.worker.microphone = None
    waits: list[float | None] = []

    def wait(timeout: float | None) -> bool:
        waits.append(timeout)
        if watched.worker._reopening is not None:
            watched.worker._reopening.join(PATIENCE_S)
        watched.worker._stopping = True
        return True

    for _ in range(3):
        watched.fake.stream("output").call(output_underflow=True)
    monkeypatch.setattr(watched.worker._wake, "wait", wait)
    watched.worker._step_until_stopped()
    assert watched.worker._reopening is not None
    assert [wait is not None for wait in waits] == [True]


def test_while_the_speaker_is_opened_anew_the_echo_filter_is_kept_and_then_shifted_by_the_longer_delay() -> None:
    shifts = Shifts()
    watched = Watched(shifts)
    microphone, speaker = watched.fake.stream("input"), watched.fake.stream("output")

    def pass_frames(count: int, *, played: bool) -> None:
        for _ in range(count):
            if played:
                watched.fake.stream("output").call()
            microphone.call(np.zeros(480, np.float32))
            watched.pipeline.step(watched.start)

    pass_frames(60, played=True)
    for _ in range(3):
        speaker.call(output_underflow=True)
    assert watched.worker.xruns == 3
    shifts.told.clear()
    watched.worker.check_streams(watched.start)
    pass_frames(30, played=False)
    assert shifts.told == []
    assert len(watched.recorder.chunks) == 45
    assert watched.worker._reopening is not None
    watched.worker._reopening.join(PATIENCE_S)
    watched.fake.stream("output").latency = 0.08
    watched.worker.check_streams(watched.start)
    assert shifts.told == [6]
    assert watched.pipeline.capture.has_output
    assert watched.pipeline.capture.far_missing == 0


def test_a_speaker_that_cannot_be_opened_anew_is_lost_with_its_reason() -> None:
    watched = Watched()
    for _ in range(3):
        watched.fake.stream("output").call(output_underflow=True)
    watched.fake.refuse["output"] = FakePortAudioError("Device unavailable", -9985)
    watched.worker.check_streams(watched.start)
    assert watched.worker._reopening is not None
    watched.worker._reopening.join(PATIENCE_S)
    watched.worker.check_streams(watched.start)
    assert "in use by another program" in watched.recorder.of("lost")[0][2]


def test_a_fault_in_a_callback_gives_the_device_silence_and_is_the_reason_when_it_stops() -> None:
    watched = Watched()

    def broken(out: np.ndarray, ended: float) -> None:
        np.asarray(out).fill(0.5)
        raise RuntimeError("broken")

    watched.speaker._ring = type("Broken", (), {"read": staticmethod(broken)})()  # type: ignore[assignment]
    assert not watched.fake.stream("output").call().any()
    assert watched.speaker.faults == 1
    watched.worker.check_streams(watched.start + 4)
    assert watched.recorder.of("lost")[1][2] == "The loudspeaker 'Desk Speakers' stopped: RuntimeError: broken."


def test_a_loss_that_is_to_be_told_while_the_thread_ends_by_a_fault_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    watched = Watched()
    told: list[str] = []

    def stumble(now: float) -> None:
        raise ValueError("odd")

    def on_device_lost(direction: str, reason: str) -> None:
        watched.worker.drop_output(lambda: told.append(direction))

    monkeypatch.setattr(watched.pipeline, "step", stumble)
    monkeypatch.setattr(watched.recorder, "on_device_lost", on_device_lost)
    watched.worker.start()
    watched.worker.stop(10)
    assert sorted(told) == ["input", "output"]
    # The thread has ended: whoever asks for it carries it out.
    watched.worker.drop_output(lambda: told.append("late"))
    assert told[-1] == "late"
