"""Test that lost devices are replaced, and come back by themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.support.patience import PATIENCE_S
from tests.unit.audio.audio_support import FakePortAudio, FakeStream, Recorder, pcm

from gemini_live_runtime.audio import device_recovery
from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.devices import portaudio
from gemini_live_runtime.audio.devices.probe import NO_DEVICE
from gemini_live_runtime.audio.devices.selection import DeviceList, SoundDevice
from gemini_live_runtime.audio.interface import Direction
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline

pytestmark = pytest.mark.usefixtures("no_silence_watchdog")

DESK = (
    SoundDevice(0, "Desk Microphone", "Fake API", 1, 0, 48_000, is_default_input=True),
    SoundDevice(1, "Desk Speakers", "Fake API", 0, 1, 48_000, is_default_output=True),
)
USB = (
    SoundDevice(2, "USB Microphone", "Fake API", 1, 0, 44_100),
    SoundDevice(3, "USB Speakers", "Fake API", 0, 1, 44_100),
)
TOTAL = 12_000
"""Samples of the speech."""


class Room(FakePortAudio):
    """Devices that are plugged in and out, which PortAudio lists when it starts."""

    def __init__(self, *devices: SoundDevice) -> None:
        super().__init__()
        self.devices = devices
        self.starts = 0
        self._initialize()

    def _initialize(self) -> None:
        self.starts += 1
        self.listed = self.devices
        self._handles = {device.name for device in self.devices}
        self.default.device = [
            next((at for at, d in enumerate(self.listed) if d.is_default(side)), -1) for side in ("input", "output")
        ]

    def plug(self, *devices: SoundDevice) -> None:
        """Change what is there; streams of devices that are gone end."""
        self.devices = devices
        names = {device.name for device in devices}
        # A device that comes back is another one to PortAudio.
        self._handles &= names
        for stream in self.open_streams:
            if self.names[stream] not in names:
                stream.end()

    def query_devices(self) -> list[dict[str, Any]]:
        return [
            {
                "hostapi": 0,
                "name": device.name,
                "default_samplerate": float(device.rate),
                "max_input_channels": device.input_channels,
                "max_output_channels": device.output_channels,
            }
            for device in self.listed
        ]

    def found(self) -> DeviceList:
        listed = tuple(replace(device, index=at) for at, device in enumerate(self.devices))
        return DeviceList(listed, "" if listed else NO_DEVICE)

    @property
    def names(self) -> dict[FakeStream, str]:
        return {stream: stream.options["name"] for stream in self.streams}

    @property
    def open_streams(self) -> list[FakeStream]:
        return [stream for stream in self.streams if stream.active and not stream.closed]

    @property
    def open_names(self) -> set[str]:
        return {self.names[stream] for stream in self.open_streams}

    def _make(self, direction: str, options: dict[str, Any]) -> FakeStream:
        name = self.listed[options["device"]].name
        if name not in self._handles:
            raise self.PortAudioError("Device unavailable", -9985)
        return super()._make(direction, {**options, "name": name})


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEXT_WAIT_S", "LATER_WAIT_S", "AGAIN_WAIT_S"):
        monkeypatch.setattr(device_recovery, name, 0.02)
    monkeypatch.setattr(device_recovery, "FIRST_WAITS_S", (0.02,))
    # However slow the machine is, a loss that is made good is not told.
    monkeypatch.setattr(device_recovery, "REPLACE_WITHIN_S", 100.0)


@asynccontextmanager
async def speaking(room: Room, **options: Any) -> AsyncIterator[tuple[DeviceAudio, Recorder]]:
    """Half a second of speech, of which a tenth was heard."""
    recorder = Recorder()
    audio = DeviceAudio(echo=False, load=lambda: room, probe=room.found, **options)
    await audio.open(recorder)
    audio.play(1, pcm(np.full(TOTAL, 10_000)))
    audio.end_of_turn(1)
    await run(room, lambda: audio.played_samples(1) >= 2400)
    try:
        yield audio, recorder
    finally:
        await audio.close()


async def run(room: Room, done: Callable[[], object]) -> None:
    """Let the speaker that is open play until `done`."""
    async with asyncio.timeout(PATIENCE_S):
        while not done():
            for stream in room.open_streams:
                if stream.direction == "output":
                    stream.call()
            await asyncio.sleep(0.002)


async def test_speech_goes_on_in_full_on_the_default_device_and_returns_to_the_chosen_one() -> None:
    room = Room(*DESK, *USB)
    async with speaking(room, input="USB Mic", output="USB Speakers") as (_, recorder):
        room.plug(*DESK)
        await run(room, lambda: ("drained", 1) in recorder.calls)
        assert recorder.heard(1) == TOTAL
        assert room.open_names == {"Desk Microphone", "Desk Speakers"}
        assert recorder.of("lost") == []
        (opened,) = recorder.of("opened")
        assert opened[1:3] == ("Desk Microphone", "Desk Speakers")
        assert "The loudspeaker 'USB Speakers' was disconnected." in opened[3]
        room.plug(*USB, *DESK)
        await run(room, lambda: len(recorder.of("opened")) == 2)
        assert recorder.of("opened")[1] == ("opened", "USB Microphone", "USB Speakers", ())
        assert room.open_names == {"USB Microphone", "USB Speakers"}


async def test_a_lost_speaker_is_replaced_while_the_microphone_stays_open() -> None:
    room = Room(*DESK, USB[1])
    async with speaking(room, output="USB Speakers") as (audio, recorder):
        microphone = room.stream("input")
        microphone.call(np.full(480, 0.1, np.float32))
        room.plug(*DESK)
        await run(room, lambda: recorder.of("opened"))
        (opened,) = recorder.of("opened")
        assert opened[1:3] == ("Desk Microphone", "Desk Speakers")
        assert "The loudspeaker 'USB Speakers' was disconnected." in opened[3]
        await run(room, lambda: ("drained", 1) in recorder.calls)
        assert recorder.heard(1) == TOTAL
        assert room.stream("input") is microphone
        assert microphone in room.open_streams
        # The echo's reference comes from the new one.
        chunks = len(recorder.chunks)

        def hears() -> bool:
            microphone.call(np.full(480, 0.1, np.float32))
            return len(recorder.chunks) > chunks + 2

        await run(room, hears)
        assert audio.levels().out_db is not None
        assert room.starts == 1
        # What came back is another device to PortAudio, which has to start again to know it.
        room.plug(*DESK, USB[1])
        await run(room, lambda: len(recorder.of("opened")) == 2)
        assert room.open_names == {"Desk Microphone", "USB Speakers"}
        assert room.starts == 2


async def test_a_lost_microphone_is_replaced_while_the_speaker_stays_open() -> None:
    room = Room(*DESK, USB[0])
    async with speaking(room, input="USB Mic") as (_, recorder):
        speaker = room.stream("output")
        room.plug(*DESK)
        await run(room, lambda: recorder.of("opened"))
        assert recorder.of("opened")[0][1:3] == ("Desk Microphone", "Desk Speakers")
        assert room.stream("output") is speaker

        def hears() -> bool:
            room.stream("input").call(np.full(480, 0.1, np.float32))
            return bool(recorder.chunks)

        await run(room, hears)
        await run(room, lambda: ("drained", 1) in recorder.calls)
        assert recorder.heard(1) == TOTAL


async def test_without_another_device_the_loss_is_told_and_the_sound_is_back_with_the_device() -> None:
    room = Room(*DESK)
    async with speaking(room) as (audio, recorder):
        room.plug()
        await run(room, lambda: len(recorder.of("lost")) == 2 and not audio.playing)
        assert {call[1:] for call in recorder.of("lost")} == {
            ("input", "The microphone 'Desk Microphone' was disconnected."),
            ("output", "The loudspeaker 'Desk Speakers' was disconnected."),
        }
        # What was heard is known when the loss is told; the rest is dropped.
        kinds = [call[0] for call in recorder.calls if call[0] != "lost" or call[1] == "output"]
        assert kinds.index("heard") < kinds.index("lost") < kinds.index("drained")
        assert 2400 <= recorder.heard(1) < TOTAL
        room.plug(*DESK)
        await run(room, lambda: recorder.of("opened"))
        assert recorder.of("opened") == [("opened", "Desk Microphone", "Desk Speakers", ())]
        audio.play(2, pcm(np.full(2400, 10_000)))
        audio.end_of_turn(2)
        await run(room, lambda: ("drained", 2) in recorder.calls)
        assert recorder.heard(2) == 2400
        assert len(recorder.of("lost")) == 2


async def test_a_headset_that_changed_its_rate_is_opened_at_the_new_one() -> None:
    room = Room(*DESK, *USB)
    async with speaking(room, input="USB Mic", output="USB Speakers") as (_, recorder):
        room.plug(*DESK, *(replace(device, rate=16_000) for device in USB))
        for stream in room.open_streams:
            stream.end()
        await run(room, lambda: recorder.of("opened"))
        assert {stream.options["samplerate"] for stream in room.open_streams} == {16_000}
        await run(room, lambda: ("drained", 1) in recorder.calls)
        assert recorder.heard(1) == TOTAL


async def test_a_device_chosen_by_number_is_looked_for_by_its_name() -> None:
    room = Room(*DESK, *USB)
    async with speaking(room, input="2", output="3") as (_, recorder):
        room.plug(*DESK)
        await run(room, lambda: recorder.of("opened"))
        room.plug(USB[1], DESK[0], DESK[1], USB[0])
        await run(room, lambda: len(recorder.of("opened")) == 2)
        assert room.open_names == {"USB Microphone", "USB Speakers"}


async def test_a_microphone_that_is_plugged_in_later_is_opened() -> None:
    room = Room(DESK[1])
    async with speaking(room) as (audio, recorder):
        assert audio.finished
        room.plug(*DESK)
        await run(room, lambda: recorder.of("opened"))
        assert recorder.of("opened") == [("opened", "Desk Microphone", "Desk Speakers", ())]
        assert not audio.finished
        await run(room, lambda: ("drained", 1) in recorder.calls)
        assert recorder.heard(1) == TOTAL


async def test_a_device_that_is_listed_but_does_not_open_does_not_take_the_other_one_down() -> None:
    room = Room(*DESK)
    async with speaking(room) as (_, recorder):
        room.refuse["input"] = Exception("broken")
        for stream in room.open_streams:
            if stream.direction == "input":
                stream.end()
        await run(room, lambda: recorder.of("lost"))
        made = len(room.streams)
        await run(room, lambda: ("drained", 1) in recorder.calls)
        assert len(room.streams) == made
        assert recorder.heard(1) == TOTAL


async def test_hanging_up_ends_the_search() -> None:
    room = Room(*DESK)
    async with speaking(room) as (_, recorder):
        room.plug()
        await run(room, lambda: len(recorder.of("lost")) == 2)
    room.plug(*DESK)
    await asyncio.sleep(0)
    assert room.open_names == set()
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "look for devices"]


async def test_a_fault_in_the_sound_processing_costs_a_worker_and_no_speech(monkeypatch: pytest.MonkeyPatch) -> None:
    room = Room(*DESK)
    async with speaking(room) as (_, recorder):
        fails(monkeypatch, 1)
        await run(room, lambda: ("drained", 1) in recorder.calls and recorder.of("opened"))
        assert recorder.heard(1) == TOTAL
        assert recorder.of("lost") == []
        (opened,) = recorder.of("opened")
        assert "Sound processing failed: ValueError: odd." in opened[3]


async def test_sound_processing_that_keeps_failing_is_given_up_until_devices_are_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    room = Room(*DESK)
    async with speaking(room) as (audio, recorder):
        audio._faults.most = 1
        fails(monkeypatch, 2)
        await run(room, lambda: len(recorder.of("lost")) == 2)
        assert {call[2] for call in recorder.of("lost")} == {
            "Sound processing failed: ValueError: odd. Choose the devices to try again."
        }
        opened = len(recorder.of("opened"))
        assert room.open_names == set()
        await audio.change(None, None)
        audio.play(2, pcm(np.full(2400, 10_000)))
        audio.end_of_turn(2)
        await run(room, lambda: ("drained", 2) in recorder.calls)
        assert len(recorder.of("opened")) == opened


def fails(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let the next steps of the sound's processing raise, in whichever worker."""
    step = AudioPipeline.step
    left = [times]

    def stumble(pipeline: AudioPipeline, now: float) -> None:
        if left[0]:
            left[0] -= 1
            raise ValueError("odd")
        step(pipeline, now)

    monkeypatch.setattr(AudioPipeline, "step", stumble)


