"""The model is no person in recorded disturbances of the sound system.

Each FLAC has what the loudspeaker was given (left) and the microphone (right) at 16 kHz, recorded on a sound loop while
processes were stopped for up to 120 ms at random. Only the model speaks. The JSON beside it has the frames of 10 ms
that were lost: [number of the frame, frames by which the echo comes later]. In `later_by_30_ms` the echo comes later
without any report of it, 6 dB louder than the sound, and the microphone clips.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
import soundfile

from gemini_live_runtime.audio.echo.cancellers import EchoCanceller, NoCanceller
from gemini_live_runtime.audio.echo.dual_canceller import DualCanceller
from gemini_live_runtime.audio.processing.voice_detector import VoiceDetector
from gemini_live_runtime.audio.samples import FRAME, Int16
from gemini_live_runtime.local.protocol.activity import ActivityDetector, Started

Samples: TypeAlias = npt.NDArray[np.int16]
RECORDED = Path(__file__).parents[2] / "data" / "echo"
NAMES = sorted(path.stem for path in RECORDED.glob("*.flac"))


def recorded(name: str) -> tuple[Samples, list[tuple[int, int]]]:
    """Return what was played and heard, and the frames that were lost."""
    samples, _ = soundfile.read(RECORDED / f"{name}.flac", dtype="int16")
    return samples, json.loads((RECORDED / f"{name}.json").read_text())["lost"]


def hear(canceller: EchoCanceller, frames: Samples, lost: list[int]) -> Int16:
    """Return a frame of the microphone without its echo."""
    for later in lost:
        canceller.on_frames_lost(later)
    far, microphone = np.ascontiguousarray(frames.T)
    canceller.render(far)
    return canceller.capture(microphone)


def voices(name: str, canceller: EchoCanceller) -> tuple[int, int]:
    """Return the number of voices that are marked, and of turns that begin.

    The console marks voices, the embedded server begins turns.
    """
    samples, lost = recorded(name)
    shown, server = VoiceDetector(), ActivityDetector()
    marked = turns = 0
    chunk = []
    for number, frames in enumerate(np.split(samples, len(samples) // FRAME)):
        chunk.append(hear(canceller, frames, [later for at, later in lost if at == number]))
        if number % 2:
            pcm = np.concatenate(chunk).tobytes()
            power = float(np.mean((np.concatenate(chunk) / 32768.0) ** 2))
            changed = shown.add(pcm, power, playing=True, near_end=canceller.has_near_end)
            marked += changed and shown.speaking
            turns += sum(isinstance(edge, Started) for edge in server.add(pcm))
            chunk.clear()
    return marked, turns


@pytest.mark.parametrize("name", NAMES)
def test_the_model_is_not_taken_for_a_person_while_the_sound_system_stalls(name: str) -> None:
    assert voices(name, DualCanceller()) == (0, 0)


@pytest.mark.parametrize("name", NAMES)
def test_no_person_is_found_while_the_loudspeaker_is_lowered(name: str) -> None:
    canceller = DualCanceller()
    samples, lost = recorded(name)
    states = set()
    for number, frames in enumerate(np.split(samples, len(samples) // FRAME)):
        hear(canceller, frames, [later for at, later in lost if at == number])
        states.add(canceller.probe.state)
    assert "person" not in states


@pytest.mark.parametrize("name", NAMES)
def test_without_a_canceller_it_is(name: str) -> None:
    marked, turns = voices(name, NoCanceller())
    assert marked
    assert turns
