"""Judge the microphone test and the echo test from samples and levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from typing import Literal

import numpy as np

from gemini_live_runtime.audio.interface import MODEL_RATE
from gemini_live_runtime.audio.levels import FLOOR_DB, mean_square, power_db
from gemini_live_runtime.audio.samples import FULL_SCALE, Int16
from gemini_live_runtime.records import mutable_record, record
from gemini_live_runtime.samples import MeterSample

MICROPHONE_S = 5.0
"""Length of the microphone test in seconds."""
ROOM_S = 1.0
"""Seconds of room noise measured before the echo test plays."""
SOUND_S = 6.0
"""Seconds that the echo test plays; the canceller needs about three to learn a room."""
TAIL_S = 0.5

SILENT_DB = -59.0
"""Level (dBFS) up to which only zeros arrive."""
VOICE_DB = 10.0
"""Least difference (dB) between voice and room."""
QUIET_VOICE_DB = -42.0
NOISY_ROOM_DB = 18.0
"""Difference (dB) between voice and room below which recognition suffers."""
CLIPPED_PEAK_DB = -0.1

RETURN_DB = 6.0
"""Least rise (dB) of the microphone's level during playback that counts as an echo."""
GOOD_ERLE_DB = 18.0
FAIR_ERLE_DB = 10.0
INAUDIBLE_DB = -58.0
"""Level (dBFS) below which a residual echo is inaudible to people and models."""

Mark = Literal["good", "fair", "poor"]


@record
class Verdict:
    """Result of a test: a mark, a sentence, and a remedy ("" for none)."""

    mark: Mark
    text: str
    remedy: str = ""


def judge_voice(voice_db: float, room_db: float) -> Verdict:
    """Judge the level of a voice, and that of its room, in dBFS."""
    above = voice_db - room_db
    if voice_db < QUIET_VOICE_DB:
        return Verdict("fair", "Your voice is very quiet.", "Turn the microphone's level up, or come closer")
    if above < NOISY_ROOM_DB:
        return Verdict(
            "fair",
            f"The room is loud: your voice is only {above:.0f} dB above it.",
            "Come closer to the microphone, or use a headset",
        )
    return Verdict("good", f"Your voice is clear, {above:.0f} dB above the room.")


@mutable_record
class MicrophoneCheck:
    """Microphone test: collects 20 ms chunks (s16le) and the voice detector's results."""

    levels: list[float] = field(default_factory=list)
    """dBFS of each chunk."""
    peak_db: float = FLOOR_DB
    voiced: int = 0
    """Number of chunks with speech."""

    def add(self, pcm: bytes, *, speaking: bool) -> None:
        """Add the next chunk."""
        samples = np.frombuffer(pcm, np.int16)
        self.levels.append(power_db(mean_square(samples)))
        highest = max(int(samples.max()), -int(samples.min())) / FULL_SCALE
        if highest > 0:
            self.peak_db = max(self.peak_db, min(0.0, 20 * math.log10(highest)))
        self.voiced += speaking

    @property
    def floor_db(self) -> float:
        """Level of the room: the 10th percentile of the chunks' levels, dBFS."""
        return _share(self.levels, 0.1)

    @property
    def voice_db(self) -> float:
        """Level of the voice: the 90th percentile of the chunks' levels, dBFS."""
        return _share(self.levels, 0.9)

    def verdict(self) -> Verdict:
        """Judge the microphone."""
        above = self.voice_db - self.floor_db
        if not self.levels:
            return Verdict("poor", "The microphone delivered nothing at all.", "Choose another one, or check its cable")
        if self.peak_db <= SILENT_DB:
            return Verdict(
                "poor",
                "The microphone is open but delivers only silence.",
                "Check for a mute switch, and for the system's permission to use it",
            )
        if self.peak_db >= CLIPPED_PEAK_DB:
            return Verdict("fair", "The microphone is too loud: it clips.", "Turn its level down, or move away from it")
        if not self.voiced and above < VOICE_DB:
            return Verdict("poor", "No voice was heard, only the room.", "Say a sentence while it listens")
        return judge_voice(self.voice_db, self.floor_db)


