"""Convert sample rates of streams; pass through where rates are equal."""

from __future__ import annotations

import atexit
import functools
import math
import weakref
from typing import Any, Literal

import numpy as np
import soxr

from gemini_live_runtime.audio.samples import Float32, to_float, to_int16

Quality = Literal["LQ", "VHQ"]


class Resampler:
    """Converter of mono float32 from `source` to `target` Hz by soxr, block by block.

    "LQ" holds up to 22 ms back and is for live speech; "VHQ" holds back more and is for files. These samples come with
    later calls, or at once with `last=True`.
    """

    __slots__ = ("__weakref__", "_stream")

    def __init__(self, source: int, target: int, quality: Quality = "LQ") -> None:
        self._stream: Any = None
        if source != target:
            self._stream = soxr.ResampleStream(source, target, 1, dtype="float32", quality=quality)
            _alive.add(self)

    def process(self, samples: Float32, *, last: bool = False) -> Float32:
        """Return the samples that are ready after `samples`."""
        if self._stream is None:
            return samples
        out: Float32 = self._stream.resample_chunk(samples, last=last)
        return out

    def release(self) -> None:
        """Free the native stream; `process` must not be called any more."""
        self._stream = None


class BlockResampler:
    """Converter of mono float32 from `source` to `target` Hz, without lumps.

    A block of 10 ms gives one of 10 ms, `delay_s` late. soxr returns samples in lumps, and a microphone whose chunks
    wait for them is heard up to 22 ms later.
    """

    __slots__ = ("_down", "_history", "_weights", "delay_s")

    def __init__(self, source: int, target: int) -> None:
        self._weights: Float32 | None = None
        self.delay_s = 0.0
        """Delay in seconds of the samples returned."""
        if source != target:
            self._weights, self._down, self.delay_s = _polyphase(source, target)
            self._history: Float32 = np.zeros(len(self._weights) - self._down, np.float32)

    def process(self, samples: Float32) -> Float32:
        """Return the next samples."""
        if self._weights is None:
            return samples
        (window, up), down = self._weights.shape, self._down
        samples = np.concatenate((self._history, samples))
        # Most of what a loudspeaker plays is silence.
        is_silent = not np.count_nonzero(samples)
        periods = max(0, len(samples) - window + down) // down
        self._history = samples[periods * down :]
        if is_silent:
            return np.zeros(periods * up, np.float32)
        step = samples.itemsize
        # sliding_window_view and as_strided check their arguments for as long as the filter takes.
        windows: Float32 = np.ndarray((periods, window), np.float32, samples, 0, (step * down, step))
        out: Float32 = np.dot(windows, self._weights).ravel()
        return out


@functools.cache
def _polyphase(source: int, target: int) -> tuple[Float32, int, float]:
    """Return a filter's weights, its period in samples of `source`, and its delay (s).

    Each period gives `windows @ weights` samples of `target`, from windows that end with it. The filter is a Kaiser
    window of 60 dB over a sinc; it passes 7/8 of the lower rate's band and rejects what lies above 9/8 of it.
    """
    common = math.gcd(source, target)
    up, down, high = target // common, source // common, source * target // common
    edge = min(source, target) / 2
    # Kaiser's formulas for a stop band of 60 dB and a transition of a quarter of `edge`.
    half = math.ceil((60 - 8) / (2.285 * 2 * math.pi * edge / 4 / high) / 2)
    at = np.arange(-half, half + 1)
    taps = np.sinc(2 * edge / high * at) * np.kaiser(2 * half + 1, 0.1102 * (60 - 8.7))
    taps *= up / taps.sum()
    history = -(-len(taps) // up)
    index = np.arange(up) * down - (np.arange(history + down)[:, None] - history) * up
    inside = (index >= 0) & (index < len(taps))
    weights = np.where(inside, taps[np.where(inside, index, 0)], 0.0).astype(np.float32)
    return weights, down, half / high


class PcmConverter:
    """Converts a stream of mono s16le bytes from `source` to `target` Hz.

    A few milliseconds are held back between calls.
    """

    __slots__ = ("_resampler", "source")

    def __init__(self, source: int, target: int) -> None:
        self.source = source
        self._resampler = Resampler(source, target)

    def convert(self, pcm: bytes) -> bytes:
        """Return the next piece, converted."""
        return to_int16(self._resampler.process(to_float(np.frombuffer(pcm, "<i2")))).tobytes()


_alive: weakref.WeakSet[Resampler] = weakref.WeakSet()


@atexit.register
def _release_all() -> None:
    """Free native objects at exit: soxr prints warnings about live ones to the screen."""
    for resampler in list(_alive):
        resampler.release()
