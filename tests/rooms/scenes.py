"""Generate scenes: a loudspeaker, a person and the microphone that hears both.

Rooms are synthetic (a delayed direct path, sparse early reflections, a diffuse tail; a small loudspeaker with soft
clipping), so scores rank cancellers and do not predict a real room. All signals are float32 mono at 16 kHz.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import soxr
from tests.rooms.voices import RATE, draw_speech

from gemini_live_runtime.audio.samples import FRAME, Float32

Kind = Literal["single", "double", "jump", "drift", "near", "turns", "first"]
KINDS: tuple[Kind, ...] = ("single", "double", "jump", "drift", "near", "turns", "first")

FAR_DBFS = -20.0
NEAR_DBFS = -26.0
LEAD_S = 0.5
"""Silence before the first word of the loudspeaker."""
NEAR_FROM_S = 8.0
JUMP_AT_S = 12.0
DRIFT_PPM = 100.0
FIRST_WORDS_S = (0.05, 1.0)
"""Seconds into the first answer at which a person begins to interrupt it, shortest and longest."""
LENGTH_S: dict[Kind, float] = {
    "single": 24, "double": 24, "jump": 20, "drift": 40, "near": 12, "turns": 36, "first": 5,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Room:
    """A room with its devices and voices, drawn by `seed`.

    `decay_s` is the reverberation time, `delay_ms` the bulk delay, `ser_db` the person's level over the echo's, `drive`
    the loudspeaker's clipping (1 is about 3 % distortion), `jump_ms` by how much the delay changes.
    """

    seed: int
    decay_s: float
    delay_ms: float
    ser_db: float
    drive: float
    noise_dbfs: float
    jump_ms: float

    def __str__(self) -> str:
        return (
            f"room {self.seed}: {self.decay_s:.2f} s, {self.delay_ms:.0f} ms, SER {self.ser_db:+.0f} dB, "
            f"drive {self.drive:.1f}, jump {self.jump_ms:+.0f} ms"
        )


def draw_room(seed: int, ser_db: float | None = None) -> Room:
    """Return the room of a seed, with `ser_db` in place of its own."""
    rng = np.random.default_rng(seed)
    room = Room(
        seed=seed,
        decay_s=float(rng.uniform(0.2, 0.55)),
        delay_ms=float(rng.uniform(30, 140)),
        ser_db=float(rng.choice((-10, -6, 0, 6, 10))),
        drive=float(rng.uniform(0.3, 2.0)),
        noise_dbfs=float(rng.uniform(-66, -54)),
        jump_ms=float(rng.choice((-1, 1)) * rng.uniform(10, 60)),
    )
    if room.delay_ms + room.jump_ms < 20:
        room = replace(room, jump_ms=-room.jump_ms)
    return room if ser_db is None else replace(room, ser_db=ser_db)


@dataclass(frozen=True, slots=True)
class Scene:
    """Signals of a scene; the microphone gets `echo` + `near` + `noise`.

    `path` is the impulse response from the loudspeaker to the microphone, `moved` that from `JUMP_AT_S` on.
    """

    kind: Kind
    room: Room
    far: Float32
    echo: Float32
    near: Float32
    noise: Float32
    path: np.ndarray
    moved: np.ndarray

    @property
    def microphone(self) -> Float32:
        """The microphone's signal."""
        return self.echo + self.near + self.noise


def make_scene(kind: Kind, room: Room) -> Scene:
    """Return a scene of `kind` in `room`; the same arguments give the same samples."""
    rng = np.random.default_rng([room.seed, KINDS.index(kind)])
    count = int(LENGTH_S[kind] * RATE)
    silence = np.zeros(count, np.float32)
    lead = int(LEAD_S * RATE)
    noise = _noise(rng, count, room.noise_dbfs)
    if kind == "near":
        near = silence.copy()
        near[lead:] = _speech(rng, count - lead, NEAR_DBFS)
        none = np.zeros(1)
        return Scene(kind, room, silence, silence, near, noise, none, none)
    near = silence
    if kind == "turns":
        far, near = _turns(rng, count)
    else:
        far = silence.copy()
        far[lead:] = _speech(rng, count - lead, FAR_DBFS)
    response = impulse_response(rng, room.decay_s, room.delay_ms)
    echo = convolve(_loudspeaker(far, room.drive), response)
    loudness = np.sqrt(powers(echo)[active(echo, -30)].mean())
    path = moved = response * np.float32(10 ** ((NEAR_DBFS - room.ser_db) / 20) / loudness)
    if kind == "double":
        near = silence.copy()
        at = int(NEAR_FROM_S * RATE)
        near[at:] = _speech(rng, count - at, NEAR_DBFS, pause_s=1.0)
    elif kind == "first":
        near = silence.copy()
        at = int(np.flatnonzero(np.abs(far) > 0.003)[0]) + int(rng.uniform(*FIRST_WORDS_S) * RATE)
        near[at:] = _speech(rng, count - at, NEAR_DBFS)
    elif kind == "jump":
        moved = _shifted(path, room.jump_ms)
    echo = echo_of(far, kind, room, path, moved)
    # No microphone gives more than full scale.
    clipped = np.clip(echo + near, -1, 1) - near
    return Scene(kind, room, far, clipped.astype(np.float32), near, noise, path, moved)


