"""Test switching devices on real streams during speech."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from tests.support.patience import PATIENCE_S
from tests.unit.audio.audio_support import Recorder

from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.errors import DeviceError

pytestmark = pytest.mark.pulse


async def test_speech_goes_on_and_is_heard_in_full_over_a_change_and_a_refused_one(pulse_loop: None) -> None:
    recorder = Recorder()
    audio = DeviceAudio(echo=False)
    opened = await audio.open(recorder)
    assert opened.problems == ()
    sound = (8000 * np.sin(np.arange(3 * MODEL_RATE) / 20)).astype(np.int16)
    audio.play(1, sound.tobytes())
    audio.end_of_turn(1)
    async with asyncio.timeout(PATIENCE_S):
        while audio.played_samples(1) < MODEL_RATE // 2:  # noqa: ASYNC110 - the device has its own clock
            await asyncio.sleep(0.02)
        changed = await audio.change("pulse", "pulse")
        assert changed.input is not None
        assert changed.output is not None
        assert (changed.input.name, changed.output.name) == ("pulse", "pulse")
        with pytest.raises(DeviceError, match="no such device"):
            await audio.change("no such device", None)
        while ("drained", 1) not in recorder.calls:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        before = len(recorder.chunks)
        while len(recorder.chunks) < before + 10:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    await audio.close()
    assert recorder.heard(1) == len(sound)
    assert recorder.of("lost") == []
