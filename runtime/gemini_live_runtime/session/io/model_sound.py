"""Convert the model's sound to the rate that is played, a piece at a time."""

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
        self._conversion: PcmConverter | None = None
        self._waiting: deque[tuple[int, bytes, int]] = deque()
        """Generation, samples and rate of pieces to convert; without samples the end of a generation."""
        self._scheduled = False

    def play(self, gen: int, pcm: bytes, rate: int) -> None:
        """Play s16le of `rate` Hz: now, or behind what is still to be converted."""
        if not self._waiting and (rate == MODEL_RATE or len(pcm) <= PIECE_BYTES):
            self._play(gen, self._converted(pcm, rate))
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
        if self._waiting and not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._scheduled = False
        if not self._waiting:
            return
        gen, pcm, rate = self._waiting.popleft()
        if pcm:
            self._play(gen, self._converted(pcm, rate))
        else:
            self._end_of_turn(gen)
        self._schedule()

    def _converted(self, pcm: bytes, rate: int) -> bytes:
        if rate == MODEL_RATE:
            return pcm
        if self._conversion is None or self._conversion.source != rate:
            # numpy takes a tenth of a second to import, and no server is known to send another rate.
            from gemini_live_runtime.audio.resample import PcmConverter

            self._conversion = PcmConverter(rate, MODEL_RATE)
        return self._conversion.convert(pcm)
