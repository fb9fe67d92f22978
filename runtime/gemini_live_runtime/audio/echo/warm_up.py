"""Attenuate the microphone until the echo canceller has converged.

A new canceller leaks echo for a moment, loud enough to make a model interrupt its own greeting. So at first the
microphone is attenuated during playback and shortly after it: half-duplex until the echo is seen to be gone, for at
most `PATIENCE_FRAMES` of audible far end. Lost samples shift the echo: then it is attenuated again, for less time.
A person who is louder than the echo to be expected comes through meanwhile.
"""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.echo.cancellers import TAIL_FRAMES, DualCanceller, EchoCanceller, EchoState
from gemini_live_runtime.audio.echo.echo_path import EchoPath
from gemini_live_runtime.audio.levels import mean_square
from gemini_live_runtime.audio.samples import FRAME, Float32, Int16

LEARNING_FRAMES = 60
"""Least audible frames of 10 ms; the first echo returns up to about 300 ms later."""

CLEAN_FRAMES = 40
"""Consecutive frames without echo that show convergence; longer than the echo's delay."""

PATIENCE_FRAMES = 200
"""Audible frames of attenuation for a first echo, and the most of them in a bad room.

Where the echo is louder than a person, both cancellers pass bursts for as long, also after they seem to have converged
(rooms drawn with SER -6 and -10 dB)."""

DISTURBED_FRAMES = 120
"""Most audible frames of attenuation after samples were lost.

After 600 ms both cancellers may still pass an echo whose delay has changed."""

GAIN = 0.003
"""Attenuation by 50 dB, below what a voice detector takes for speech."""

_AUDIBLE_POWER = 1e-5
"""-50 dBFS."""
_CANCELLED = 10 ** (-28 / 10)
"""Most residual power of a well cancelled echo: for speech at -20 dBFS, -48 dBFS."""
_SMOOTHING = 0.9
"""Smoothing over about 100 ms, as residual echo comes in bursts between syllables."""


class WarmUp:
    """`EchoCanceller` that hides another's leaks until that has converged.

    Someone who speaks louder than the echo opens it at once.
    """

    __slots__ = (
        "_clean",
        "_clean_power",
        "_far",
        "_gain",
        "_has_echo",
        "_has_learned",
        "_heard",
        "_inner",
        "_mic_power",
        "_restarts",
        "_since_far",
        "echo_path",
        "learned",
    )

    def __init__(self, inner: EchoCanceller, echo_path: EchoPath | None = None) -> None:
        self._inner = inner
        self.echo_path = echo_path
        """Echo path as measured on these devices, or None."""
        self._heard = 0
        self._clean = 0
        self._mic_power = self._clean_power = self._far = 0.0
        self._since_far = TAIL_FRAMES
        self._gain = 1.0
        self._restarts = 0
        self._has_echo = self._has_learned = False
        self.learned = False
        """True when the canceller has converged or its time is over."""

    @property
    def name(self) -> str:
        """Name of the wrapped canceller."""
        return str(getattr(self._inner, "name", ""))

    @property
    def state(self) -> EchoState:
        """State of the wrapped canceller's linear filter."""
        return self._inner.state

    @property
    def has_near_end(self) -> bool:
        """True when what comes through may be a person."""
        return self._inner.has_near_end and self._gain == 1.0

    def learned_path(self, measured_at: float) -> EchoPath | None:
        """Return the echo path that a canceller which has converged knows, or None.

        `measured_at` is the present in Unix seconds.
        """
        if not self.learned or not isinstance(self._inner, DualCanceller):
            return None
        return self._inner.learned_path(measured_at)

    def render(self, frame: Int16) -> None:
        """Take the frame that the loudspeaker plays."""
        self._inner.render(frame)
        self._far = mean_square(frame)
        if not self.learned:
            audible = self._far > _AUDIBLE_POWER
            self._since_far = 0 if audible else self._since_far + 1
            self._heard += audible

    def capture(self, frame: Int16) -> Int16:
        """Return the clean frame, attenuated while the canceller learns."""
        clean = self._inner.capture(frame)
        restarts = getattr(self._inner, "restarts", 0)
        if restarts != self._restarts:
            self._restarts = restarts
            self._arm()
            if self._far > _AUDIBLE_POWER:
                self._since_far = 0
        if not self.learned:
            self._judge(frame, clean)
        closed = not self.learned and self._since_far < TAIL_FRAMES and not self._hears_person
        target = GAIN if closed else 1.0
        if target == self._gain == 1.0:
            return clean
        # Down at once: the leak is loudest where it begins. Up within a frame, so that nothing clicks.
        gains: Float32 | float = GAIN if target == GAIN else self._gain + (1.0 - self._gain) * _UP
        self._gain = target
        out: Int16 = np.rint(clean * gains).astype(np.int16)
        return out

    @property
    def _hears_person(self) -> bool:
        """True while a person speaks for certain, though the canceller has not converged.

        After lost samples what both cancellers pass is no evidence, only loudness is.
        """
        if getattr(self._inner, "louder_frames", 0) > 0:
            return True
        return not self._has_learned and getattr(self._inner, "is_confirmed", False)

    def on_frames_lost(self, later: int = 0) -> None:
        """Attenuate again until the canceller is seen to cancel the shifted echo."""
        self._inner.on_frames_lost(later)
        self._arm()

    def _arm(self) -> None:
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
        self._has_echo |= self._mic_power > _AUDIBLE_POWER
        shown = self._heard >= LEARNING_FRAMES and self._clean >= CLEAN_FRAMES
        may_be_early = self._has_echo and not self._has_learned
        self.learned = (shown and not may_be_early) or self._heard >= PATIENCE_FRAMES
        self._has_learned |= self.learned


_UP: Float32 = ((np.arange(FRAME, dtype=np.float32) + 1) / FRAME).astype(np.float32)


def make_canceller(echo_path: EchoPath | None = None) -> WarmUp:
    """Return the canceller for devices, the one that measured best in double talk.

    `echo_path` is what is known of them.
    """
    return WarmUp(DualCanceller(echo_path), echo_path)
