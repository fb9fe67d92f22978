"""Convert sample rates of streams by soxr; pass through where rates are equal."""

from __future__ import annotations

import atexit
import weakref
from typing import Any, Literal

import numpy as np
import soxr

from gemini_live_runtime.audio.samples import Float32, to_float, to_int16

Quality = Literal["LQ", "VHQ"]


class Resampler:
    """Converter of mono float32 from `source` to `target` Hz, block by block.

    "LQ" delays by a few milliseconds and is for live audio; "VHQ" by tens and is for files. Delayed samples come with
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
