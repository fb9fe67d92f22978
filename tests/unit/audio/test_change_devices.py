"""Test switching devices during speech: nothing is lost, bad devices are refused."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.patience import PATIENCE_S
from tests.unit.audio.audio_support import FakePortAudio, FakePortAudioError, FakeStream, Recorder, pcm

from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.devices.selection import DeviceList, SoundDevice
from gemini_live_runtime.audio.playback.playout import Playout
from gemini_live_runtime.audio.ring import PlayoutRing
from gemini_live_runtime.audio.samples import BLOCK
from gemini_live_runtime.errors import DeviceError

pytestmark = pytest.mark.usefixtures("no_silence_watchdog")

DESK_MIC, DESK_OUT, USB_MIC, USB_OUT = range(4)
NAMES = ("Desk Microphone", "Desk Speakers", "USB Microphone", "USB Speakers")


class FourDevices(FakePortAudio):
    """A desk and a headset; `broken` devices do not open."""

    def __init__(self) -> None:
        super().__init__()
        self.broken: set[int] = set()

    def query_devices(self) -> list[dict[str, Any]]:
        return [
            {
                "hostapi": 0,
                "name": name,
                "default_samplerate": 48_000.0 if number < 2 else 44_100.0,
                "max_input_channels": 1 - number % 2,
                "max_output_channels": number % 2,
            }
            for number, name in enumerate(NAMES)
        ]

    def found(self) -> DeviceList:
        rates = (48_000, 48_000, 44_100, 44_100)
        return DeviceList(
            tuple(
                SoundDevice(
                    number, name, "Fake API", 1 - number % 2, number % 2, rates[number], number == 0, number == 1
                )
                for number, name in enumerate(NAMES)
            )
        )

    def _make(self, direction: str, options: dict[str, Any]) -> FakeStream:
        if options["device"] in self.broken:
            raise FakePortAudioError("Device unavailable", -9985)
        return super()._make(direction, options)

    @property
    def open_devices(self) -> set[int]:
        return {stream.options["device"] for stream in self.streams if stream.active and not stream.closed}


@asynccontextmanager
async def speaking(fake: FourDevices) -> AsyncIterator[tuple[DeviceAudio, Recorder]]:
    """Half a second of speech, of which a tenth was heard."""
    recorder = Recorder()
    audio = DeviceAudio(echo=False, load=lambda: fake, probe=fake.found)
    await audio.open(recorder)
    audio.play(1, pcm(np.full(12_000, 10_000)))
    audio.end_of_turn(1)
    await run(fake, lambda: audio.played_samples(1) >= 2400)
    yield audio, recorder
    await audio.close()


async def run(fake: FourDevices, done: Callable[[], bool]) -> None:
    """Let the speaker that is open play until `done`."""
    async with asyncio.timeout(PATIENCE_S):
        while not done():
            for stream in fake.streams:
                if stream.active and not stream.closed and stream.direction == "output":
                    stream.call()
            await asyncio.sleep(0.002)


async def test_speech_goes_on_where_it_was_on_the_other_speaker() -> None:
    fake = FourDevices()
    async with speaking(fake) as (audio, recorder):
        opened = await audio.change("USB Microphone", "USB Speakers")
        assert opened.input is not None
        assert opened.output is not None
        assert (opened.input.name, opened.output.name, opened.output.rate) == (NAMES[2], NAMES[3], 44_100)
        assert fake.open_devices == {USB_MIC, USB_OUT}
        await run(fake, lambda: ("drained", 1) in recorder.calls)
        assert recorder.heard(1) == 12_000
        assert not audio.playing
        assert recorder.of("lost") == []
        audio.play(2, pcm(np.full(2400, 10_000)))
        audio.end_of_turn(2)
        await run(fake, lambda: ("drained", 2) in recorder.calls)
        assert recorder.heard(2) == 2400
    assert fake.open_devices == set()


@pytest.mark.parametrize("broken", [USB_MIC, USB_OUT])
async def test_a_device_that_does_not_open_leaves_the_old_ones_and_the_speech(broken: int) -> None:
    fake = FourDevices()
    fake.broken.add(broken)
    async with speaking(fake) as (audio, recorder):
        with pytest.raises(DeviceError, match="in use by another program") as caught:
            await audio.change("USB Microphone", "USB Speakers")
        assert "stay as they were" in str(caught.value)
        assert fake.open_devices == {DESK_MIC, DESK_OUT}
        await run(fake, lambda: ("drained", 1) in recorder.calls)
        assert recorder.heard(1) == 12_000
        assert recorder.of("lost") == []


async def test_a_name_that_means_nothing_touches_nothing() -> None:
    fake = FourDevices()
    async with speaking(fake) as (audio, _):
        with pytest.raises(DeviceError, match="There is no microphone 'Studio'"):
            await audio.change("Studio", None)
        assert len(fake.streams) == 2
        assert fake.open_devices == {DESK_MIC, DESK_OUT}


async def test_what_cannot_be_opened_again_is_told_as_lost() -> None:
    fake = FourDevices()
    async with speaking(fake) as (audio, recorder):
        fake.broken |= {DESK_OUT, USB_OUT}
        with pytest.raises(DeviceError):
            await audio.change(None, "USB Speakers")
        async with asyncio.timeout(PATIENCE_S):
            while not recorder.of("lost") or audio.playing:  # noqa: ASYNC110
                await asyncio.sleep(0.002)
        assert [call[1] for call in recorder.of("lost")] == ["output"]
        assert fake.open_devices == {DESK_MIC}


async def test_hanging_up_while_they_open_leaves_nothing_open() -> None:
    gate = threading.Event()
    opening = threading.Event()

    class Slow(FourDevices):
        def _make(self, direction: str, options: dict[str, Any]) -> FakeStream:
            if options["device"] == USB_MIC:
                opening.set()
                gate.wait(PATIENCE_S)
            return super()._make(direction, options)

    fake = Slow()
    async with speaking(fake) as (audio, _):
        changing = asyncio.create_task(audio.change("USB Microphone", "USB Speakers"))
        await asyncio.to_thread(opening.wait, PATIENCE_S)
        await audio.close()
        gate.set()
        await changing
    assert fake.open_devices == set()


async def test_before_they_are_open_there_is_nothing_to_change() -> None:
    with pytest.raises(DeviceError, match="not open yet"):
        await DeviceAudio().change(None, None)


@given(st.lists(st.integers(0, 5), max_size=6), st.integers(0, 40), st.sampled_from([44_100, 48_000, 24_000]))
def test_moving_at_any_moment_accounts_for_every_sample(reads: list[int], cut_after: int, rate: int) -> None:
    recorder = Recorder()
    playout = Playout(recorder, PlayoutRing(48_000), lead=3)
    total = 20 * BLOCK
    playout.play(1, pcm(np.full(total, 1000)))
    playout.end_of_turn(1)
    now = 0.0
    for blocks in reads:
        now += 0.01
        playout.step(now)
        assert playout.ring is not None
        for _ in range(blocks):
            playout.ring.read(np.zeros(480, np.float32), now)
    playout.move(PlayoutRing(rate))
    for number in range(200):
        now += 0.01
        playout.step(now)
        if number == cut_after:
            playout.cut(2)
        assert playout.ring is not None
        playout.ring.read(np.zeros(rate // 100, np.float32), now)
    playout.step(now + 1)
    assert not playout.playing
    assert recorder.heard(1) <= total
    if cut_after >= 35:
        assert recorder.heard(1) == total
        assert ("drained", 1) in recorder.calls
