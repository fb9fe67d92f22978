"""Buffer the model's speech between network and device, 24 kHz int16.

It holds samples and decides the next 10 ms; it knows no device, thread or clock. One thread (the worker) uses it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from itertools import takewhile

import numpy as np

from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.audio.playback.concealment import Concealment
from gemini_live_runtime.audio.playback.jitter import START_MS
from gemini_live_runtime.audio.samples import BLOCK, Int16
from gemini_live_runtime.records import mutable_record, record

MAX_SECONDS = 15 * 60
"""Most speech queued, in seconds; beyond it the oldest is dropped and counted."""

_PER_MS = MODEL_RATE // 1000


@record
class Block:
    """Block of 10 ms to play: int16[240].

    The first `count` samples belong to `gen`, from its sample `first` on; the rest is silence, or conceals a gap.
    """

    gen: int
    first: int
    count: int
    samples: Int16


@mutable_record
class _Turn:
    """Samples of one generation in the buffer."""

    gen: int
    pieces: deque[Int16]
    queued: int = 0
    next_first: int = 0
    """Number of the first queued sample."""
    ended: bool = False
    flowing: bool = False
    starved: bool = False
    resuming: bool = False
    """True between the first samples after a gap and their playing."""


class PlaybackBuffer:
    """Generations in order of arrival; each starts after its prebuffer, unless cut."""

    __slots__ = (
        "_concealed_gen",
        "_concealment",
        "_forgotten",
        "_turns",
        "cut_below",
        "cut_samples",
        "limit",
        "over_limit_samples",
        "prebuffer_ms",
        "queued",
        "stale_samples",
        "underruns",
    )

    def __init__(self, limit: int = MAX_SECONDS * MODEL_RATE) -> None:
        self._turns: OrderedDict[int, _Turn] = OrderedDict()
        self._forgotten = -1
        self._concealment = Concealment()
        self._concealed_gen = -1
        self.limit = limit
        self.prebuffer_ms = START_MS
        """Milliseconds with which a turn begins, and goes on after a gap."""
        self.cut_below = 0
        self.queued = 0
        """Samples queued, of all generations."""
        self.underruns = 0
        self.stale_samples = 0
        """Samples refused because their generation was cut or had drained."""
        self.cut_samples = 0
        """Queued samples dropped by a cut."""
        self.over_limit_samples = 0

    @property
    def queued_ms(self) -> float:
        """Milliseconds queued."""
        return self.queued / _PER_MS

    def push(self, gen: int, samples: Int16) -> int:
        """Queue `samples` of `gen`; return the number dropped: these, or older ones."""
        turn = self._turn(gen)
        if turn is None:
            self.stale_samples += len(samples)
            return len(samples)
        if turn.starved:
            turn.starved = False
            self.underruns += 1
            turn.resuming = True
        if len(samples):
            turn.pieces.append(samples)
            turn.queued += len(samples)
            self.queued += len(samples)
        return self._keep_within_limit()

    def end_of_turn(self, gen: int) -> None:
        """Mark `gen` as complete: its tail plays without waiting for a prebuffer."""
        turn = self._turn(gen)
        if turn is not None:
            turn.ended = True

    def cut(self, cut_below: int) -> int:
        """Drop generations below `cut_below`, now and later; return the samples dropped."""
        self.cut_below = max(self.cut_below, cut_below)
        dropped = 0
        for gen in [gen for gen in self._turns if gen < self.cut_below]:
            dropped += self._turns.pop(gen).queued
        self.queued -= dropped
        self.cut_samples += dropped
        return dropped

    def drop_all(self) -> list[int]:
        """Drop all samples, for lack of a device; return the drained generations."""
        for turn in self._turns.values():
            turn.pieces.clear()
            turn.next_first += turn.queued
            turn.queued = 0
        self.queued = 0
        return self.drained_generations()

    def skip(self, gen: int, count: int) -> None:
        """Count the next samples of `gen` as after `count` that are not played.

        Nothing may be queued.
        """
        turn = self._turn(gen)
        if turn is not None:
            turn.next_first += count

    def pull(self) -> Block | None:
        """Return the next 10 ms, or None while nothing is ready."""
        turn = self._head()
        if turn is None or not turn.queued:
            return None
        if not turn.ended and turn.queued < (BLOCK if turn.flowing else max(BLOCK, self.prebuffer_ms * _PER_MS)):
            return None
        turn.flowing = True
        return self._take(turn)

    def conceal(self) -> Block | None:
        """Return 10 ms in place of late samples, None when silence follows.

        The turn waits for its prebuffer again. It counts as an underrun only if more of the turn arrives: a turn's end
        looks the same until then.
        """
        turn = self._head()
        if turn is None or turn.ended:
            return None
        if turn.flowing:
            turn.flowing = False
            turn.starved = True
            self._concealment.begin()
        if not (turn.starved or turn.resuming):
            return None
        samples = self._concealment.next_block()
        return None if samples is None else Block(turn.gen, turn.next_first, 0, samples)

    def drained_generations(self) -> list[int]:
        """Return the oldest generations that have ended and have no samples queued."""
        return [turn.gen for turn in takewhile(lambda turn: turn.ended and not turn.queued, self._turns.values())]

    def forget(self, gen: int) -> None:
        """Forget the drained `gen`; later samples of it or an older one are refused."""
        self._turns.pop(gen, None)
        self._forgotten = max(self._forgotten, gen)

    def _turn(self, gen: int) -> _Turn | None:
        """Return the turn of `gen`, creating it if new; None if cut or drained.

        A new turn ends those before it.
        """
        if gen < self.cut_below:
            return None
        turn = self._turns.get(gen)
        if turn is None:
            if gen <= self._forgotten:
                return None
            for earlier in self._turns.values():
                earlier.ended = True
            turn = self._turns[gen] = _Turn(gen, deque())
        return turn

    def _head(self) -> _Turn | None:
        for turn in self._turns.values():
            if turn.queued or not turn.ended:
                return turn
        return None

    def _take(self, turn: _Turn) -> Block:
        out = np.zeros(BLOCK, np.int16)
        first, count = turn.next_first, 0
        while count < BLOCK and turn.pieces:
            piece = turn.pieces[0]
            part = min(BLOCK - count, len(piece))
            out[count : count + part] = piece[:part]
            if part == len(piece):
                turn.pieces.popleft()
            else:
                turn.pieces[0] = piece[part:]
            count += part
        turn.next_first += count
        turn.queued -= count
        self.queued -= count
        if turn.gen != self._concealed_gen:
            self._concealed_gen = turn.gen
            self._concealment.forget()
        if turn.resuming:
            turn.resuming = False
            self._concealment.join(out)
        self._concealment.add(out)
        return Block(turn.gen, first, count, out)

    def _keep_within_limit(self) -> int:
        dropped = 0
        for turn in self._turns.values():
            while turn.pieces and self.queued - self.limit > 0:
                piece = turn.pieces[0]
                part = min(len(piece), self.queued - self.limit)
                if part == len(piece):
                    turn.pieces.popleft()
                else:
                    turn.pieces[0] = piece[part:]
                turn.queued -= part
                turn.next_first += part
                self.queued -= part
                dropped += part
        self.over_limit_samples += dropped
        return dropped
