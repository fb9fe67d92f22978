"""Convert the model's sound to the rate that is played, a piece at a time.

The first piece at another rate loads the converter, in a thread: numpy and soxr take a tenth of a second to import, and
hardly any server sends another rate.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from gemini_live_runtime.audio.interface import MODEL_RATE

if TYPE_CHECKING:
    from gemini_live_runtime.audio.resample import PcmConverter

PIECE_BYTES = 64 * 1024
"""Bytes converted at once: ten megabytes in one message would hold up the event loop for a second."""


class ModelSound:
    """Sound of the model on its way to the device, in order with its ends."""

    def __init__(self, play: Callable[[int, bytes], None], end_of_turn: Callable[[int], None]) -> None:
        self._play = play
        self._end_of_turn = end_of_turn
        self._make_converter: Callable[[int, int], PcmConverter] | None = None
        """Class of converters, once it is loaded."""
        self._loading: asyncio.Future[Callable[[int, int], PcmConverter]] | None = None
        self._conversion: PcmConverter | None = None
        self._waiting: deque[tuple[int, bytes, int]] = deque()
        """Generation, samples and rate of pieces to convert; without samples the end of a generation."""
        self._scheduled = False

    def play(self, gen: int, pcm: bytes, rate: int) -> None:
        """Play s16le of `rate` Hz: now, or behind what is still to be converted."""
        if not self._waiting:
            if rate == MODEL_RATE:
                self._play(gen, pcm)
                return
            if len(pcm) <= PIECE_BYTES and self._make_converter is not None:
                self._play(gen, self._converted(pcm, rate, self._make_converter))
                return
        self._waiting.extend((gen, pcm[at : at + PIECE_BYTES], rate) for at in range(0, len(pcm), PIECE_BYTES))
        self._schedule()

    def end_of_turn(self, gen: int) -> None:
        """Mark a generation as complete, behind what is still to be converted."""
        if self._waiting:
            self._waiting.append((gen, b"", MODEL_RATE))
        else:
            self._end_of_turn(gen)

    def cut(self, cut_below: int) -> None:
        """Drop what waits of generations below `cut_below`."""
        if self._waiting:
            self._waiting = deque(piece for piece in self._waiting if piece[0] >= cut_below)

    def close(self) -> None:
        """Drop all that waits."""
        self._waiting.clear()

    def _schedule(self) -> None:
        if not self._waiting or self._scheduled:
            return
        self._scheduled = True
        loop = asyncio.get_running_loop()
        if self._make_converter is not None:
            loop.call_soon(self._go_on)
        elif self._loading is None:
            self._loading = loop.run_in_executor(None, _load_converter)
            self._loading.add_done_callback(self._on_loaded)

    def _on_loaded(self, loading: asyncio.Future[Callable[[int, int], PcmConverter]]) -> None:
        self._make_converter = loading.result()
        self._go_on()

    def _go_on(self) -> None:
        self._scheduled = False
        if not self._waiting or self._make_converter is None:
            return
        gen, pcm, rate = self._waiting.popleft()
        if pcm:
            self._play(gen, self._converted(pcm, rate, self._make_converter))
        else:
            self._end_of_turn(gen)
        self._schedule()

    def _converted(self, pcm: bytes, rate: int, make: Callable[[int, int], PcmConverter]) -> bytes:
        if rate == MODEL_RATE:
            return pcm
        if self._conversion is None or self._conversion.source != rate:
            self._conversion = make(rate, MODEL_RATE)
        return self._conversion.convert(pcm)


def _load_converter() -> Callable[[int, int], PcmConverter]:
    """Import the converter, and let it load what it loads at its first use."""
    from gemini_live_runtime.audio.resample import PcmConverter

    PcmConverter(MODEL_RATE // 2, MODEL_RATE).convert(bytes(2))
    return PcmConverter
