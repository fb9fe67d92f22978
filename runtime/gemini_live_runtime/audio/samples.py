"""Define types of sample arrays, frame sizes and conversions."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from gemini_live_runtime.audio.interface import MIC_RATE, MODEL_RATE

Int16 = npt.NDArray[np.int16]
Float32 = npt.NDArray[np.float32]
Complex64 = npt.NDArray[np.complex64]
AnyArray = npt.NDArray[Any]
Samples: TypeAlias = "Float32 | memoryview[float]"
"""Float32 samples, as an array or in the memory of a device: there numpy costs more than copying."""

FRAME_MS = 10
FRAME = MIC_RATE * FRAME_MS // 1000
"""Samples in 10 ms of microphone audio, the canceller's frame."""
BLOCK = MODEL_RATE * FRAME_MS // 1000
"""Samples in 10 ms of the model's speech, the playback block."""

FULL_SCALE = 32768.0


def constant(value: float) -> Float32:
    """Return a number as an array, for frames.

    numpy takes longer to convert a number than to multiply a frame by it.
    """
    return np.array(value, np.float32)


_FULL_SCALE, _HIGHEST, _LOWEST = constant(FULL_SCALE), constant(FULL_SCALE - 1), constant(-FULL_SCALE)


def rounded(samples: Float32) -> Int16:
    """Return floats in int16 units as int16, rounded and clipped."""
    whole = np.rint(samples)
    # Faster than `clip`, which is called for every frame.
    np.minimum(whole, _HIGHEST, out=whole)
    np.maximum(whole, _LOWEST, out=whole)
    return whole.astype(np.int16)


def to_int16(samples: Float32) -> Int16:
    """Return floats of full scale 1 as int16, rounded and clipped."""
    return rounded(samples * _FULL_SCALE)


def to_float(samples: Int16) -> Float32:
    """Return int16 samples as floats of full scale 1."""
    return samples.astype(np.float32) / np.float32(FULL_SCALE)
