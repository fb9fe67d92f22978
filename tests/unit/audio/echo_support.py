"""Make rooms, speech and echoes for tests of cancellers."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gemini_live_runtime.audio.echo.cancellers import EchoCanceller
from gemini_live_runtime.audio.resample import Resampler
from gemini_live_runtime.audio.wav import WavReader

RATE = 16_000
DATA = Path(__file__).resolve().parents[2] / "data" / "audio"


def room(far: np.ndarray, delay_ms: int = 60, level: float = 0.5, seed: int = 7) -> np.ndarray:
    """Return the echo of `far`: a delayed direct path and a decaying tail of 150 ms."""
    rng = np.random.default_rng(seed)
    tail = rng.standard_normal(2400) * np.exp(-np.arange(2400) / 500)
    response = np.concatenate([np.zeros(RATE * delay_ms // 1000), [1.0], 0.1 * tail])
    return (level * np.convolve(far, response)[: len(far)]).astype(np.float32)


def int16(sound: np.ndarray) -> np.ndarray:
    return np.clip(np.rint(sound * 32_768), -32_768, 32_767).astype(np.int16)


def cancel(canceller: EchoCanceller, far: np.ndarray, mic: np.ndarray) -> np.ndarray:
    out = []
    for at in range(0, len(mic) - 159, 160):
        canceller.render(int16(far[at : at + 160]))
        out.append(canceller.capture(int16(mic[at : at + 160])))
    return np.concatenate(out) / 32_768


def reduction(mic: np.ndarray, clean: np.ndarray, start: float, end: float) -> float:
    span = slice(int(start * RATE), int(end * RATE))
    return float(10 * np.log10((mic[span] ** 2).mean() / ((clean[span] ** 2).mean() + 1e-12)))


def noise(count: int, seed: int = 1) -> np.ndarray:
    return (np.random.default_rng(seed).standard_normal(count) * 0.0005).astype(np.float32)


def spoken(name: str, seconds: float, level: float) -> np.ndarray:
    """Return recorded speech of an RMS of `level`, repeated to `seconds`."""
    reader = WavReader(DATA / name)
    sound = Resampler(reader.rate, RATE, "VHQ").process(reader.read(10_000_000), last=True)
    reader.close()
    sound = np.tile(sound, int(seconds * RATE / len(sound)) + 1)[: int(seconds * RATE)]
    return (sound * (level / np.sqrt((sound**2).mean()))).astype(np.float32)
