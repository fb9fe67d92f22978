"""Detect speech in the microphone, for display; the server decides turns."""

from __future__ import annotations

from collections import deque
from typing import Any

from gemini_live_runtime.audio.interface import CHUNK_MS, MIC_RATE
from gemini_live_runtime.audio.levels import power_db

_MODE = 3
_HISTORY = 12
_NEEDED = 3
_NEEDED_WHILE_PLAYING = 8
"""Voiced chunks needed of the last 12 (240 ms); leaked speech comes in shorter bursts."""
_ABOVE_FLOOR_DB = 6.0
_ABOVE_FLOOR_WHILE_PLAYING_DB = 9.0
_HOLD_MS = 300
_FLOOR_RISE_DB_PER_CHUNK = 0.03
"""1.5 dB a second: the noise floor follows a fan that starts, not a sentence."""


class VoiceDetector:
    """WebRTC's voice detector (mode 3) with a level gate, a majority vote and a hold.

    The detector alone takes steady loud noise for speech; the gate requires a chunk to exceed the noise floor.
    """

    __slots__ = ("_detector", "_floor", "_hits", "_hold", "speaking")

    def __init__(self) -> None:
        import webrtcvad

        self._detector: Any = webrtcvad.Vad(_MODE)
        self.reset()

    def reset(self) -> None:
        """Start over: no speech, unknown noise floor."""
        self._hits: deque[bool] = deque(maxlen=_HISTORY)
        self._hold = 0
        self._floor = 0.0
        self.speaking = False

    def add(self, pcm: bytes, power: float, *, playing: bool, near_end: bool = True) -> bool:
        """Judge the next 20 ms (s16le, mean square `power`); True if `speaking` changed.

        While the model speaks, `near_end` tells whether the canceller takes what came through for a person's.
        """
        level = power_db(power)
        self._floor = min(level, self._floor + _FLOOR_RISE_DB_PER_CHUNK)
        gate = _ABOVE_FLOOR_WHILE_PLAYING_DB if playing else _ABOVE_FLOOR_DB
        possible = near_end or not playing
        self._hits.append(possible and level >= self._floor + gate and self._detector.is_speech(pcm, MIC_RATE))
        before = self.speaking
        if sum(self._hits) >= (_NEEDED_WHILE_PLAYING if playing else _NEEDED):
            self.speaking = True
            self._hold = _HOLD_MS
        elif self.speaking:
            self._hold -= CHUNK_MS
            self.speaking = self._hold > 0
        return self.speaking != before
