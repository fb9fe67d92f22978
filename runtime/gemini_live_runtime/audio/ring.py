"""Preallocated rings between device callbacks and the audio worker.

Each ring has one writing and one reading thread. Positions are growing integers; each is stored by one side only, after
the samples it covers, so neither side takes a lock: a callback that waits for one makes the sound stutter. Samples are
float32 mono of full scale 1, at the device's own rate. Callbacks give the memory of the device: a block that is only
copied takes no numpy, whose first call after a pause takes as long as all the rest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gemini_live_runtime.audio.samples import Float32, Samples

FADE_MS = 3
"""Length of the raised cosine to silence at a cut or a pause."""

DECAY_MS = 5
"""Length of the ramp to silence when the ring runs dry."""


class SampleRing:
    """Ring of samples: a callback writes, the worker reads; drops what does not fit."""

    __slots__ = ("_data", "_memory", "capacity", "dropped", "mark", "read_position", "write_position")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        memory = bytearray(4 * capacity)
        self._data: Float32 = np.frombuffer(memory, np.float32)
        self._memory: Any = memoryview(memory).cast("f")
        self.write_position = 0
        self.read_position = 0
        self.dropped = 0
        self.mark = (0, 0.0)
        """A position, and the clock time (s) of it: both in one value, so that they belong together."""

    @property
    def available(self) -> int:
        """Number of samples that can be read."""
        return self.write_position - self.read_position

    def write(self, samples: Samples, ended: float) -> None:
        """Append `samples`; drop and count the newest if the ring is full.

        `ended` is the clock time (s) of the end of `samples`, at the microphone or the loudspeaker.
        """
        count = len(samples)
        room = self.capacity - (self.write_position - self.read_position)
        if count > room:
            self.dropped += count - room
            count = room
        at = self.write_position % self.capacity
        first = self.capacity - at
        if len(samples) <= min(count, first):
            self._memory[at : at + count] = samples
        else:
            first = min(count, first)
            self._memory[at : at + first] = samples[:first]
            self._memory[: count - first] = samples[first:count]
        # Stored last: the reader must not see positions whose samples are not written yet.
        self.write_position += count
        self.mark = (self.write_position, ended)

    def read(self, limit: int | None = None) -> Float32:
        """Return a copy of up to `limit` samples, oldest first."""
        count = self.available if limit is None else min(limit, self.available)
        at = self.read_position % self.capacity
        first = min(count, self.capacity - at)
        out = np.empty(count, np.float32)
        out[:first] = self._data[at : at + first]
        out[first:] = self._data[: count - first]
        # Stored last: from here on the writer may overwrite these samples.
        self.read_position += count
        return out


class PlayoutRing:
    """Ring of 10 ms slots, each of a generation: the worker fills, the callback plays.

    A cut is one integer store: the next `read` fades the current slot over `FADE_MS` if it is below `cut_below` and
    skips the rest. While `paused` or `held`, also one store, nothing is consumed after the same fade; then playing goes
    on with the next sample, faded in over a slot. An empty ring falls to silence in 5 ms. `played` counts the samples
    copied from each slot, those in the fade of a pause among them, but not those in the fade of a cut.
    """

    SLOTS = 32

    __slots__ = (
        "_data",
        "_decay",
        "_decay_left",
        "_fade",
        "_fade_at",
        "_gain",
        "_is_paused",
        "_last",
        "_mute",
        "_playing_gen",
        "_slots",
        "_unmute",
        "cut_below",
        "firsts",
        "gens",
        "held",
        "mark",
        "muted",
        "paused",
        "played",
        "read_position",
        "real",
        "slot",
        "write_slot",
    )

    def __init__(self, rate: int) -> None:
        self.slot = slot = rate // 100
        self._data: Float32 = np.zeros((self.SLOTS, slot), np.float32)
        self._slots: list[Any] = [memoryview(samples) for samples in self._data]
        self.gens = [0] * self.SLOTS
        self.firsts = [0] * self.SLOTS
        """First sample of each slot, counted at 24 kHz from the start of its generation."""
        self.real = [0] * self.SLOTS
        """Samples (24 kHz) of the generation in each slot; the rest of the slot is silence."""
        self.played = [0] * self.SLOTS
        """Device samples played from each slot."""
        self.write_slot = 0
        self.read_position = 0
        self.mark = (0, 0.0)
        """Position up to which samples were read, and the clock time (s) at which they have been heard."""
        self.cut_below = 0
        self.muted = False
        self.paused = False
        """True while the operator or the session pauses what is played."""
        self.held = False
        """True while it is decided whether a voice is a person's."""
        self._is_paused = False
        # Raised cosine from 1 to 0, and a straight fall for the value that a dry ring stops at.
        self._fade = _falling(rate * FADE_MS // 1000)
        self._mute = _falling(slot)
        self._unmute: Float32 = self._mute[::-1].copy()
        decay = rate * DECAY_MS // 1000
        self._decay: Float32 = (1 - (np.arange(decay, dtype=np.float32) + 1) / decay).astype(np.float32)
        self._decay_left = 0
        self._fade_at = len(self._fade)
        self._last = 0.0
        self._playing_gen = -1
        self._gain = 1

    @property
    def lead(self) -> int:
        """Number of whole slots that the callback has not begun."""
        return self.write_slot - -(-self.read_position // self.slot)

    @property
    def empty(self) -> bool:
        """True when the callback has consumed everything."""
        return self.read_position >= self.write_slot * self.slot

    def write(self, samples: Float32, gen: int, first: int, real: int) -> None:
        """Fill the next slot; the caller keeps `lead` well below `SLOTS`."""
        index = self.write_slot % self.SLOTS
        self._data[index] = samples
        self.gens[index] = gen
        self.firsts[index] = first
        self.real[index] = real
        self.played[index] = 0
        # Stored last: this hands the slot over to the callback.
        self.write_slot += 1

    def read(self, out: Samples, ended: float) -> None:
        """Fill `out` with the next samples. Called on the device's callback thread.

        The last one has been heard at the clock time `ended` (s). Must not block or raise.
        """
        at, end, frames, slot, fade = 0, 0, len(out), self.slot, len(self._fade)
        paused, was_paused = self.paused or self.held, self._is_paused
        if paused:
            if was_paused:
                out[:] = _silence(len(out))
                return
            frames = min(frames, fade)
        while at < frames:
            position = self.read_position
            number = position // slot
            if number >= self.write_slot:
                break
            index, offset = number % self.SLOTS, position % slot
            count = min(slot - offset, frames - at)
            source = self._slots[index]
            gen = self.gens[index]
            if gen >= self.cut_below:
                out[at : at + count] = source[offset : offset + count]
                self.played[index] += count
                self._playing_gen = gen
                self._fade_at = 0
            elif gen == self._playing_gen and self._fade_at < fade:
                # Cut while it plays: an abrupt end would click.
                count = min(count, fade - self._fade_at)
                np.multiply(
                    source[offset : offset + count],
                    self._fade[self._fade_at : self._fade_at + count],
                    out=np.asarray(out[at : at + count]),
                )
                self._fade_at += count
            else:
                # A slot of a cut generation: skip it whole.
                self.read_position = (number + 1) * slot
                continue
            at += count
            self.read_position = end = position + count
            self._last = float(out[at - 1])
            self._decay_left = len(self._decay)
        if at:
            self.mark = (end, ended - (len(out) - at) / (slot * 100))
        if paused != was_paused:
            self._is_paused = paused
            self._fade_over(out[:at], out_of=paused)
        if at < len(out):
            self._fall_silent(out[at:] if at else out)
        self._apply_mute(out)

    def _fade_over(self, samples: Samples, *, out_of: bool) -> None:
        """Fade the last samples before a pause, or the first after it.

        What comes slowly is noticed least.
        """
        out = np.asarray(samples)
        ramp = self._fade if out_of else self._unmute
        count = min(len(out), len(ramp))
        ramp = ramp[-count:] if out_of else ramp[:count]
        np.multiply(out[:count], ramp, out=out[:count])
        if out_of:
            # What is cut in the pause has been silent already.
            self._last, self._fade_at = 0.0, len(self._fade)

    def _fall_silent(self, out: Samples) -> None:
        out[:] = _silence(len(out))
        if self._last == 0.0:
            return
        count = min(self._decay_left, len(out))
        start = len(self._decay) - self._decay_left
        np.multiply(self._decay[start : start + count], self._last, out=np.asarray(out[:count]))
        self._decay_left -= count
        if self._decay_left == 0:
            self._last = 0.0

    def _apply_mute(self, samples: Samples) -> None:
        # `muted` is set by the event loop; the ramp over a block avoids a click.
        wanted = 0 if self.muted else 1
        if wanted == self._gain:
            if wanted == 0:
                samples[:] = _silence(len(samples))
            return
        out = np.asarray(samples)
        count = min(len(out), self.slot)
        ramp = self._unmute if wanted else self._mute
        np.multiply(out[:count], ramp[:count], out=out[:count])
        if not wanted:
            out[count:] = 0.0
        self._gain = wanted


def _silence(count: int) -> Any:
    """Return `count` zeros, which memory of a device takes as an array does."""
    return memoryview(bytes(4 * count)).cast("f")


def _falling(count: int) -> Float32:
    """Return a raised cosine from 1 to 0 of `count` samples."""
    return (0.5 + 0.5 * np.cos(np.pi * (np.arange(count) + 1) / count)).astype(np.float32)