@mutable_record
class EchoCheck:
    """Echo test: collects meter samples of the room, then of the played sound."""

    room: list[float] = field(default_factory=list)
    """Microphone levels before the sound, dBFS."""
    played: list[float] = field(default_factory=list)
    returned: list[float] = field(default_factory=list)
    left: list[float] = field(default_factory=list)
    """Microphone levels after cancelling, during playback, dBFS."""
    reductions: list[float] = field(default_factory=list)
    """Echo return loss enhancement (dB), where measured."""

    def add(self, levels: MeterSample, *, playing: bool) -> None:
        """Add the current meter sample."""
        if levels.mic_db is None:
            return
        if not playing:
            self.room.append(levels.mic_db)
            return
        self.returned.append(levels.mic_db)
        if levels.out_db is not None:
            self.played.append(levels.out_db)
        if levels.clean_db is not None:
            self.left.append(levels.clean_db)
        if levels.erle_db is not None:
            self.reductions.append(levels.erle_db)

    @property
    def comes_back(self) -> bool:
        """True when the microphone picks up the played sound."""
        room = _share(self.room, 0.5) if self.room else FLOOR_DB
        return bool(self.returned) and _share(self.returned, 0.8) >= room + RETURN_DB

    @property
    def return_db(self) -> float | None:
        """Level of the echo relative to the played sound, in dB; None without an echo."""
        if not self.comes_back or not self.played:
            return None
        return _share(self.returned, 0.8) - _share(self.played, 0.8)

    @property
    def reduction_db(self) -> float | None:
        """ERLE (dB) in the last third of the sound; None without an echo."""
        if not self.comes_back:
            return None
        settled = self.reductions[-max(1, len(self.reductions) // 3) :]
        return _share(settled, 0.5) if settled else None

    @property
    def left_db(self) -> float | None:
        """Level after cancelling in the last third of the sound, dBFS."""
        settled = self.left[-max(1, len(self.left) // 3) :]
        return _share(settled, 0.8) if settled else None

    def verdict(self) -> Verdict:
        """Judge whether the model will hear itself."""
        if not self.returned or not self.played or max(self.played) <= SILENT_DB:
            return Verdict("poor", "The sound was not played.", "Choose another speaker")
        if not self.comes_back:
            return Verdict(
                "good",
                "Nothing came back: the model cannot hear itself.",
                "If you heard no sound, turn the speaker up; with headphones all is well",
            )
        reduction, left = self.reduction_db, self.left_db
        if left is not None and left <= INAUDIBLE_DB:
            return Verdict("good", "The echo is gone entirely: you can speak while the model speaks.")
        if reduction is None or reduction < FAIR_ERLE_DB:
            return Verdict(
                "poor",
                "The echo is hardly taken out: the model will hear itself and interrupt itself.",
                "Use headphones, or turn the speaker down",
            )
        if reduction < GOOD_ERLE_DB:
            return Verdict(
                "fair",
                "Most of the echo is taken out; a loud speaker may still interrupt the model.",
                "Turn the speaker down a little, or use headphones",
            )
        return Verdict("good", "The echo is taken out: you can speak while the model speaks.")


def echo_check_sound(seconds: float = SOUND_S) -> Int16:
    """Return a plucked melody at 24 kHz, -20 dBFS.

    A canceller learns from its many harmonics and onsets.
    """
    count = int(seconds * MODEL_RATE)
    sound = np.zeros(count)
    step = int(_NOTE_S * MODEL_RATE)
    for number, start in enumerate(range(0, count, step)):
        length = min(int(step * 1.6), count - start)
        t = np.arange(length) / MODEL_RATE
        pitch = _MELODY[number % len(_MELODY)]
        pluck = sum(np.sin(2 * np.pi * pitch * n * t) / n**0.8 for n in range(1, 9))
        sound[start : start + length] += pluck * np.exp(-t / 0.12) * np.minimum(1.0, t / 0.004)
    sound *= 0.1 / math.sqrt(float((sound**2).mean()))
    out: Int16 = np.clip(np.rint(sound * FULL_SCALE), -32768, 32767).astype(np.int16)
    return out


_NOTE_S = 0.24
_MELODY = (196.0, 246.9, 293.7, 392.0, 329.6, 293.7, 246.9, 220.0, 261.6, 329.6, 440.0, 392.0, 329.6, 261.6)


def _share(values: Sequence[float], share: float) -> float:
    """Return the quantile `share` (0 to 1) of `values`."""
    if not values:
        return FLOOR_DB
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
