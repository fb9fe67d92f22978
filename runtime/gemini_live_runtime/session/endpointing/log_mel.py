"""Compute the logarithmic mel spectrogram that Whisper takes, of 8 s of sound.

It has 80 bands, and windows of 25 ms every 10 ms.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RATE = 16_000
SAMPLES = 8 * RATE
WINDOW, HOP, BANDS = 400, 160, 80


def log_mel(samples: NDArray[Any]) -> NDArray[np.float32]:
    """Return the features of the last 8 s of `samples`, shape (80, 800).

    Shorter sound gets silence in front. The sound is brought to mean 0 and variance 1; the spectrogram's logarithm is
    limited to 80 dB below its peak, and scaled to about -1 to 1.
    """
    sound = np.zeros(SAMPLES, dtype=np.float64)
    newest = samples[-SAMPLES:]
    sound[SAMPLES - len(newest) :] = newest
    sound = (sound - sound.mean()) / np.sqrt(sound.var() + 1e-7)
    padded = np.pad(sound, WINDOW // 2, mode="reflect")
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP][: SAMPLES // HOP]
    # A periodic window: its next value would be the first one again.
    window = np.hanning(WINDOW + 1)[:-1]
    power = np.abs(np.fft.rfft(frames * window)) ** 2
    decades = np.log10(np.maximum(power @ _filters().T, 1e-10))
    limited = np.maximum(decades, decades.max() - 8)
    return np.ascontiguousarray(((limited + 4) / 4).T, dtype=np.float32)


@cache
def _filters() -> NDArray[np.float64]:
    """Return triangular filters of equal area on Slaney's mel scale, shape (80, 201)."""
    edges = _hertz(np.linspace(0, _mel(RATE / 2), BANDS + 2))
    bins = np.fft.rfftfreq(WINDOW, 1 / RATE)
    low, centre, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    slopes = np.minimum((bins - low) / (centre - low), (high - bins) / (high - centre))
    filters: NDArray[np.float64] = np.maximum(slopes, 0) * 2 / (high - low)
    return filters


def _mel(hertz: float) -> float:
    """Return mels: linear up to 1 kHz (15 mels), logarithmic above it."""
    return hertz * 3 / 200 if hertz < 1000 else 15 + 27 * float(np.log(hertz / 1000) / np.log(6.4))


def _hertz(mels: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(mels < 15, mels * 200 / 3, 1000 * np.exp((mels - 15) * np.log(6.4) / 27))
