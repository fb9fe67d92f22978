"""The first moments of the first sound: a canceller that has heard nothing yet cannot cancel.

What leaks before it has learned the room is short, but loud enough to make a model interrupt its own greeting. So for
the first `LEARNING_FRAMES` of audible far end in a canceller's life the microphone is turned down while, and shortly
after, something is played: half-duplex for half a second, once.
"""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.echo import EchoCanceller, LinearThenAec3
from gemini_live_runtime.audio.levels import mean_square
from gemini_live_runtime.audio.samples import FRAME, Float32, Int16

LEARNING_FRAMES = 60
"""Audible frames of 10 ms; in the loop of `tests/audio` the leak is over after 20 to 30."""

TAIL_FRAMES = 30
"""How long after a sound its echo may still come back (300 ms)."""

GAIN = 0.003
"""-50 dB: below what any voice activity detector takes for speech."""

_AUDIBLE_POWER = 1e-5
"""-50 dBFS."""


class WarmUp:
    """An `EchoCanceller` that keeps another's first leaks to itself."""

    __slots__ = ("_gain", "_inner", "_learned", "_since_far")

    def __init__(self, inner: EchoCanceller) -> None:
        self._inner = inner
        self._learned = 0
        self._since_far = TAIL_FRAMES
        self._gain = 1.0

    @property
    def name(self) -> str:
        """The name of the canceller inside."""
        return str(getattr(self._inner, "name", ""))

    @property
    def learned(self) -> bool:
        """Whether the canceller has heard enough to be trusted."""
        return self._learned >= LEARNING_FRAMES

    def render(self, frame: Int16) -> None:
        """What the loudspeaker plays now."""
        self._inner.render(frame)
        if not self.learned:
            audible = mean_square(frame) > _AUDIBLE_POWER
            self._since_far = 0 if audible else self._since_far + 1
            self._learned += audible

    def capture(self, frame: Int16) -> Int16:
        """The cleaned frame, turned down while the canceller learns; changes of gain are ramped."""
        clean = self._inner.capture(frame)
        target = GAIN if not self.learned and self._since_far < TAIL_FRAMES else 1.0
        if target == self._gain == 1.0:
            return clean
        # Down at once: the leak is loudest where it begins. Up within a frame, so that nothing clicks.
        gains: Float32 | float = GAIN if target == GAIN else self._gain + (1.0 - self._gain) * _UP
        self._gain = target
        out: Int16 = np.rint(clean * gains).astype(np.int16)
        return out


_UP: Float32 = ((np.arange(FRAME, dtype=np.float32) + 1) / FRAME).astype(np.float32)


def make_canceller() -> WarmUp:
    """The canceller for real devices: the one that measured best in double talk, behind its warm-up."""
    return WarmUp(LinearThenAec3())
