"""Attenuate the microphone until the echo canceller has converged.

A new canceller leaks echo for a moment, loud enough to make a model interrupt its own greeting. So at first the
microphone is attenuated during playback and shortly after it: half-duplex until the echo is seen to be gone, for at
most `PATIENCE_FRAMES` of audible far end. Lost samples shift the echo: then it is attenuated again, for less time.
"""

from __future__ import annotations

import numpy as np

from gemini_live_runtime.audio.echo import TAIL_FRAMES, DualCanceller, EchoCanceller, EchoState
from gemini_live_runtime.audio.echo_path import EchoPath
from gemini_live_runtime.audio.levels import mean_square
from gemini_live_runtime.audio.samples import FRAME, FRAME_MS, Float32, Int16

LEARNING_FRAMES = 60
"""Least audible frames of 10 ms; the first echo returns up to about 300 ms later."""

CLEAN_FRAMES = 40
"""Consecutive frames without echo that show convergence; longer than the echo's delay."""

KNOWN_LEARNING_FRAMES, KNOWN_CLEAN_FRAMES = 30, 20
"""The same where the echo path is known, after its delay: a filter that begins with a wrong one leaves echo at once."""

PATIENCE_FRAMES = 200
"""Most audible frames of attenuation, for double talk in the first answer or a bad room."""

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
_LOUDER = 4.0
"""Power ratio (6 dB) over the expected echo from which someone speaks."""
_FAR_DECAY = 0.93
"""Decay per frame of the played power that an echo may still come from."""
_COUPLING_FRAMES = 30
"""Audible frames after which the echo's level is known."""


class _ExpectedEcho:
    """Estimator of the echo's level from what is played.

    A person is heard as more than that.
    """

    __slots__ = ("_coupling", "_far", "_frames", "_microphone")

    def __init__(self, level_db: float | None) -> None:
        """`level_db` is the echo's level relative to what is played, if measured."""
        self._far = self._microphone = 0.0
        self._coupling = 0.0 if level_db is None else 10 ** (level_db / 10)
        self._frames = 0 if level_db is None else _COUPLING_FRAMES

    def is_exceeded(self, far: float, microphone: float) -> bool:
        """Take the powers of a frame; return True when more than the echo is heard."""
        self._far = max(far, self._far * _FAR_DECAY)
        self._microphone += (1 - _SMOOTHING) * (microphone - self._microphone)
        if self._far < _AUDIBLE_POWER:
            return False
        ratio = self._microphone / self._far
        self._frames += 1
        if self._frames <= _COUPLING_FRAMES:
            self._coupling = max(self._coupling, ratio)
            return False
        exceeded = ratio > _LOUDER * self._coupling and self._microphone > _AUDIBLE_POWER
        if not exceeded and ratio > self._coupling:
            self._coupling += 0.05 * (ratio - self._coupling)
        return exceeded


class WarmUp:
    """`EchoCanceller` that hides another's leaks until that has converged.

    Someone who speaks louder than the echo opens it at once.
    """

    __slots__ = (
        "_clean",
        "_clean_power",
        "_expected",
        "_far",
        "_gain",
        "_heard",
        "_inner",
        "_least_clean",
        "_least_heard",
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
        self._expected = _ExpectedEcho(None if echo_path is None else echo_path.level_db)
        self._least_heard, self._least_clean = LEARNING_FRAMES, CLEAN_FRAMES
        if echo_path is not None and echo_path.delay_ms is not None and echo_path.response:
            self._least_heard = KNOWN_LEARNING_FRAMES + round(echo_path.delay_ms / FRAME_MS)
            self._least_clean = KNOWN_CLEAN_FRAMES
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
        exceeded = self._expected.is_exceeded(self._far, mean_square(frame))
        restarts = getattr(self._inner, "restarts", 0)
        if restarts != self._restarts:
            self._restarts = restarts
            self._arm()
            if self._far > _AUDIBLE_POWER:
                self._since_far = 0
        if not self.learned:
            self._judge(frame, clean)
        closed = not self.learned and self._since_far < TAIL_FRAMES and not exceeded
        target = GAIN if closed else 1.0
        if target == self._gain == 1.0:
            return clean
        # Down at once: the leak is loudest where it begins. Up within a frame, so that nothing clicks.
        gains: Float32 | float = GAIN if target == GAIN else self._gain + (1.0 - self._gain) * _UP
        self._gain = target
        out: Int16 = np.rint(clean * gains).astype(np.int16)
        return out

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
        shown = self._heard >= self._least_heard and self._clean >= self._least_clean
        self.learned = shown or self._heard >= PATIENCE_FRAMES


_UP: Float32 = ((np.arange(FRAME, dtype=np.float32) + 1) / FRAME).astype(np.float32)


def make_canceller(echo_path: EchoPath | None = None) -> WarmUp:
    """Return the canceller for devices, the one that measured best in double talk.

    `echo_path` is what is known of them.
    """
    return WarmUp(DualCanceller(echo_path), echo_path)
