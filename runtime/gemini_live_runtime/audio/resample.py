"""Streaming sample-rate conversion by soxr; nothing at all where the rates are equal."""

from __future__ import annotations

import atexit
import weakref
from typing import Any, Literal

import numpy as np
import soxr

from gemini_live_runtime.audio.samples import Float32, to_float, to_int16

Quality = Literal["LQ", "VHQ"]


class Resampler:
    """Mono float32 at `source` Hz to `target` Hz, block by block.

    "LQ" holds back a few milliseconds and is for the live path; "VHQ" holds back tens and is for files. Output is
    aligned with input: what is held back comes with later calls, or at once with `last=True`.
    """

    __slots__ = ("__weakref__", "_stream")

    def __init__(self, source: int, target: int, quality: Quality = "LQ") -> None:
        self._stream: Any = None
        if source != target:
            self._stream = soxr.ResampleStream(source, target, 1, dtype="float32", quality=quality)
            _alive.add(self)

    def process(self, samples: Float32, *, last: bool = False) -> Float32:
        """The samples that are ready after `samples`."""
        if self._stream is None:
            return samples
        out: Float32 = self._stream.resample_chunk(samples, last=last)
        return out

    def release(self) -> None:
        """Let go of the native part; nothing can be processed after it."""
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
    """At the end of the program soxr prints about native objects that are still alive, right onto the screen."""
    for resampler in list(_alive):
        resampler.release()
