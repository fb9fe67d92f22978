"""Run a session without sound; turns still end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gemini_live_runtime.audio.interface import AudioListener, AudioOpened
from gemini_live_runtime.samples import MeterSample

if TYPE_CHECKING:
    from gemini_live_runtime.audio.playout import Playout


class NoAudio:
    """`AudioIO` that drops played audio; a turn has drained as soon as it ends."""

    def __init__(self) -> None:
        self._playout: Playout | None = None
        self._scheduled = False

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Start; never fails."""
        # Imports numpy: done here, while the session waits for its server.
        from gemini_live_runtime.audio.playout import Playout

        self._playout = Playout(listener, None)
        return AudioOpened(None, None, (), "")

    async def close(self) -> None:
        """Drop queued audio. Idempotent."""
        self._playout = None

    def play(self, gen: int, pcm: bytes) -> None:
        """Drop `pcm`."""
        if self._playout is not None:
            self._playout.play(gen, pcm)
            self._soon()

    def end_of_turn(self, gen: int) -> None:
        """Report `gen` as drained on the loop's next turn."""
        if self._playout is not None:
            self._playout.end_of_turn(gen)
            self._soon()

    def cut(self, cut_below: int) -> None:
        """Drop generations below `cut_below`."""
        if self._playout is not None:
            self._playout.cut(cut_below)
            self._soon()

    def played_samples(self, gen: int) -> int:
        """Return 0: nothing is played."""
        return 0

    def set_microphone(self, on: bool) -> None:
        """Do nothing."""

    def set_speaker(self, on: bool) -> None:
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
        return self._playout is not None and self._playout.playing

    def _soon(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._step)

    def _step(self) -> None:
        self._scheduled = False
        if self._playout is not None:
            self._playout.step(asyncio.get_running_loop().time())
