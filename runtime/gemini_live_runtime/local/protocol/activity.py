"""Find the starts and ends of speech in a stream of 16 kHz audio.

Pure: time is counted in samples. A 20 ms frame is voiced when WebRTC's detector says so and its level exceeds the noise
floor. The protocol defines `prefixPaddingMs` in two ways, and both hold here: that much voice is needed before a start
is committed, and at least that much audio before it belongs to the utterance.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import field
from typing import Any, TypeAlias

from gemini_live_runtime.records import record
from gemini_live_runtime.wire.messages import EndSensitivity, StartSensitivity

RATE = 16_000
FRAME_MS = 20
FRAME_BYTES = RATE * FRAME_MS // 1000 * 2

MAX_UTTERANCE_S = 60.0
"""Longest utterance in seconds; at this length it ends as if by a pause."""

MIN_VOICED_MS = 160
"""Least voice (ms) of an utterance; less is noise and gets no answer."""

SHORT_VOICE_MS = 720
"""Length of voice (ms) below which a sound without words counts as a cough.

Coughs, hums and a cleared throat, as drawn for this, have 340 to 700 ms of voice."""

MAX_PADDING_MS = 10_000
"""Largest `prefixPaddingMs` and `silenceDurationMs`."""

PREFIX_MS = {StartSensitivity.HIGH: 120, StartSensitivity.LOW: 240}
"""Default voice (ms) needed for a start; Google's numbers are not published.

Each ms less lets the model fall silent as much sooner. Below 120 the little that comes through an echo canceller when
an answer begins is taken for a person more often (`python -m tests.bench echo`)."""

SILENCE_MS = {EndSensitivity.HIGH: 500, EndSensitivity.LOW: 900}
"""Default silence (ms) that ends an utterance. Google's numbers are not published."""

_DETECTOR_MODE = 3
"""Strictest mode; milder ones take steady hiss for speech."""
_ABOVE_FLOOR_DB = {StartSensitivity.HIGH: 6.0, StartSensitivity.LOW: 12.0}
_LEAST_DBFS = {StartSensitivity.HIGH: -48.0, StartSensitivity.LOW: -40.0}
"""Absolute level needed for voice.

Some sources are digitally silent between words, so that a residual echo would exceed their noise floor."""
_FIRST_FLOOR_DBFS = -50.0
_FLOOR_RISE_DB_S = {False: 15.0, True: 1.0}
"""Rise of the noise floor, by the detector's verdict: fast for noise, slow during speech."""
_LEAD_IN_MS = 300
_LEAD_OUT_MS = 300


@record
class ActivitySettings:
    """Client's settings. Times in ms up to `MAX_PADDING_MS`; None: by sensitivity."""

    start: StartSensitivity = StartSensitivity.HIGH
    end: EndSensitivity = EndSensitivity.HIGH
    prefix_ms: int | None = None
    silence_ms: int | None = None


@record
class Started:
    """Start of speech, in seconds from the start of the stream."""

    offset_s: float


@record
class Ended:
    """End of speech, with the whole utterance (s16le mono 16 kHz) and its voiced time."""

    offset_s: float
    pcm: bytes = field(repr=False)
    voiced_ms: int


Edge: TypeAlias = Started | Ended


