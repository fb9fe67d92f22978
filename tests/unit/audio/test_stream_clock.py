"""Tell the time of a callback that begins late."""

from __future__ import annotations

import itertools

import pytest

from gemini_live_runtime.audio.devices import streams
from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.audio.devices.streams import MicrophoneStream
from gemini_live_runtime.audio.ring import SampleRing


class Clock:
    """Our clock, which is `ahead` of the device's, and a stream that reads both."""

    def __init__(self, patch: pytest.MonkeyPatch, ahead: float = 0.0) -> None:
        self.now, self._ahead = 500.0, ahead
        patch.setattr(streams.time, "monotonic", lambda: self.now)
        device = SoundDevice(1, "Loop", "ALSA", 1, 0, 48_000)
        self._stream = MicrophoneStream(device, SampleRing(48_000))

    def told(self, late: float = 0.0, *, device_time: float | None = None) -> float:
        """Return the error in the time of the next callback, which begins `late`."""
        self.now += 0.01
        right = self.now
        self.now += late
        told = right - self._ahead if device_time is None else device_time
        found = self._stream._now(told)
        self.now = right
        return found - right


@pytest.mark.parametrize("ahead", [0.0, 499.0, -1e6])
def test_a_callback_that_begins_late_is_known_by_its_devices_clock(
    monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    clock = Clock(monkeypatch, ahead)
    clock.told()
    for late in itertools.islice(itertools.cycle((0.0, 0.015, 0.2)), 300):
        assert clock.told(late) == pytest.approx(0.0, abs=1e-4)


def test_a_device_without_a_clock_or_with_one_that_stands_gets_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    assert clock.told(0.015, device_time=0.0) == pytest.approx(0.015)
    for _ in range(200):
        last = clock.told(device_time=7.0)
    assert last == pytest.approx(0.0)
