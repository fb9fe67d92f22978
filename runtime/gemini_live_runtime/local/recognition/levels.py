"""Measure how loud an utterance is, and by how much to amplify it."""

from __future__ import annotations

from typing import Any

from gemini_live_runtime.local.parts import RECOGNISER_RATE
from gemini_live_runtime.records import record

MAX_UTTERANCE_S = 15.0
"""Longest utterance in seconds; a longer one is rejected without decoding."""

BLOCK = RECOGNISER_RATE // 50
"""Samples of 20 ms."""

LEVEL = 0.1
"""Level (root mean square of the speech, 1 is full scale) to which an utterance is brought."""

_MAX_GAIN = 300.0
_SILENT = 1e-4
_SPEECH = 0.1
"""Part of the loudest block from which on a block is speech."""


@record
class Measured:
    """Samples (1 is full scale), levels of their blocks, and the gain to `LEVEL`."""

    samples: Any
    levels: Any
    gain: float


def measure(pcm: bytes) -> Measured | None:
    """Measure s16le mono PCM at 16 kHz; return None for silence and for too much."""
    import numpy as np

    sound = np.frombuffer(pcm[: len(pcm) // 2 * 2], dtype="<i2").astype(np.float32) / 32768.0
    if not BLOCK <= len(sound) <= MAX_UTTERANCE_S * RECOGNISER_RATE:
        return None
    levels = np.sqrt((sound[: len(sound) // BLOCK * BLOCK].reshape(-1, BLOCK) ** 2).mean(axis=1))
    loudest = float(levels.max())
    if loudest < _SILENT:
        return None
    speech = float(np.sqrt((levels[levels > _SPEECH * loudest] ** 2).mean()))
    return Measured(sound, levels, min(LEVEL / speech, _MAX_GAIN))
