"""Synthesise speech for tests: a sentence by a voice, as 16 kHz s16le mono PCM.

Voices are `espeak:NAME[@SPEED]` (espeak-ng) and `flite:NAME` (flite).
"""

from __future__ import annotations

import io
import shutil
import subprocess
import wave
from functools import lru_cache

import numpy as np
import soxr

RATE = 16_000


def have_voices() -> bool:
    """Return True when both speech programs are installed."""
    return shutil.which("espeak-ng") is not None and shutil.which("flite") is not None


@lru_cache(256)
def say(voice: str, text: str) -> bytes:
    """`text` as PCM."""
    program, _, name = voice.partition(":")
    if program == "flite":
        command = ["flite", "-voice", name, "-t", text, "-o", "/dev/stdout"]
    else:
        name, _, speed = name.partition("@")
        command = ["espeak-ng", "-v", name, "-s", speed or "150", "--stdout", text]
    wav = subprocess.run(command, capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(wav)) as file:
        rate = file.getframerate()
    samples = np.frombuffer(wav[wav.index(b"data") + 8 :][: (len(wav) - 44) // 2 * 2], "<i2").astype(np.float32) / 32768
    resampled = soxr.resample(samples, rate, RATE, "HQ")
    return (np.clip(resampled, -1, 0.9999) * 32768).astype("<i2").tobytes()
