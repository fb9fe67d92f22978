"""Measure echo return loss enhancement (ERLE) during playback; warn below 10 dB.

ERLE is the microphone's power before cancelling over the power after it. Near-end speech (power that should stay) and
headphones (no echo to reduce) would falsify it. Envelopes tell them apart from echo: an echo's level follows the level
of the far end, speech does not.
"""

from __future__ import annotations

import math

from gemini_live_runtime.audio.echo.envelopes import Envelopes, correlation
from gemini_live_runtime.audio.samples import AnyArray

WARN_BELOW_DB = 10.0
GOOD_ABOVE_DB = 13.0
WARN_AFTER_FRAMES = 150
"""1.5 s of the model's speech; the canceller needs about one second to learn the room."""
GOOD_AFTER_FRAMES = 100
MEMORY_FRAMES = 25
"""Time constant of the two powers, in frames of far-end activity."""

_FAR_ACTIVE_DB = -50.0
_ECHO_TAIL_FRAMES = 20
_WINDOW = 600
_JUDGE_EVERY = 20
_LEAST_FRAMES = 300
_FOLLOWS = 0.55
"""Correlation of envelopes (dB) over up to 6 s from which one is taken to be the echo of the other."""
_FLOOR_POWER = 1e-7
_AUDIBLE_POWER = 1e-6
"""-60 dBFS: a residual echo below this is inaudible to people and models."""
_TALKING_DB = -50.0


class ErleMeter:
    """ERLE meter, fed every 10 ms with the powers of far end, microphone and result.

    Powers are mean squares, full scale 1.
    """

    def __init__(self) -> None:
        self._envelopes = Envelopes(3, _WINDOW)
        self._since_far = _ECHO_TAIL_FRAMES + 1
        self._mic_power = 0.0
        self._clean_power = 0.0
        self._active = 0
        self._echo = False
        self._leak = False
        self._bad_frames = 0
        self._good_frames = 0
        self.leaking = False
        """True when the model may hear itself."""

    @property
    def erle_db(self) -> float | None:
        """Smoothed ERLE in dB; None without playback or without an echo."""
        if self._since_far > _ECHO_TAIL_FRAMES or not self._echo or self._active < MEMORY_FRAMES:
            return None
        return self._ratio()

    def add(self, far: float, mic: float, clean: float) -> bool:
        """Add the next 10 ms; return True when `leaking` changed."""
        self._envelopes.add(far, mic, clean)
        active = self._envelopes.newest[0] > _FAR_ACTIVE_DB
        self._since_far = 0 if active else self._since_far + 1
        if self._since_far > _ECHO_TAIL_FRAMES:
            return False
        if self._envelopes.count % _JUDGE_EVERY == 0:
            self._judge()
        if not self._person_talks():
            share = 1 / min(self._active + 1, MEMORY_FRAMES)
            self._mic_power += share * (mic - self._mic_power)
            self._clean_power += share * (clean - self._clean_power)
            self._active += 1
        return self._update_warning()

    def _ratio(self) -> float:
        return 10 * math.log10(max(self._mic_power, _FLOOR_POWER) / max(self._clean_power, _FLOOR_POWER))

    def _person_talks(self) -> bool:
        """Return True when the residual is loud and does not follow the far end."""
        return not self._leak and self._envelopes.newest[2] > _TALKING_DB

    def _judge(self) -> None:
        if self._envelopes.count < _LEAST_FRAMES:
            return
        far, mic, clean = self._envelopes.last(min(self._envelopes.count, _WINDOW))
        self._echo = _follows(mic, far)
        self._leak = _follows(clean, far)

    def _update_warning(self) -> bool:
        if self._active < MEMORY_FRAMES or not self._echo:
            self._bad_frames = 0
            if self.leaking and not self._echo:
                return self._count_good()
            return False
        ratio = self._ratio()
        if not self.leaking and ratio < WARN_BELOW_DB and self._leak and self._clean_power > _AUDIBLE_POWER:
            self._bad_frames += 1
            if self._bad_frames >= WARN_AFTER_FRAMES:
                self._bad_frames = self._good_frames = 0
                self.leaking = True
                return True
            return False
        self._bad_frames = max(0, self._bad_frames - 1)
        if self.leaking and (ratio > GOOD_ABOVE_DB or self._clean_power <= _AUDIBLE_POWER):
            return self._count_good()
        return False

    def _count_good(self) -> bool:
        self._good_frames += 1
        if self._good_frames < GOOD_AFTER_FRAMES:
            return False
        self._good_frames = self._bad_frames = 0
        self.leaking = False
        return True


def _follows(signal: AnyArray, far: AnyArray) -> bool:
    """Return True when the level of `signal` follows `far` within 450 ms."""
    if float(signal.std()) < 1.0 or float(far.std()) < 1.0:
        return False
    return correlation(signal, far) > _FOLLOWS
