"""Play generations through the device's ring and account for the samples consumed.

Three threads take part. `play`, `end_of_turn` and `cut` are called on the event loop and only append to an inbox, since
`deque.append` and `popleft` are atomic. `step` runs on the worker, which owns everything else. A cut also stores its
number in the ring, so that the device callback stops within a block instead of after the worker's next step.
"""

from __future__ import annotations

from collections import deque
from typing import Literal

import numpy as np

from gemini_live_runtime.audio.interface import MODEL_RATE, AudioListener
from gemini_live_runtime.audio.playback.jitter import JitterEstimator
from gemini_live_runtime.audio.playback.playback_buffer import Block, PlaybackBuffer
from gemini_live_runtime.audio.resample import BlockResampler
from gemini_live_runtime.audio.ring import PlayoutRing
from gemini_live_runtime.audio.samples import BLOCK, Int16, to_float

HEARD_SPAN_SAMPLES = MODEL_RATE // 2
"""Length from which a span is reported to `on_playback_heard`; each end reports too."""

_MAX_TAKEN = 16
"""Generations whose number of consumed samples is kept."""

_Request = tuple[Literal["play"], int, Int16] | tuple[Literal["end", "cut"], int, None]


class Playout:
    """Player of generations through `ring` that reports the samples heard.

    Without a ring audio is dropped, and a turn has drained as soon as it ends. Consumed samples are reported when the
    device makes them heard, or at once when their generation is cut, because the device cannot return them.
    """

    def __init__(self, listener: AudioListener, ring: PlayoutRing | None, *, lead: int = 1) -> None:
        self._listener = listener
        self.ring = ring
        self.lead = lead
        """Slots kept ready for the callback."""
        self.buffer = PlaybackBuffer()
        self.jitter = JitterEstimator()
        """Estimator of the buffer's prebuffer, over all turns and devices."""
        self._is_paused = False
        self.odd_bytes = 0
        """Messages of odd length, whose last byte was dropped."""
        self._resampler = BlockResampler(MODEL_RATE, MODEL_RATE)
        self._resampled_gen = -1
        self._inbox: deque[_Request] = deque()
        self._cut_below = 0
        self._accepted = 0
        self._accounted = 0
        self._next_slot = 0
        self._counted = 0
        self._outstanding: dict[int, int] = {}
        self._started_gen = -1
        self._consumed: deque[tuple[float, int, int, int]] = deque()
        """Spans that the device took: clock time (s) of their end in the air, generation, first sample, count."""
        self._taken: dict[int, int] = {}
        self._span: tuple[float, int, int, int] | None = None
        self._stepped = 0.0

    def play(self, gen: int, pcm: bytes) -> None:
        """Queue s16le at 24 kHz of `gen`; drop and count it if `gen` was cut."""
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
        """Mark the audio of `gen` as complete."""
        self._inbox.append(("end", gen, None))

    def cut(self, cut_below: int) -> None:
        """Stop generations below `cut_below`: the callback at once, then the worker."""
        self._cut_below = max(self._cut_below, cut_below)
        self.silence(self._cut_below)
        self._inbox.append(("cut", self._cut_below, None))

    def silence(self, cut_below: int) -> None:
        """Make the callback skip generations below `cut_below`; any thread may call.

        `cut` follows, or was called before.
        """
        ring = self.ring
        if ring is not None:
            # One integer store, read by the callback at its next block: it does not wait for the worker.
            ring.cut_below = max(ring.cut_below, cut_below)

    def set_paused(self, paused: bool) -> None:
        """Consume no more samples, or go on with the next one; any thread may call."""
        self._is_paused = paused
        if self.ring is not None:
            self.ring.paused = paused

    def played_samples(self, gen: int) -> int:
        """Return the samples of `gen` that the device has taken; any thread may call."""
        return self._taken.get(gen, 0)

    @property
    def playing(self) -> bool:
        """True while samples are queued that the device has not consumed."""
        return self._accepted != self._accounted

    @property
    def queued_ms(self) -> float:
        """Milliseconds queued between network and device."""
        return (self._accepted - self._accounted) * 1000 / MODEL_RATE

    def step(self, now: float) -> None:
        """Apply the inbox, account for consumed samples, fill the ring and report.

        Called by the driver; `now` in seconds of its clock.
        """
        self._stepped = now
        self._account()
        while self._inbox:
            self._apply(self._inbox.popleft(), now)
        self._fill()
        self._report(now)

    def finish(self) -> None:
        """Report all consumed samples; called when the driver stops."""
        self._account()
        while self._consumed:
            self._extend_span(*self._consumed.popleft())
        self._flush_span()

    def move(self, ring: PlayoutRing | None) -> None:
        """Continue on another device's ring; the driver must be stopped.

        Samples given to the old device count as heard, a few slots of them perhaps wrongly. Queued samples are played
        by the new device; without one they are lost.
        """
        if ring is None:
            self.lose_output()
            return
        self._account()
        if self.ring is not None:
            self._consume_rest(self.ring)
        self._accounted += sum(self._outstanding.values())
        self._outstanding.clear()
        self._next_slot = self._counted = 0
        self._resampled_gen = -1
        while self._consumed:
            self._extend_span(*self._consumed.popleft())
        ring.cut_below, ring.paused = self._cut_below, self._is_paused
        self.ring = ring

    def _consume_rest(self, ring: PlayoutRing) -> None:
        """Count all samples in `ring` as consumed."""
        for slot in range(self._next_slot, ring.write_slot):
            index = slot % ring.SLOTS
            gen, first, count = ring.gens[index], ring.firsts[index], ring.real[index]
            done, self._counted = self._counted, 0
            if count > done and gen >= self._cut_below:
                self._consume(self._stepped, gen, first + done, count - done)

    def lose_output(self) -> None:
        """Drop queued and future audio; samples that the device took count as heard."""
        self.finish()
        self.ring = None
        # Without a ring the remaining orders only count samples; the loop may append more meanwhile.
        while self._inbox:
            self._apply(self._inbox.popleft(), 0.0)
        lost = sum(self._outstanding.values()) + self.buffer.cut(self._cut_below) + self.buffer.queued
        self._outstanding.clear()
        for gen in self.buffer.drop_all():
            self._release(gen)
        self._accounted += lost

    def _apply(self, order: _Request, now: float) -> None:
        kind, gen, samples = order
        if kind == "play":
            assert samples is not None
            if self.ring is None:
                self.buffer.skip(gen, len(samples))
                self._accounted += len(samples)
            else:
                self.jitter.add(gen, len(samples) * 1000 / MODEL_RATE, now)
                self.buffer.prebuffer_ms = self.jitter.target_ms
                self._accounted += self.buffer.push(gen, samples)
        elif kind == "end":
            self.buffer.end_of_turn(gen)
        else:
            self._accounted += self.buffer.cut(gen)

    def _fill(self) -> None:
        ring = self.ring
        if ring is None:
            return
        while ring.lead < self.lead:
            block = self.buffer.pull()
            if block is not None:
                self._outstanding[block.gen] = self._outstanding.get(block.gen, 0) + block.count
            elif ring.lead < max(1, self.lead // 2):  # Half of them last until the next step.
                block = self.buffer.conceal()
            if block is None:
                return
            self._write(ring, block)

    def _write(self, ring: PlayoutRing, block: Block) -> None:
        """Resample a block to a slot with its numbers, though up to 2 ms late."""
        if block.gen != self._resampled_gen:
            # The end of a cut generation would click before the next one.
            self._resampled_gen = block.gen
            self._resampler = BlockResampler(MODEL_RATE, ring.slot * 100)
        ring.write(self._resampler.process(to_float(block.samples)), block.gen, block.first, block.count)

    def _account(self) -> None:
        """Account for the slots that the callback consumed since the last call."""
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
                end = self._next_slot * ring.slot + played * ring.slot // BLOCK
                marked, heard_at = ring.mark
                if end > marked:
                    return  # The callback is reading now, and has not said yet when that is heard.
                heard_at -= (marked - end) / (ring.slot * 100)
                self._consume(heard_at, gen, first + self._counted, played - self._counted)
                self._counted = played
            if self._next_slot == done:
                return
            self._accounted += real
            self._reduce_outstanding(gen, real)
            self._next_slot += 1
            self._counted = 0

    def _reduce_outstanding(self, gen: int, count: int) -> None:
        left = self._outstanding.get(gen, 0) - count
        if left > 0:
            self._outstanding[gen] = left
        else:
            self._outstanding.pop(gen, None)

    def _consume(self, heard_at: float, gen: int, first: int, count: int) -> None:
        if gen > self._started_gen:
            self._started_gen = gen
            self._listener.on_playback_started(gen)
        self._consumed.append((heard_at, gen, first, count))
        if gen not in self._taken and len(self._taken) >= _MAX_TAKEN:
            del self._taken[min(self._taken)]
        self._taken[gen] = first + count

    def _report(self, now: float) -> None:
        cut = self.buffer.cut_below
        while self._consumed and (self._consumed[0][0] <= now or self._consumed[0][1] < cut):
            self._extend_span(*self._consumed.popleft())
        if self._span is not None and (self._span[3] >= HEARD_SPAN_SAMPLES or self._span[1] < cut):
            self._flush_span()
        for gen in self.buffer.drained_generations():
            if self._outstanding.get(gen, 0) or any(entry[1] == gen for entry in self._consumed):
                return
            self._flush_span()
            self._release(gen)

    def _release(self, gen: int) -> None:
        self._outstanding.pop(gen, None)
        self.buffer.forget(gen)
        self._listener.on_playback_drained(gen)

    def _extend_span(self, heard_at: float, gen: int, first: int, count: int) -> None:
        span = self._span
        if span is not None and span[1] == gen and span[2] + span[3] == first:
            self._span = (heard_at, gen, span[2], span[3] + count)
            return
        self._flush_span()
        self._span = (heard_at, gen, first, count)

    def _flush_span(self) -> None:
        if self._span is not None:
            heard_at, gen, first, count = self._span
            self._listener.on_playback_heard(gen, first, count, heard_at)
            self._span = None
