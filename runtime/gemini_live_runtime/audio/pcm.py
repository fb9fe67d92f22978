"""Sample-rate conversion of s16le bytes, for audio that does not come at the rate it should."""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.resample import Resampler
from gemini_live_runtime.audio.samples import to_float, to_int16


class PcmConverter:
    """A stream of mono s16le from `source` to `target` Hz; a few milliseconds are held back between calls."""

    __slots__ = ("_resampler", "source")

    def __init__(self, source: int, target: int) -> None:
        self.source = source
        self._resampler = Resampler(source, target)

    def convert(self, pcm: bytes) -> bytes:
        """The next stretch, converted."""
        return to_int16(self._resampler.process(to_float(np.frombuffer(pcm, "<i2")))).tobytes()