class ActivityDetector:
    """Detector of utterances in audio that arrives in pieces of any length."""

    def __init__(self, settings: ActivitySettings | None = None) -> None:
        import webrtcvad

        settings = settings or ActivitySettings()
        prefix_ms = PREFIX_MS[settings.start] if settings.prefix_ms is None else settings.prefix_ms
        silence_ms = SILENCE_MS[settings.end] if settings.silence_ms is None else settings.silence_ms
        self._needed = self._least = max(1, math.ceil(prefix_ms / FRAME_MS))
        self._patience = max(1, math.ceil(silence_ms / FRAME_MS))
        self._gate_db = _ABOVE_FLOOR_DB[settings.start]
        self._least_dbfs = _LEAST_DBFS[settings.start]
        # A low sensitivity for the end also lets level alone keep an utterance going.
        self._level_holds = settings.end is EndSensitivity.LOW
        self._detector: Any = webrtcvad.Vad(_DETECTOR_MODE)
        self._rest = bytearray()
        self._frames = 0
        self._floor = _FIRST_FLOOR_DBFS
        self._lead_in = (_LEAD_IN_MS + prefix_ms) // FRAME_MS
        self._hits: deque[bool] = deque(maxlen=self._window)
        self._before: deque[bytes] = deque(maxlen=self._window + self._lead_in)
        self._utterance = bytearray()
        self._voiced = 0
        self._silent = 0
        self.speaking = False

    @property
    def _window(self) -> int:
        # A quarter of the frames may miss without starting the count anew.
        return self._needed + max(1, self._needed // 4)

    def require(self, voice_ms: int) -> None:
        """Ask for at least `voice_ms` of voice for the next start.

        The settings may ask for more.
        """
        needed = max(self._least, math.ceil(voice_ms / FRAME_MS))
        if needed != self._needed:
            self._needed = needed
            self._hits = deque(self._hits, self._window)
            self._before = deque(self._before, self._window + self._lead_in)

    @property
    def offset_s(self) -> float:
        """Seconds of audio processed so far."""
        return self._frames * FRAME_MS / 1000

    def add(self, pcm: bytes) -> list[Edge]:
        """Process more audio (s16le mono 16 kHz); return the starts and ends in it."""
        self._rest += pcm
        edges: list[Edge] = []
        whole = len(self._rest) - len(self._rest) % FRAME_BYTES
        for start in range(0, whole, FRAME_BYTES):
            edge = self._frame(bytes(self._rest[start : start + FRAME_BYTES]))
            if edge is not None:
                edges.append(edge)
        del self._rest[:whole]
        return edges

    def flush(self) -> list[Edge]:
        """End an open utterance, because the stream pauses."""
        self._rest.clear()
        self._hits.clear()
        edges: list[Edge] = [self._end()] if self.speaking else []
        self._before.clear()
        return edges

    def _frame(self, frame: bytes) -> Edge | None:
        self._frames += 1
        level = level_dbfs(frame)
        like_speech = bool(self._detector.is_speech(frame, RATE))
        self._floor = min(level, self._floor + _FLOOR_RISE_DB_S[like_speech] * FRAME_MS / 1000)
        loud = level >= max(self._least_dbfs, self._floor + self._gate_db)
        voice = loud and like_speech
        return self._in_speech(frame, loud, voice) if self.speaking else self._outside_speech(frame, voice)

    def _outside_speech(self, frame: bytes, voice: bool) -> Started | None:
        self._before.append(frame)
        self._hits.append(voice)
        if sum(self._hits) < self._needed:
            return None
        self.speaking = True
        self._voiced = sum(self._hits)
        self._silent = 0
        self._utterance = bytearray(b"".join(self._before))
        offset = self.offset_s - len(self._hits) * FRAME_MS / 1000
        self._hits.clear()
        self._before.clear()
        return Started(max(0.0, offset))

    def _in_speech(self, frame: bytes, loud: bool, voice: bool) -> Ended | None:
        self._utterance += frame
        self._voiced += voice
        self._silent = 0 if voice or (loud and self._level_holds) else self._silent + 1
        if self._silent < self._patience and len(self._utterance) < MAX_UTTERANCE_S * RATE * 2:
            return None
        return self._end()

    def _end(self) -> Ended:
        spare = (self._silent * FRAME_MS - _LEAD_OUT_MS) // FRAME_MS
        pcm = bytes(self._utterance[: -spare * FRAME_BYTES] if spare > 0 else self._utterance)
        self.speaking = False
        self._utterance = bytearray()
        return Ended(self.offset_s - self._silent * FRAME_MS / 1000, pcm, self._voiced * FRAME_MS)


def level_dbfs(pcm: bytes) -> float:
    """Return the RMS level of s16le samples in dBFS; -100 for silence."""
    import numpy as np

    samples = np.frombuffer(pcm, dtype="<i2").astype(np.float32)
    power = float(np.dot(samples, samples)) / (len(samples) * 32768.0**2) if len(samples) else 0.0
    return 10 * math.log10(power) if power > 1e-10 else -100.0
