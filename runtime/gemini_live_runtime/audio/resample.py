"""Streaming sample-rate conversion by soxr; nothing at all where the rates are equal."""

from __future__ import annotations

from typing import Literal

import soxr

from gemini_live_runtime.audio.samples import Float32

Quality = Literal["LQ", "VHQ"]


class Resampler:
    """Mono float32 at `source` Hz to `target` Hz, block by block.

    "LQ" holds back a few milliseconds and is for the live path; "VHQ" holds back tens and is for files. Output is
    aligned with input: what is held back comes with later calls, or at once with `last=True`.
    """

    __slots__ = ("_stream",)

    def __init__(self, source: int, target: int, quality: Quality = "LQ") -> None:
        self._stream = (
            soxr.ResampleStream(source, target, 1, dtype="float32", quality=quality) if source != target else None
        )

    def process(self, samples: Float32, *, last: bool = False) -> Float32:
        """The samples that are ready after `samples`."""
        if self._stream is None:
            return samples
        out: Float32 = self._stream.resample_chunk(samples, last=last)
        return out