async def test_a_device_that_is_lost_during_a_look_for_another_is_told_after_the_next_look_at_the_earliest() -> None:
    told: list[str] = []
    told_at_looks: list[list[str]] = []

    async def reopen() -> bool:
        told_at_looks.append(list(told))
        if len(told_at_looks) == 1:
            recovery.on_lost("output", "gone too")
        return len(told_at_looks) == 3

    def report(direction: Direction, reason: str) -> bool:
        told.append(direction)
        return True

    recovery = device_recovery.DeviceRecovery(reopen, report)
    recovery.on_lost("input", "gone")
    assert recovery._task is not None
    await recovery._task
    assert told_at_looks == [[], ["input"], ["input", "output"]]
    await recovery.close()


@pytest.mark.parametrize("first", ["input", "output"])
async def test_a_headset_whose_other_half_ends_during_the_replacement_loses_no_speech(
    monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    room = Room(*DESK, *USB)
    async with speaking(room, input="USB Mic", output="USB Speakers") as (audio, recorder):
        room.plug(*DESK, *(replace(device, rate=16_000) for device in USB))
        one, other = sorted(room.open_streams, key=lambda stream: stream.direction != first)
        known_device = portaudio.known_device

        def end_other_and_look(library: Any, device: SoundDevice) -> SoundDevice | None:
            other.end()
            while other.direction in audio._open_names():
                pass
            return known_device(library, device)

        monkeypatch.setattr(portaudio, "known_device", end_other_and_look)
        one.end()
        await run(room, lambda: len(recorder.of("opened")) == 2)
        await run(room, lambda: ("drained", 1) in recorder.calls)
        assert recorder.of("lost") == []
        assert recorder.heard(1) == TOTAL
