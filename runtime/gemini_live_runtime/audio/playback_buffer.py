"""The playback buffer: the model's speech between the network and the device, 24 kHz int16.

Pure: it holds samples and decides what the next 10 ms are; it knows no device, no thread and no clock.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.audio.samples import BLOCK, Int16

PREBUFFER_MS = 60
PREBUFFER_STEP_MS = 40
PREBUFFER_LIMIT_MS = 200
FADE_IN_MS = 5
LIMIT_SECONDS = 15 * 60
"""Speech queued at most; beyond it the oldest is dropped and counted."""

_PER_MS = MODEL_RATE // 1000


@dataclass(frozen=True, slots=True)
class Block:
    """10 ms to play: `samples` int16[240], of which the first `count` are `gen`'s from `first` on, the rest silence."""

    gen: int
    first: int
    count: int
    samples: Int16


@dataclass(slots=True)
class _Turn:
    """One generation's samples in the buffer."""

    gen: int
    pieces: deque[Int16]
    queued: int = 0
    next_first: int = 0
    """Number of the first queued sample."""
    ended: bool = False
    flowing: bool = False
    starved: bool = False
    fade_in: bool = False
    prebuffer_ms: int = PREBUFFER_MS


class PlaybackBuffer:
    """Generations in the order they arrived; each starts after its prebuffer, none is played once it was cut."""

    __slots__ = (
        "_forgotten",
        "_ramp",
        "_turns",
        "cut_below",
        "cut_samples",
        "limit",
        "over_limit_samples",
        "queued",
        "stale_samples",
        "underruns",
    )

    def __init__(self, limit: int = LIMIT_SECONDS * MODEL_RATE) -> None:
        self._turns: OrderedDict[int, _Turn] = OrderedDict()
        self._forgotten = -1
        self.limit = limit
        self.cut_below = 0
        self.queued = 0
        """Samples waiting, of all generations."""
        self.underruns = 0
        self.stale_samples = 0
        """Samples refused because their generation had been cut or was over."""
        self.cut_samples = 0
        """Samples dropped by a cut while they waited."""
        self.over_limit_samples = 0
        fade = FADE_IN_MS * _PER_MS
        self._ramp = ((np.arange(fade, dtype=np.float32) + 1) / fade).astype(np.float32)

    @property
    def queued_ms(self) -> float:
        """Milliseconds waiting."""
        return self.queued / _PER_MS

    def push(self, gen: int, samples: Int16) -> int:
        """Queue `samples` of `gen`; return how many were dropped for it: these, or the oldest at the limit."""
        turn = self._turn(gen)
        if turn is None:
            self.stale_samples += len(samples)
            return len(samples)
        if turn.starved:
            turn.starved = False
            self.underruns += 1
            turn.prebuffer_ms = min(turn.prebuffer_ms + PREBUFFER_STEP_MS, PREBUFFER_LIMIT_MS)
            turn.fade_in = True
        if len(samples):
            turn.pieces.append(samples)
            turn.queued += len(samples)
            self.queued += len(samples)
        return self._keep_within_limit()

    def end_of_turn(self, gen: int) -> None:
        """No more of `gen` comes: its tail is played without waiting for a prebuffer."""
        turn = self._turn(gen)
        if turn is not None:
            turn.ended = True

    def cut(self, cut_below: int) -> int:
        """Drop every generation below `cut_below`, now and when it arrives later; return the samples dropped."""
        self.cut_below = max(self.cut_below, cut_below)
        dropped = 0
        for gen in [gen for gen in self._turns if gen < self.cut_below]:
            dropped += self._turns.pop(gen).queued
        self.queued -= dropped
        self.cut_samples += dropped
        return dropped

    def drop_all(self) -> list[int]:
        """There is nothing to play with: drop every sample that waits; return the generations that had ended."""
        for turn in self._turns.values():
            turn.pieces.clear()
            turn.queued = 0
        self.queued = 0
        return self.spent()

    def pull(self) -> Block | None:
        """The next 10 ms, or None while there is nothing to play yet."""
        turn = self._head()
        if turn is None or not turn.queued:
            return None
        if not turn.ended and turn.queued < (BLOCK if turn.flowing else turn.prebuffer_ms * _PER_MS):
            return None
        turn.flowing = True
        return self._take(turn)

    def starve(self) -> None:
        """Everything handed out was consumed: a turn that was playing waits for its prebuffer again.

        It counts as an underrun only if more of the turn arrives: a turn's end looks the same until then.
        """
        turn = self._head()
        if turn is not None and turn.flowing and not turn.ended:
            turn.flowing = False
            turn.starved = True

    def spent(self) -> list[int]:
        """The oldest generations, up to the first that goes on: ended ones of which nothing waits here."""
        return [turn.gen for turn in takewhile(lambda turn: turn.ended and not turn.queued, self._turns.values())]

    def forget(self, gen: int) -> None:
        """`gen` was consumed to its end; whatever still arrives of it or of an older one is stale."""
        self._turns.pop(gen, None)
        self._forgotten = max(self._forgotten, gen)

    def _turn(self, gen: int) -> _Turn | None:
        """The turn of `gen`, made when new; None when it was cut or is over. A new turn ends those before it."""
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
        if turn.fade_in:
            turn.fade_in = False
            fade = len(self._ramp)
            out[:fade] = (out[:fade] * self._ramp).astype(np.int16)
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
