"""Read the voice with which users of simulated sessions speak over the model."""

from __future__ import annotations

import wave
from functools import cache
from pathlib import Path

RATE = 16_000

VOICE = Path(__file__).parents[1] / "data" / "speech" / "please_stop_talking.wav"
BEGINS_S = 0.2
"""Seconds of the file before its first word."""


@cache
def spoken(seconds: float) -> bytes:
    """Return so many seconds of a voice: s16le mono at 16 kHz."""
    with wave.open(str(VOICE), "rb") as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        file.setpos(int(BEGINS_S * RATE))
        return file.readframes(int(seconds * RATE))
