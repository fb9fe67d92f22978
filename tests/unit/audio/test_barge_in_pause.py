"""Test the pause for what may be a voice: at once, and exact to the sample."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.audio.audio_support import Recorder, pcm

from gemini_live_runtime.audio.echo.cancellers import NoCanceller
from gemini_live_runtime.audio.echo.pause_probe import PauseProbe
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline
from gemini_live_runtime.audio.ring import FADE_MS
from gemini_live_runtime.audio.samples import FRAME

BLOCK = 240
FADE = 24 * FADE_MS
SUSPECTED_AT = 20
"""Block in which a voice is suspected; the next one fades."""
HEARD = (SUSPECTED_AT + 1) * BLOCK + FADE
"""Samples played before the silence."""


class Answer:
    """An answer of half a second over a pipeline whose probe suspects a voice in it."""

    def __init__(self) -> None:
        self.recorder, canceller = Recorder(), NoCanceller()
        self.probe = canceller.probe = PauseProbe()
        self.pipeline = AudioPipeline(self.recorder, canceller, mic_rate=16_000, out_rate=24_000)
        self.sound: list[np.ndarray] = []
        self.pipeline.playout.play(1, pcm(np.full(12_000, 8_000)))
        self.pipeline.playout.end_of_turn(1)
        self.pipeline.step(0.0)

    def run(self, blocks: int, *, voice: bool) -> None:
        ring, played, microphone = self.pipeline.playout.ring, self.pipeline.played, self.pipeline.microphone
        assert ring is not None
        assert played is not None
        assert microphone is not None
        for _ in range(blocks):
            number = len(self.sound)
            now = (number + 1) / 100
            suspected = number == SUSPECTED_AT
            self.probe.update(suspected=suspected, likely=False, heard=voice, believed=voice, delay=0)
            out = np.zeros(BLOCK, np.float32)
            ring.read(out, now)
            self.sound.append(out)
            played.write(out, now)
            microphone.write(np.zeros(FRAME, np.float32), now)
            self.pipeline.step(now)


def test_a_sound_that_was_no_voice_pauses_the_answer_and_no_sample_of_it_is_lost() -> None:
    answer = Answer()
    answer.run(150, voice=False)
    sound = np.concatenate(answer.sound) * 32_768
    silent = np.flatnonzero(np.abs(sound) < 1)
    assert silent[0] == pytest.approx(HEARD, abs=2)
    goes_on = silent[np.flatnonzero(np.diff(silent) > 1)[0]] + 1
    assert goes_on - silent[0] < 24_000 * 0.4
    # Faded in within a slot, and out at the end of the answer.
    rest = sound[goes_on + BLOCK : goes_on + 12_000 - HEARD - BLOCK]
    assert np.allclose(rest, 8_000, atol=2)
    assert answer.recorder.heard(1) == 12_000
    assert ("drained", 1) in answer.recorder.calls
    assert answer.probe.echoes == 1


def test_an_answer_that_is_cut_in_its_pause_was_heard_up_to_there() -> None:
    answer = Answer()
    answer.run(50, voice=True)
    assert answer.probe.state == "person"
    assert answer.pipeline.playout.played_samples(1) == HEARD
    answer.pipeline.playout.cut(2)
    answer.run(50, voice=True)
    assert not np.concatenate(answer.sound)[HEARD:].any()
    assert answer.recorder.heard(1) == HEARD
