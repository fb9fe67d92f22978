"""From `play` to the device and back to `heard`: the playback buffer, the ring of slots and the account of both.

`play`, `end_of_turn` and `cut` are for the event loop's thread and only append to an inbox; `step` is for the worker,
which owns everything else. A cut also stores its number where the device callback looks.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

import numpy as np

from gemini_live_runtime.audio.interface import MODEL_RATE, AudioListener
from gemini_live_runtime.audio.playback_buffer import Block, PlaybackBuffer
from gemini_live_runtime.audio.resample import Resampler
from gemini_live_runtime.audio.ring import PlayoutRing
from gemini_live_runtime.audio.samples import BLOCK, Float32, Int16, to_float

HEARD_SPAN_SAMPLES = MODEL_RATE // 2
"""Heard spans are reported when they are this long, and at every end."""

_TAKEN_KEPT = 16
"""Generations whose account is kept: only the last ones can still be asked for."""

_SILENT_BLOCK: Float32 = np.zeros(BLOCK, np.float32)

_Order = tuple[Literal["play"], int, Int16] | tuple[Literal["end", "cut"], int, None]


class Playout:
    """Plays generations through `ring` and reports what of them was heard.

    Without a ring there is nothing to hear: audio is dropped and a turn has drained as soon as it ends.
    `latency` (s) is the way from the device's callback to the ear: consumed samples are reported as heard after it, or
    at once when their generation is cut (the device cannot give them back, they will sound).
    """

    def __init__(
        self, listener: AudioListener, ring: PlayoutRing | None, *, latency: float = 0.0, lead: int = 1
    ) -> None:
        self._listener = listener
        self.ring = ring
        self.latency = latency
        self.lead = lead
        """Slots kept ready for the callback."""
        self.buffer = PlaybackBuffer()
        self.odd_bytes = 0
        """Half samples dropped at the end of a message of odd length."""
        self._resampler = Resampler(MODEL_RATE, ring.slot * 100) if ring is not None else None
        self._ready: Float32 = np.zeros(0, np.float32)
        self._tags: deque[tuple[int, int, int]] = deque()
        self._held_back = 0
        self._inbox: deque[_Order] = deque()
        self._cut_below = 0
        self._accepted = 0
        self._settled = 0
        self._next_slot = 0
        self._counted = 0
        self._outstanding: dict[int, int] = {}
        self._started_gen = -1
        self._consumed: deque[tuple[float, int, int, int]] = deque()
        self._taken: dict[int, int] = {}
        self._span: tuple[int, int, int] | None = None

    def play(self, gen: int, pcm: bytes) -> None:
        """Queue s16le audio at 24 kHz of generation `gen`; a cut generation's is dropped and counted."""
        if len(pcm) % 2:
            self.odd_bytes += 1
            pcm = pcm[:-1]
        samples = np.frombuffer(pcm, np.int16)
        if gen < self._cut_below:
            self.buffer.stale_samples += len(samples)
            return
        self._accepted += len(samples)
        self._inbox.append(("play", gen, samples))

    def end_of_turn(self, gen: int) -> None:
        """No more of `gen` will come."""
        self._inbox.append(("end", gen, None))

    def cut(self, cut_below: int) -> None:
        """Stop everything below `cut_below`: the callback sees it at once, the worker drops the rest."""
        self._cut_below = max(self._cut_below, cut_below)
        if self.ring is not None:
            self.ring.cut_below = self._cut_below
        self._inbox.append(("cut", self._cut_below, None))

    def played_samples(self, gen: int) -> int:
        """Samples of `gen` that the device has taken, at most a block behind; any thread may ask."""
        return self._taken.get(gen, 0)

    @property
    def playing(self) -> bool:
        """True while samples are queued that the device has not consumed."""
        return self._accepted != self._settled

    @property
    def queued_ms(self) -> float:
        """Milliseconds between the network and the device."""
        return (self._accepted - self._settled) * 1000 / MODEL_RATE

    def step(self, now: float) -> None:
        """Take orders, account for what was consumed, fill the ring, report. `now` in seconds of the driver's clock."""
        self._settle(now)
        while self._inbox:
            self._obey(self._inbox.popleft())
        self._fill()
        self._report(now)

    def finish(self) -> None:
        """Report what was consumed and not told yet; the driver stops."""
        self._settle(0.0)
        while self._consumed:
            self._extend_span(*self._consumed.popleft()[1:])
        self._flush_span()

    def move(self, ring: PlayoutRing | None) -> None:
        """Go on with another device; the driver is stopped meanwhile.

        What the old one was given counts as heard, a few slots of it perhaps wrongly; what waits is played by the new
        one. Without a new one it is lost.
        """
        if ring is None:
            self.lose_output()
            return
        self._settle(0.0)
        if self.ring is not None:
            self._hear_the_rest(self.ring)
        self._settled += sum(self._outstanding.values())
        self._outstanding.clear()
        self._tags.clear()
        self._held_back = self._next_slot = self._counted = 0
        self._ready = np.zeros(0, np.float32)
        while self._consumed:
            self._extend_span(*self._consumed.popleft()[1:])
        ring.cut_below = self._cut_below
        self.ring, self._resampler = ring, Resampler(MODEL_RATE, ring.slot * 100)

    def _hear_the_rest(self, ring: PlayoutRing) -> None:
        """Count as consumed what is in `ring` and on its way there."""
        waiting = [
            (ring.gens[slot % ring.SLOTS], ring.firsts[slot % ring.SLOTS], ring.real[slot % ring.SLOTS])
            for slot in range(self._next_slot, ring.write_slot)
        ]
        for gen, first, count in (*waiting, *self._tags):
            told, self._counted = self._counted, 0
            if count > told and gen >= self._cut_below:
                self._consume(0.0, gen, first + told, count - told)

    def lose_output(self) -> None:
        """The device is gone: what it took counts as heard, the rest is dropped, and so is all that follows."""
        self.finish()
        self.ring = None
        # Orders that still wait are obeyed without a ring: nothing is read here that the loop may change meanwhile.
        while self._inbox:
            self._obey(self._inbox.popleft())
        lost = sum(self._outstanding.values()) + self.buffer.cut(self._cut_below) + self.buffer.queued
        self._outstanding.clear()
        self._tags.clear()
        self._held_back = 0
        for gen in self.buffer.drop_all():
            self._release(gen)
        self._settled += lost

    def _obey(self, order: _Order) -> None:
        kind, gen, samples = order
        if kind == "play":
            assert samples is not None
            if self.ring is None:
                self._settled += len(samples)
            else:
                self._settled += self.buffer.push(gen, samples)
        elif kind == "end":
            self.buffer.end_of_turn(gen)
        else:
            self._settled += self.buffer.cut(gen)
            for cut in [old for old in self._outstanding if old < gen]:
                self._drop_held_back(cut)

    def _fill(self) -> None:
        ring = self.ring
        if ring is None:
            return
        while ring.lead < self.lead:
            block = self.buffer.pull()
            if block is None:
                if self._held_back and (ring.lead == 0 or self.buffer.spent()):
                    self._feed(Block(self._tags[-1][0], 0, 0, np.zeros(0, np.int16)))
                    continue
                if ring.empty:
                    self.buffer.starve()
                return
            self._outstanding[block.gen] = self._outstanding.get(block.gen, 0) + block.count
            self._held_back += block.count
            self._feed(block)

    def _feed(self, block: Block) -> None:
        """Resample one block; every whole slot that comes out carries the tag of the block of the same number."""
        assert self.ring is not None
        assert self._resampler is not None
        self._tags.append((block.gen, block.first, block.count))
        fresh = self._resampler.process(to_float(block.samples) if block.count else _SILENT_BLOCK)
        ready = np.concatenate((self._ready, fresh)) if len(self._ready) else fresh
        slot, at = self.ring.slot, 0
        while len(ready) - at >= slot and self._tags:
            gen, first, count = self._tags.popleft()
            self.ring.write(ready[at : at + slot], gen, first, count)
            self._held_back -= count
            at += slot
        self._ready = ready[at:]

    def _settle(self, now: float) -> None:
        """Read from the ring what the callback consumed since the last time."""
        ring = self.ring
        if ring is None:
            return
        position = ring.read_position
        done = position // ring.slot
        while self._next_slot <= done and self._next_slot < ring.write_slot:
            index = self._next_slot % ring.SLOTS
            gen, first, real = ring.gens[index], ring.firsts[index], ring.real[index]
            played = min(real, ring.played[index] * BLOCK // ring.slot)
            if played > self._counted:
                self._consume(now, gen, first + self._counted, played - self._counted)
                self._counted = played
            if self._next_slot == done:
                return
            self._settled += real
            self._reduce_outstanding(gen, real)
            self._next_slot += 1
            self._counted = 0

    def _reduce_outstanding(self, gen: int, count: int) -> None:
        left = self._outstanding.get(gen, 0) - count
        if left > 0:
            self._outstanding[gen] = left
        else:
            self._outstanding.pop(gen, None)

    def _consume(self, now: float, gen: int, first: int, count: int) -> None:
        if gen > self._started_gen:
            self._started_gen = gen
            self._listener.playback_started(gen)
        self._consumed.append((now + self.latency, gen, first, count))
        if gen not in self._taken and len(self._taken) >= _TAKEN_KEPT:
            del self._taken[min(self._taken)]
        self._taken[gen] = first + count

    def _report(self, now: float) -> None:
        cut = self.buffer.cut_below
        while self._consumed and (self._consumed[0][0] <= now or self._consumed[0][1] < cut):
            self._extend_span(*self._consumed.popleft()[1:])
        if self._span is not None and (self._span[2] >= HEARD_SPAN_SAMPLES or self._span[0] < cut):
            self._flush_span()
        for gen in self.buffer.spent():
            if self._outstanding.get(gen, 0) or any(entry[1] == gen for entry in self._consumed):
                return
            self._flush_span()
            self._release(gen)

    def _release(self, gen: int) -> None:
        self._outstanding.pop(gen, None)
        self.buffer.forget(gen)
        self._listener.playback_drained(gen)

    def _drop_held_back(self, gen: int) -> None:
        """Slots of a cut generation leave the ring by the callback; its last ones may still be in the resampler."""
        kept = deque((old, first, 0 if old == gen else count) for old, first, count in self._tags)
        dropped = sum(count for old, _, count in self._tags if old == gen)
        self._tags = kept
        self._held_back -= dropped
        self._settled += dropped
        self._reduce_outstanding(gen, dropped)

    def _extend_span(self, gen: int, first: int, count: int) -> None:
        span = self._span
        if span is not None and span[0] == gen and span[1] + span[2] == first:
            self._span = (gen, span[1], span[2] + count)
            return
        self._flush_span()
        self._span = (gen, first, count)

    def _flush_span(self) -> None:
        if self._span is not None:
            self._listener.playback_heard(*self._span)
            self._span = None
