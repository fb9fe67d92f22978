"""Test the audio process on real streams: losing it, its engine, and a busy agent."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from tests.support.patience import PATIENCE_S
from tests.unit.audio.audio_support import Recorder

from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.audio.process.process_audio import ProcessAudio
from gemini_live_runtime.samples import MeterSample

pytestmark = pytest.mark.pulse

ATTEMPTS = 3

ROOT = Path(__file__).resolve().parents[2]
SPEECH = (8000 * np.sin(np.arange(2 * MODEL_RATE) / 20)).astype(np.int16).tobytes()


async def until_played(audio: ProcessAudio, count: int) -> None:
    """Return once the device has taken `count` samples of generation 1."""
    async with asyncio.timeout(PATIENCE_S):
        while audio.played_samples(1) < count:  # noqa: ASYNC110 - the device has its own clock
            await asyncio.sleep(0.02)


async def test_speech_is_heard_in_full_over_the_end_of_the_audio_process(pulse_loop: None) -> None:
    recorder = Recorder()
    audio = ProcessAudio({"echo": False})
    opened = await audio.open(recorder)
    assert opened.problems == ()
    try:
        audio.play(1, SPEECH)
        audio.end_of_turn(1)
        await until_played(audio, MODEL_RATE // 2)
        assert audio.process_id is not None
        os.kill(audio.process_id, signal.SIGKILL)
        await until_played(audio, 2 * MODEL_RATE)
        async with asyncio.timeout(PATIENCE_S):
            while ("drained", 1) not in recorder.calls:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
    finally:
        await audio.close()
    assert recorder.heard(1) == 2 * MODEL_RATE
    assert recorder.of("lost") == []
    assert np.abs(recorder.microphone[-16_000:]).max() > 1_000


async def test_no_microphone_is_lost_and_nothing_clicks_while_the_agent_burns_a_core(pulse_loop: None) -> None:
    # Underflows and overflows that a busy machine causes in the sound server say nothing of the agent's code.
    for attempt in range(1, ATTEMPTS + 1):
        levels = await levels_while_a_core_burns()
        assert levels.mic_dropped == 0
        assert levels.underruns == 0
        if levels.xruns <= 1:
            break
        print(f"attempt {attempt} of {ATTEMPTS}: the devices reported {levels.xruns} underflows and overflows")
    assert levels.xruns <= 1


async def levels_while_a_core_burns() -> MeterSample:
    """Return the levels after two seconds of sound, no chunk of which is late."""
    recorder = Recorder()
    audio = ProcessAudio({"echo": True})
    opened = await audio.open(recorder)
    assert opened.problems == ()
    done = threading.Event()

    def burn() -> None:
        while not done.is_set():
            sum(range(1_000))

    try:
        async with asyncio.timeout(PATIENCE_S):
            while len(recorder.chunks) < 10:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            first = len(recorder.chunks)
            threading.Thread(target=burn, daemon=True).start()
            audio.play(1, SPEECH)
            audio.end_of_turn(1)
            while len(recorder.chunks) < first + 100:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        levels = audio.levels()
    finally:
        done.set()
        await audio.close()
    times = [chunk.captured_at for chunk in recorder.chunks[first:]]
    assert len(times) == pytest.approx((times[-1] - times[0]) / 0.02 + 1, rel=0.05)
    return levels


ENGINE = """
import asyncio
from tests.unit.audio.audio_support import Recorder
from gemini_live_runtime.audio.process.process_audio import ProcessAudio

async def main():
    opened = await ProcessAudio({"echo": False}).open(Recorder())
    print(opened.input is not None, flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_the_microphone_of_a_killed_engine_is_closed(pulse_loop: None) -> None:
    engine = subprocess.Popen(
        [sys.executable, "-c", ENGINE],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "runtime")])},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert engine.stdout is not None
        assert engine.stdout.readline() == "True\n"
        assert recording()
        engine.kill()
        engine.wait()
        # Each look takes some milliseconds.
        assert any(not recording() for _ in range(300))
    finally:
        engine.kill()
        engine.communicate()


def recording() -> str:
    """Return the streams that record from the sound server."""
    listed = subprocess.run(["pactl", "list", "short", "source-outputs"], capture_output=True, text=True, check=True)
    return listed.stdout
