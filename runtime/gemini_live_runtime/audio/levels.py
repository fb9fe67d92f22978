"""Measure levels in dBFS on the audio worker, 10 ms at a time.

RMS is integrated over 300 ms (the VU time constant); the peak holds 1.5 s, then falls 20 dB a second; the clip
indicator is lit for 2 s by a sample at or above -0.1 dBFS. The floor is -60 dBFS.
"""

from __future__ import annotations

import math

import numpy as np

from gemini_live_runtime.audio.samples import FRAME_MS, FULL_SCALE, Int16

FLOOR_DB = -60.0
RMS_MS = 300
PEAK_HOLD_MS = 1500
PEAK_FALL_DB_PER_S = 20.0
CLIP_DBFS = -0.1
CLIP_HOLD_MS = 2000

_SMOOTHING = 1 - math.exp(-FRAME_MS / RMS_MS)
_CLIP_SAMPLE = 10 ** (CLIP_DBFS / 20)


def power_db(power: float) -> float:
    """Return the dBFS of a mean square (full scale 1), at least the floor."""
    return FLOOR_DB if power <= 1e-6 else max(FLOOR_DB, min(0.0, 10 * math.log10(power)))


def mean_square(frame: Int16) -> float:
    """Return the mean square of a frame, full scale 1."""
    floats = frame.astype(np.float32)
    return float(floats.dot(floats)) / (len(frame) * FULL_SCALE**2)


class PowerMeter:
    """Meter of the RMS of one signal."""

    __slots__ = ("_power",)

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Return to the floor."""
        self._power = 0.0

    @property
    def rms(self) -> float:
        """RMS over 300 ms, dBFS."""
        return power_db(self._power)

    def add(self, power: float) -> None:
        """Add the mean square of the next 10 ms."""
        self._power += _SMOOTHING * (power - self._power)


class LevelMeter(PowerMeter):
    """Meter of one signal: RMS, held peak and clip indicator."""

    __slots__ = ("_clip_left", "_peak_age", "peak")

    def reset(self) -> None:
        """Return to the floor."""
        super().reset()
        self._peak_age = 0
        self._clip_left = 0
        self.peak = FLOOR_DB
        """Held peak, dBFS."""

    @property
    def clipped(self) -> bool:
        """True for 2 s after a sample at full scale."""
        return self._clip_left > 0

    def add_frame(self, frame: Int16, power: float) -> None:
        """Add the next 10 ms and its mean square."""
        self.add(power)
        # By their places: three times as fast as `max` and `min`.
        highest = max(frame.item(frame.argmax()), -frame.item(frame.argmin())) / FULL_SCALE if power > 0 else 0.0
        peak = max(FLOOR_DB, min(0.0, 20 * math.log10(highest))) if highest > 0 else FLOOR_DB
        self._peak_age += FRAME_MS
        if self._peak_age > PEAK_HOLD_MS:
            self.peak = max(FLOOR_DB, self.peak - PEAK_FALL_DB_PER_S * FRAME_MS / 1000)
        if peak >= self.peak:
            self.peak = peak
            self._peak_age = 0
        self._clip_left = CLIP_HOLD_MS if highest >= _CLIP_SAMPLE else max(0, self._clip_left - FRAME_MS)
