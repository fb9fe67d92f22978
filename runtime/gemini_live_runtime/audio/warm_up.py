"""The first moments of the first sound: a canceller that has heard nothing yet cannot cancel.

What leaks before it has learned the room is short, but loud enough to make a model interrupt its own greeting. So at
first the microphone is turned down while, and shortly after, something is played: half-duplex until the echo is seen
to be gone, and for no longer than `PATIENCE_FRAMES` of audible far end. Lost samples move the echo: then the same
again, for a shorter time.
"""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.echo import EchoCanceller, LinearThenAec3
from gemini_live_runtime.audio.levels import mean_square
from gemini_live_runtime.audio.samples import FRAME, Float32, Int16

LEARNING_FRAMES = 60
"""Fewest audible frames of 10 ms: the echo of the first comes back up to some 300 ms later."""

CLEAN_FRAMES = 40
"""Frames in a row without echo that show that the canceller has learned; longer than an echo's way."""

PATIENCE_FRAMES = 200
"""Most audible frames: a person who speaks into the very first answer, or a room too hard, is not kept out longer."""

DISTURBED_FRAMES = 60
"""Most audible frames that it stays down after samples were lost."""

TAIL_FRAMES = 30
"""How long after a sound its echo may still come back (300 ms)."""

GAIN = 0.003
"""-50 dB: below what any voice activity detector takes for speech."""

_AUDIBLE_POWER = 1e-5
"""-50 dBFS."""
_CANCELLED = 10 ** (-28 / 10)
"""Most that a well cancelled echo leaves of the microphone's power: of speech at -20 dBFS, -48 dBFS."""
_SMOOTHING = 0.9
"""About 100 ms: what is left of an echo comes in bursts between syllables."""


class WarmUp:
    """An `EchoCanceller` that keeps another's first leaks to itself."""

    __slots__ = ("_clean", "_clean_power", "_gain", "_heard", "_inner", "_mic_power", "_since_far", "learned")

    def __init__(self, inner: EchoCanceller) -> None:
        self._inner = inner
        self._heard = 0
        self._clean = 0
        self._mic_power = self._clean_power = 0.0
        self._since_far = TAIL_FRAMES
        self._gain = 1.0
        self.learned = False
        """Whether the canceller has shown that it cancels, or has been given the time to."""

    @property
    def name(self) -> str:
        """The name of the canceller inside."""
        return str(getattr(self._inner, "name", ""))

    def render(self, frame: Int16) -> None:
        """What the loudspeaker plays now."""
        self._inner.render(frame)
        if not self.learned:
            audible = mean_square(frame) > _AUDIBLE_POWER
            self._since_far = 0 if audible else self._since_far + 1
            self._heard += audible

    def capture(self, frame: Int16) -> Int16:
        """The cleaned frame, turned down while the canceller learns; changes of gain are ramped."""
        clean = self._inner.capture(frame)
        if not self.learned:
            self._judge(frame, clean)
        target = GAIN if not self.learned and self._since_far < TAIL_FRAMES else 1.0
        if target == self._gain == 1.0:
            return clean
        # Down at once: the leak is loudest where it begins. Up within a frame, so that nothing clicks.
        gains: Float32 | float = GAIN if target == GAIN else self._gain + (1.0 - self._gain) * _UP
        self._gain = target
        out: Int16 = np.rint(clean * gains).astype(np.int16)
        return out

    def on_frames_lost(self) -> None:
        """Samples were lost: what is cancelled now has to be seen again."""
        self._inner.on_frames_lost()
        if self.learned:
            self.learned = False
            self._clean = 0
            self._heard = PATIENCE_FRAMES - DISTURBED_FRAMES
            self._since_far = TAIL_FRAMES

    def _judge(self, mic: Int16, clean: Int16) -> None:
        if self._since_far >= TAIL_FRAMES:
            return
        self._mic_power += (1 - _SMOOTHING) * (mean_square(mic) - self._mic_power)
        self._clean_power += (1 - _SMOOTHING) * (mean_square(clean) - self._clean_power)
        gone = self._clean_power < max(_AUDIBLE_POWER, self._mic_power * _CANCELLED)
        self._clean = self._clean + 1 if gone else 0
        shown = self._heard >= LEARNING_FRAMES and self._clean >= CLEAN_FRAMES
        self.learned = shown or self._heard >= PATIENCE_FRAMES


_UP: Float32 = ((np.arange(FRAME, dtype=np.float32) + 1) / FRAME).astype(np.float32)


def make_canceller() -> WarmUp:
    """The canceller for real devices: the one that measured best in double talk, behind its warm-up."""
    return WarmUp(LinearThenAec3())
