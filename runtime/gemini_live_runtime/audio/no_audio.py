"""A session without any sound: nothing is heard, nothing is captured, and turns still end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gemini_live_runtime.audio.interface import AudioListener, AudioOpened
from gemini_live_runtime.samples import MeterSample

if TYPE_CHECKING:
    from gemini_live_runtime.audio.playout import Playout


class NoAudio:
    """An `AudioIO` that drops what is played: a turn has drained as soon as it ends, without a sample being heard."""

    def __init__(self) -> None:
        self._playout: Playout | None = None
        self._scheduled = False

    async def open(self, listener: AudioListener) -> AudioOpened:
        """There is nothing to open and nothing that could fail."""
        # numpy comes with it: imported here, while the session waits for its server.
        from gemini_live_runtime.audio.playout import Playout

        self._playout = Playout(listener, None)
        return AudioOpened(None, None, (), "")

    async def close(self) -> None:
        """Forget what is queued. Idempotent."""
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
        """Report nothing more of generations below `cut_below`."""
        if self._playout is not None:
            self._playout.cut(cut_below)
            self._soon()

    def played_samples(self, gen: int) -> int:
        """Nothing is ever heard."""
        return 0

    def set_microphone(self, on: bool) -> None:
        """There is no microphone to switch."""

    def set_speaker(self, on: bool) -> None:
        """There is no loudspeaker to switch."""

    def levels(self) -> MeterSample:
        """Nothing to measure."""
        return MeterSample()

    @property
    def finished(self) -> bool:
        """True: no microphone will ever deliver."""
        return True

    @property
    def playing(self) -> bool:
        """True until what was given to `play` has been dropped, one turn of the loop later."""
        return self._playout is not None and self._playout.playing

    def _soon(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            asyncio.get_running_loop().call_soon(self._step)

    def _step(self) -> None:
        self._scheduled = False
        if self._playout is not None:
            self._playout.step(asyncio.get_running_loop().time())
