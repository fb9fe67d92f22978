"""Play exactly as the schedule says, and record which samples were played."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter, deque

from tests.simulation.timeline import Timeline

from gemini_live_runtime.audio.interface import AudioListener, AudioOpened, MicChunk, OpenDevice
from gemini_live_runtime.samples import MeterSample

RATE = 24_000


class ScriptedDevice:
    """`AudioIO` with a scripted device.

    Every audio frame of the server consists of one number, which identifies its samples.
    """

    def __init__(self, timeline: Timeline, *, microphone: bool) -> None:
        self._timeline = timeline
        self._has_microphone = microphone
        self._listener: AudioListener | None = None
        self._waiting: deque[list[int]] = deque()
        """[generation, frame, samples left], in the order in which they will be played."""
        self._ended: set[int] = set()
        self._open: list[int] = []
        self._over = -1
        self._started = -1
        self._cut_below = 0
        self._heard: Counter[int] = Counter()
        self._chunks = 0
        self.microphone_on = False
        self.paused = False
        self.closed = False

    async def open(self, listener: AudioListener) -> AudioOpened:
        self._listener = listener
        microphone = OpenDevice("input", "scripted", 16_000, 0.0) if self._has_microphone else None
        problems = () if self._has_microphone else ("There is no microphone",)
        return AudioOpened(microphone, OpenDevice("output", "scripted", RATE, 0.0), problems, "none needed")

    async def close(self) -> None:
        self.closed = True

    # -- what the session does ---------------------------------------------------------------------------------------

    def play(self, gen: int, pcm: bytes) -> None:
        frame, count = int.from_bytes(pcm[:2], "little"), len(pcm) // 2
        taken = gen >= self._cut_below and gen > self._over
        self._timeline.note("queued", gen=gen, frame=frame, count=count, taken=taken)
        if taken:
            self._begin(gen)
            self._waiting.append([gen, frame, count])

    def end_of_turn(self, gen: int) -> None:
        if gen >= self._cut_below and gen > self._over:
            self._begin(gen)
            self._ended.add(gen)
            asyncio.get_running_loop().call_soon(self._drain)

    def _begin(self, gen: int) -> None:
        if gen not in self._open:
            self._ended.update(self._open)
            self._open.append(gen)

    def cut(self, cut_below: int) -> None:
        self._cut_below = max(self._cut_below, cut_below)
        self._waiting = deque(item for item in self._waiting if item[0] >= self._cut_below)
        self._open = [gen for gen in self._open if gen >= self._cut_below]

    def played_samples(self, gen: int) -> int:
        return self._heard[gen]

    def set_microphone(self, on: bool) -> None:
        self.microphone_on = on

    def set_speaker(self, on: bool) -> None:
        """Time passes either way."""

    def set_paused(self, paused: bool) -> None:
        self.paused = paused
        self._timeline.note("paused" if paused else "unpaused")

    def levels(self) -> MeterSample:
        return MeterSample()

    @property
    def finished(self) -> bool:
        return True

    @property
    def playing(self) -> bool:
        return bool(self._waiting)

    @property
    def waiting_s(self) -> float:
        """Seconds of sound that wait."""
        return sum(item[2] for item in self._waiting) / RATE

    # -- what the schedule does ------------------------------------------------------------------------------------

    def consume(self, seconds: float) -> None:
        """Play so much of what waits."""
        left = 0 if self.paused else round(seconds * RATE)
        while left > 0 and self._waiting and self._listener is not None and not self.closed:
            gen, frame, there = self._waiting[0]
            count = min(left, there)
            left -= count
            if count == there:
                self._waiting.popleft()
            else:
                self._waiting[0][2] -= count
            first = self._heard[gen]
            self._heard[gen] += count
            self._timeline.note("played", gen=gen, frame=frame, count=count)
            if gen > self._started:
                self._started = gen
                self._listener.on_playback_started(gen)
            self._listener.on_playback_heard(gen, first, count)
        self._drain()

    def _drain(self) -> None:
        while self._open and not self.closed:
            gen = self._open[0]
            if gen not in self._ended or any(item[0] == gen for item in self._waiting):
                return
            self._open.pop(0)
            self._over = max(self._over, gen)
            if self._listener is not None:
                self._listener.on_playback_drained(gen)

    def voice(self, speaking: bool) -> None:
        """Report a local voice."""
        if self._listener is not None and not self.closed:
            self._listener.on_voice(speaking)

    def say(self, pcm: bytes) -> None:
        """Pass on a voice at the microphone (s16le mono at 16 kHz), as far as that is on."""
        now = asyncio.get_running_loop().time()
        for at in range(0, len(pcm), 640):
            if self._listener is not None and self.microphone_on and not self.closed:
                self._listener.on_mic_chunk(MicChunk(pcm[at : at + 640], now))

    def hear(self, chunks: int) -> None:
        """Microphone chunks, as far as the microphone is on.

        All samples of a chunk are its number.
        """
        now = asyncio.get_running_loop().time()
        for _ in range(chunks):
            if self._listener is not None and self.microphone_on and not self.closed:
                self._chunks += 1
                self._timeline.note("captured", chunk=self._chunks)
                self._listener.on_mic_chunk(MicChunk(self._chunks.to_bytes(2, sys.byteorder) * 320, now))
