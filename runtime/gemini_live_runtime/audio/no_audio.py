"""Run a session without sound; turns still end.

Imports none of the sound layer: numpy and soxr take 12 MB and a tenth of a second, and there are no samples to handle.
"""

from __future__ import annotations

import asyncio

from gemini_live_runtime.audio.interface import AudioListener, AudioOpened
from gemini_live_runtime.samples import MeterSample


class NoAudio:
    """`AudioIO` that drops played audio; a turn has drained as soon as it ends."""

    def __init__(self) -> None:
        self._listener: AudioListener | None = None
        self._ended: list[int] = []
        """Generations to report as drained, at the loop's next turn."""
        self._drained = -1
        self._cut_below = 0
        self._playing = False
        self._scheduled = False

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Start; never fails."""
        self._listener = listener
        return AudioOpened(None, None, (), "")

    async def close(self) -> None:
        """Drop queued audio. Idempotent."""
        self._listener = None
        self._playing = False

    def play(self, gen: int, pcm: bytes) -> None:
        """Drop `pcm`."""
        if self._listener is not None and gen >= self._cut_below and len(pcm) > 1:
            self._playing = True
            self._soon()

    def end_of_turn(self, gen: int) -> None:
        """Report `gen` as drained on the loop's next turn."""
        if self._listener is not None:
            self._ended.append(gen)
            self._soon()

    def cut(self, cut_below: int) -> None:
        """Drop generations below `cut_below`."""
        self._cut_below = max(self._cut_below, cut_below)

    def played_samples(self, gen: int) -> int:
        """Return 0: nothing is played."""
        return 0

    def set_microphone(self, on: bool) -> None:
        """Do nothing."""

    def set_speaker(self, on: bool) -> None:
        """Do nothing."""

    def set_paused(self, paused: bool) -> None:
        """Do nothing."""

    def levels(self) -> MeterSample:
        """Return an empty sample."""
        return MeterSample()

    @property
    def finished(self) -> bool:
        """True: there is no microphone."""
        return True

    @property
    def playing(self) -> bool:
        """True until the audio of `play` is dropped, at the loop's next turn."""
        return self._playing

    def _soon(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._step)

    def _step(self) -> None:
        self._scheduled = self._playing = False
        ended, self._ended = dict.fromkeys(self._ended), []
        for gen in [gen for gen in ended if gen >= self._cut_below and gen > self._drained]:
            if self._listener is not None:
                self._drained = max(self._drained, gen)
                self._listener.on_playback_drained(gen)
