"""Test the device helper: orders, reports, and that it closes every device."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np
import pytest
from tests.unit.audio.audio_support import babble, pcm

from gemini_live_runtime.audio.checks.device_helper import DeviceHelper
from gemini_live_runtime.audio.interface import (
    CHUNK_SAMPLES,
    MIC_RATE,
    AudioListener,
    AudioOpened,
    Direction,
    MicChunk,
    OpenDevice,
)
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.samples import MeterSample


class FakeAudio:
    """A microphone that hears `sound`, and a room that gives back what is played."""

    def __init__(self, log: list[str], only: Direction | None, problem: str = "", dies_after: float = 1e9) -> None:
        self.log = log
        self.only = only
        self.problem = problem
        self.dies_after = dies_after
        self.played = b""
        self._task: asyncio.Task[None] | None = None

    async def open(self, listener: AudioListener) -> AudioOpened:
        self.log.append("open")
        if self.problem:
            return AudioOpened(None, None, (self.problem,), "")
        self._task = asyncio.get_running_loop().create_task(self._deliver(listener))
        output = None if self.only == "input" else OpenDevice("output", "Speaker", 48_000, 10)
        return AudioOpened(OpenDevice("input", "Mic", 48_000, 10), output, (), "canceller" if output else "")

    async def _deliver(self, listener: AudioListener) -> None:
        rng = np.random.default_rng(3)
        voice = babble(MIC_RATE, 3.0, 4)
        sound = rng.normal(0, 0.001, MIC_RATE * 60)
        sound[MIC_RATE : MIC_RATE + len(voice)] += voice
        loop = asyncio.get_running_loop()
        began = loop.time()
        for at in range(0, len(sound), CHUNK_SAMPLES):
            await asyncio.sleep(0.02)
            if loop.time() - began > self.dies_after:
                listener.on_device_lost("input", "The microphone 'Mic' was disconnected.")
                return
            listener.on_voice(MIC_RATE <= at < MIC_RATE * 4)
            samples = np.clip(sound[at : at + CHUNK_SAMPLES] * 32768, -32768, 32767).astype(np.int16)
            listener.on_mic_chunk(MicChunk(pcm(samples), loop.time()))

    async def close(self) -> None:
        self.log.append("close")
        if self._task is not None:
            self._task.cancel()

    def play(self, gen: int, pcm: bytes) -> None:
        self.played += pcm

    def end_of_turn(self, gen: int) -> None:
        self.log.append("played")

    def levels(self) -> MeterSample:
        loud = bool(self.played)
        return MeterSample(
            mic_db=-30.0 if loud else -60.0,
            mic_peak_db=-28.0,
            clean_db=-55.0,
            out_db=-20.0 if loud else -60.0,
            erle_db=25.0,
        )


class Bench:
    """A helper, its fake devices and what it reported."""

    def __init__(self, **device: Any) -> None:
        self.reports: list[dict[str, Any]] = []
        self.log: list[str] = []
        self.wanted: list[tuple[str | None, str | None, Direction | None, bool]] = []
        self.device = device
        self.helper = DeviceHelper(self.reports.append, self._make)

    def _make(self, input: str | None, output: str | None, only: Direction | None, echo: bool) -> Any:
        self.wanted.append((input, output, only, echo))
        return FakeAudio(self.log, only, **self.device)

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [report for report in self.reports if report["report"] == kind]


def carried_out(bench: Bench, *orders: dict[str, Any], seconds: float = 20.0) -> Bench:
    async def scene() -> None:
        for serial, order in enumerate(orders, 1):
            await bench.helper.order({**order, "serial": serial})
            await asyncio.sleep(seconds)
        await bench.helper.stop()

    run_virtual(scene())
    return bench


def test_levels_open_the_named_microphone_alone_and_come_twenty_times_a_second() -> None:
    bench = carried_out(Bench(), {"order": "levels", "input": "3"}, seconds=2.0)
    assert bench.wanted == [("3", None, "input", False)]
    assert bench.of("opened")[0]["input"] == "Mic"
    assert 38 <= len(bench.of("level")) <= 42
    assert bench.log == ["open", "close"]


def test_a_new_order_closes_the_device_of_the_one_before_first() -> None:
    bench = carried_out(Bench(), {"order": "levels"}, {"order": "levels"}, {"order": "stop"}, seconds=1.0)
    assert bench.log == ["open", "close", "open", "close"]
    assert {report["serial"] for report in bench.reports} == {1, 2}


def test_the_microphone_test_listens_five_seconds_and_gives_a_verdict() -> None:
    bench = carried_out(Bench(), {"order": "microphone", "input": ""})
    (result,) = bench.of("result")
    assert (result["test"], result["mark"]) == ("microphone", "good")
    assert result["voice_db"] > result["floor_db"] + 18
    assert bench.of("level")[0]["left_s"] == pytest.approx(5.0)
    assert bench.log == ["open", "close"]


def test_the_echo_test_plays_its_sound_through_the_canceller_and_gives_a_verdict() -> None:
    bench = carried_out(Bench(), {"order": "echo", "input": "a", "output": "b"})
    assert bench.wanted == [("a", "b", None, True)]
    (result,) = bench.of("result")
    assert (result["test"], result["mark"]) == ("echo", "good")
    assert result["return_db"] == pytest.approx(-10.0)
    assert result["reduction_db"] == pytest.approx(25.0)
    assert bench.log == ["open", "played", "close"]


@pytest.mark.parametrize("order", ["levels", "microphone", "echo"])
def test_a_device_that_does_not_open_is_a_sentence(order: str) -> None:
    bench = carried_out(Bench(problem="Microphone 'Mic' is in use by another program."), {"order": order})
    assert [report["report"] for report in bench.reports] == ["problem"]
    assert "in use" in bench.reports[0]["text"]
    assert bench.log == ["open", "close"]


@pytest.mark.parametrize("order", ["levels", "microphone", "echo"])
def test_a_device_that_vanishes_ends_the_test_with_its_reason(order: str) -> None:
    bench = carried_out(Bench(dies_after=0.5), {"order": order})
    assert bench.of("result") == []
    assert "was disconnected" in bench.of("problem")[0]["text"]
    assert bench.log[-1] == "close"


def test_an_order_that_does_not_exist_is_refused() -> None:
    assert "no order 'dance'" in carried_out(Bench(), {"order": "dance"}).reports[0]["text"]