def echo_of(far: Float32, kind: Kind, room: Room, path: np.ndarray, moved: np.ndarray) -> Float32:
    """Return the echo of what is played in a scene; from `JUMP_AT_S` on by `moved`."""
    played = _loudspeaker(far, room.drive)
    echo = convolve(played, path)
    if kind == "jump":
        at = int(JUMP_AT_S * RATE)
        echo = np.concatenate((echo[:at], convolve(played, moved)[at:]))
    elif kind == "drift":
        slow = soxr.resample(echo, 1e6, 1e6 * (1 - DRIFT_PPM * 1e-6), "VHQ").astype(np.float32)
        echo = np.concatenate((slow, np.zeros(len(far), np.float32)))[: len(far)]
    return echo


def powers(sound: Float32) -> np.ndarray:
    """Mean squares of 10 ms frames."""
    return (sound[: len(sound) // FRAME * FRAME].reshape(-1, FRAME).astype(float) ** 2).mean(axis=1) + 1e-12


def active(sound: Float32, relative_db: float) -> np.ndarray:
    """Return a mask of the 10 ms frames within `relative_db` of the loud ones."""
    power = powers(sound)
    return power > np.percentile(power, 95) * 10 ** (relative_db / 10)


def impulse_response(rng: np.random.Generator, decay_s: float, delay_ms: float) -> np.ndarray:
    """Return a room's impulse response of unit energy."""
    count = int(decay_s * RATE)
    time = np.arange(count) / RATE
    tail = rng.standard_normal(count) * 10 ** (-3 * time / decay_s)
    early = (time >= 0.004) & (time < 0.03)
    tail[time < 0.004] = 0
    tail[early] *= (rng.random(early.sum()) < 0.06) * 5
    # A diffuse tail has lost its high frequencies.
    tail = np.convolve(tail, (0.25, 0.5, 0.25), "same")
    tail *= 10 ** (-4 / 20) / np.sqrt((tail**2).sum())
    tail[0] += 1.0
    response = np.concatenate((np.zeros(int(delay_ms * RATE / 1000)), tail))
    return np.asarray(response / np.sqrt((response**2).sum()))


def convolve(sound: Float32, response: np.ndarray) -> Float32:
    """Return the convolution, as long as `sound`."""
    size = 1 << (len(sound) + len(response)).bit_length()
    out: Float32 = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(response, size), size)[: len(sound)].astype(
        np.float32
    )
    return out


def _shifted(response: np.ndarray, ms: float) -> np.ndarray:
    count = int(abs(ms) * RATE / 1000)
    return np.concatenate((np.zeros(count), response)) if ms > 0 else response[count:]


def _loudspeaker(sound: Float32, drive: float) -> Float32:
    """Return the sound of a small loudspeaker, clipped softly and narrow in band."""
    bent = ((np.tanh(drive * sound + 0.05) - np.tanh(0.05)) / drive).astype(np.float32)
    spectrum = np.fft.rfft(bent)
    frequency = np.fft.rfftfreq(len(sound), 1 / RATE)
    spectrum /= np.sqrt(1 + (180 / np.maximum(frequency, 1)) ** 4)
    out: Float32 = np.fft.irfft(spectrum, len(sound)).astype(np.float32)
    return out


def _speech(rng: np.random.Generator, count: int, dbfs: float, pause_s: float = 0.25) -> Float32:
    """Return speech, as long as asked for; its active level is `dbfs`."""
    parts: list[Float32] = []
    length = 0
    while length < count:
        part = draw_speech(rng, 3)
        parts += [part, np.zeros(int(pause_s * RATE), np.float32)]
        length += len(part) + int(pause_s * RATE)
    sound = np.concatenate(parts)[:count]
    loud = active(sound, -35)
    level = np.sqrt(powers(sound)[loud].mean())
    return sound * np.float32(10 ** (dbfs / 20) / level)


def _turns(rng: np.random.Generator, count: int) -> tuple[Float32, Float32]:
    """Return answers of the loudspeaker, and what the person says between them."""
    far, near = np.zeros(count, np.float32), np.zeros(count, np.float32)
    at = int(LEAD_S * RATE)
    while at < count:
        for side, dbfs, shortest, longest in ((far, FAR_DBFS, 3.0, 5.0), (near, NEAR_DBFS, 0.8, 1.6)):
            length = min(int(rng.uniform(shortest, longest) * RATE), max(0, count - at))
            if length > RATE // 2:
                side[at : at + length] = _speech(rng, length, dbfs)
            at += length + int(rng.uniform(0.5, 1.5) * RATE)
    return far, near


def _noise(rng: np.random.Generator, count: int, dbfs: float) -> Float32:
    white = rng.standard_normal(count)
    pink = np.convolve(white, np.exp(-np.arange(24) / 3.0), "same") + 0.3 * white
    return (pink / pink.std() * 10 ** (dbfs / 20)).astype(np.float32)
