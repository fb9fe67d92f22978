"""Test in virtual time that a busy machine costs the worker no sound."""

from __future__ import annotations

import heapq
import itertools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.audio.audio_support import FakePortAudio, Recorder

from gemini_live_runtime.audio.devices.streams import LoudspeakerStream, MicrophoneStream
from gemini_live_runtime.audio.echo.cancellers import NoCanceller
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline
from gemini_live_runtime.audio.processing.worker import AudioWorker, lead_slots

SECONDS = 30
SPOKEN_S = 5.0
TURN_S = 8.5
LATE_S = (0.005, 0.03)


class Machine:
    """A worker on the test's thread, its devices and its clock.

    `wait` and `set` stand for its event: what is due meanwhile happens within `wait`.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
        self.random = random.Random(seed)
        self.now = 1000.0
        # Before the devices are opened: by the real clock they may have been silent for long.
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        self.late_steps = 0.0
        """Share of the worker's waits that end late."""
        self.long_frames = 0.0
        """Share of the frames in which the worker has to let others run."""
        self.recorder, fake = Recorder(), FakePortAudio()
        canceller = NoCanceller()
        pipeline = AudioPipeline(self.recorder, canceller, mic_rate=16_000, out_rate=24_000, lead=lead_slots(10))
        assert pipeline.microphone is not None
        assert pipeline.playout.ring is not None
        assert pipeline.played is not None
        found = fake.found().devices
        microphone = MicrophoneStream(replace(found[0], rate=16_000), pipeline.microphone)
        speaker = LoudspeakerStream(replace(found[1], rate=24_000), pipeline.playout.ring, pipeline.played)
        for stream in (microphone, speaker):
            stream.open(fake)
        self.pipeline, self.fake = pipeline, fake
        self.gaps = 0
        """Blocks of the loudspeaker that found nothing although speech was queued."""
        self.worker = AudioWorker(pipeline, self.recorder, fake, microphone, speaker)
        self.worker._wake = self  # type: ignore[assignment]
        self._set = False
        self._numbers = itertools.count()
        self._due: list[tuple[float, int, Callable[[], object]]] = []
        render = canceller.capture

        def capture(frame: np.ndarray) -> np.ndarray:
            self.pass_time(0.0003 + self.delay(self.long_frames))
            return render(frame)

        canceller.capture = capture  # type: ignore[method-assign]

    def delay(self, share: float) -> float:
        return self.random.uniform(*LATE_S) if self.random.random() < share else 0.0

    def at(self, moment: float, call: Callable[[], object]) -> None:
        heapq.heappush(self._due, (1000.0 + moment, next(self._numbers), call))

    def pass_time(self, seconds: float) -> None:
        end = self.now + seconds
        while self._due and self._due[0][0] <= end:
            self.now, _, call = heapq.heappop(self._due)
            call()
        self.now = end

    def set(self) -> None:
        self._set = True

    def clear(self) -> None:
        self._set = False

    def wait(self, timeout: float | None) -> bool:
        assert timeout is not None
        end = self.now + timeout
        while not self._set and self._due and self._due[0][0] <= end:
            self.pass_time(self._due[0][0] - self.now)
        if not self._set:
            self.now = end
        self.pass_time(0.00005 + self.delay(self.late_steps))
        return self._set

    def record(self) -> None:
        self.fake.stream("input").call(np.zeros(160, np.float32))

    def play(self) -> None:
        playout = self.pipeline.playout
        assert playout.ring is not None
        self.gaps += playout.ring.empty and playout.buffer.queued > 0
        self.fake.stream("output").call()

    def speak(self, gen: int, count: int) -> None:
        """Send 200 ms of speech; count is 0 for the end of a turn."""
        if count:
            self.pipeline.playout.play(gen, np.full(4_800, 5_000, np.int16).tobytes())
        else:
            self.pipeline.playout.end_of_turn(gen)
        self.worker.wake()

    def run(self, moments: Callable[[], Iterator[float]]) -> None:
        """Play turns of speech, with the callbacks of each device at `moments`."""
        for call, phase in ((self.record, 0.0), (self.play, 0.004)):
            for moment in moments():
                self.at(moment + phase, call)
        for gen in range(int(SECONDS / TURN_S)):
            for piece in range(26):
                count, start = 25 - piece, 1 + gen * TURN_S
                self.at(start + piece * 0.15, lambda gen=gen, count=count: self.speak(gen, count))  # type: ignore[misc]
        self.at(SECONDS, self.worker.stop)
        self.worker._thread.join = lambda timeout: None  # type: ignore[method-assign, assignment]
        self.worker._step_until_stopped()


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch, seed=1)


def blocks(machine: Machine, *, together: int = 1, late: float = 0.0) -> Callable[[], Iterator[float]]:
    """Return the moments of callbacks that come `together`, a share of them late."""

    def moments() -> Iterator[float]:
        last = 0.0
        for number in range(SECONDS * 100):
            due = (number // together + 1) * together / 100 + machine.delay(late)
            last = max(last, due)
            yield last

    return moments


def assert_nothing_lost(machine: Machine) -> None:
    capture = machine.pipeline.capture
    assert not machine.worker.has_failed
    assert (capture.far_missing, capture.far_dropped, machine.pipeline.overflowed_chunks) == (0, 0, 0)
    # What came after the last step is on the way.
    assert len(machine.recorder.chunks) >= SECONDS * 50 - 6
    assert machine.recorder.heard(0) == 24_000 * SPOKEN_S


@pytest.mark.parametrize("together", [1, 2, 4])
def test_blocks_that_come_together_leave_no_gap(machine: Machine, together: int) -> None:
    machine.run(blocks(machine, together=together))
    assert_nothing_lost(machine)
    assert machine.gaps == 0


def test_late_blocks_leave_no_gap(machine: Machine) -> None:
    machine.run(blocks(machine, late=0.05))
    assert_nothing_lost(machine)
    assert machine.gaps == 0


def test_a_worker_that_wakes_late_and_is_interrupted_loses_nothing_and_catches_up_at_once(machine: Machine) -> None:
    machine.late_steps, machine.long_frames = 0.2, 0.05
    machine.run(blocks(machine))
    assert_nothing_lost(machine)
    # Four blocks are kept ready: only a step that is more than 20 ms late leaves a gap.
    assert machine.gaps < 15
