"""Measure the delay and the level of the loudspeaker's echo in the microphone.

Sine sweeps are played, and the frames are kept as the echo canceller gets them, so that the delay is the one that it
will meet. The response is found as in A. Farina, "Simultaneous measurement of impulse response and distortion with a
swept-sine technique" (AES 108, 2000), but by spectral division, since the sweep that was really played is known.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from gemini_live_runtime.audio.checks.device_helper import HelperListener
from gemini_live_runtime.audio.checks.sound_check import MicrophoneCheck, Verdict, judge_voice
from gemini_live_runtime.audio.echo.cancellers import EchoState
from gemini_live_runtime.audio.echo.echo_path import RESPONSE_LEAD_MS, EchoPath
from gemini_live_runtime.audio.interface import MIC_RATE, MODEL_RATE, AudioIO, MicChunk
from gemini_live_runtime.audio.levels import mean_square, power_db
from gemini_live_runtime.audio.samples import FRAME, FULL_SCALE, Float32, Int16, to_int16
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.records import record

ROOM_S = 1.0
"""Seconds of the room before the sound."""
TAIL_S = 1.0
VOICE_S = 5.0
SWEEP_S, GAP_S, SWEEPS = 0.9, 0.4, 4
SOUND_S = SWEEPS * (SWEEP_S + GAP_S)

MAX_DELAY_MS = 600.0
RESPONSE_MS = 100.0
"""Length of the stored response."""

_LOWEST_HZ, _HIGHEST_HZ = 150.0, 7_000.0
_LEVEL = 0.2
_STEADY_MS = 2.0
"""Most difference between the delays of the sweeps."""
_ECHO_PEAK = 8.0
"""Least height of the response's peak over what it holds where no echo is."""
_DIRECT = 0.5
"""Part of the peak from which a sample counts as the direct sound: a reflection may be louder."""
_CLIPPED = 32_700
_MAX_FRAMES = 6_000
"""Frames kept at most (60 s), if a sound system is slow to end."""


class FrameRecorder:
    """`EchoCanceller` that cancels nothing and keeps both sides of each frame."""

    name = "calibration"
    has_near_end = True
    probe = None
    state: EchoState = ""

    def __init__(self) -> None:
        self._played: Int16 = np.zeros(FRAME, np.int16)
        self.far: list[Int16] = []
        self.near: list[Int16] = []

    def render(self, frame: Int16) -> None:
        """Keep the played frame until its capture."""
        self._played = frame

    def capture(self, frame: Int16) -> Int16:
        """Keep and return the microphone's frame."""
        if len(self.near) < _MAX_FRAMES:
            self.far.append(self._played.copy())
            self.near.append(frame.copy())
        return frame

    def on_frames_lost(self, later: int = 0) -> None:
        """Do nothing: a delay that changes is found in the recording."""


@record
class Response:
    """Impulse response at 16 kHz between a played sound and a recording."""

    delay: int
    """Samples until the direct sound."""
    taps: Float32
    """From `RESPONSE_LEAD_MS` before the direct sound on."""


def calibration_sound() -> Int16:
    """Return the sweeps at 24 kHz, each followed by silence."""
    count = round(SWEEP_S * MODEL_RATE)
    t = np.arange(count) / MODEL_RATE
    octaves = math.log(_HIGHEST_HZ / _LOWEST_HZ)
    phase = 2 * np.pi * _LOWEST_HZ * SWEEP_S / octaves * (np.exp(t / SWEEP_S * octaves) - 1)
    fade = np.clip(np.minimum(t, t[::-1]) / 0.02, 0, 1)
    sweep = _LEVEL * np.sin(phase) * (0.5 - 0.5 * np.cos(np.pi * fade))
    one = np.concatenate((sweep, np.zeros(round(GAP_S * MODEL_RATE))))
    return to_int16(np.tile(one, SWEEPS).astype(np.float32))


def measure(far: Int16, near: Int16) -> EchoPath:
    """Return the echo path of a recording of the whole sound.

    It begins with silence. Raises `DeviceError` with a remedy when it says nothing.
    """
    sounding = np.flatnonzero(np.abs(far.astype(np.int32)) > 8)
    if not len(sounding):
        raise _useless("The sound was not played", "Choose another speaker", "speaker")
    if not near.any():
        raise _useless(
            "The microphone delivers only silence",
            "Check its mute switch, and the system's permission to use it",
            "microphone",
        )
    begin = int(sounding[0])
    if int(np.abs(near[begin:].astype(np.int32)).max()) >= _CLIPPED:
        raise _useless(
            "The microphone clips", "Turn the speaker or the microphone down, and run it again", "microphone"
        )
    room = mean_square(near[: begin or FRAME])
    plain = EchoPath(measured_at=round(time.time(), 1), room_db=round(power_db(room), 1))
    # One by one: a delay that changes on the way would make one response of two.
    responses = [impulse_response(sweep, near) for sweep in _sweeps(far, sounding)]
    if not any(responses):
        return plain
    found = [response for response in responses if response is not None]
    delays = [response.delay for response in found]
    if len(found) < SWEEPS or max(delays) - min(delays) > _STEADY_MS * MIC_RATE / 1000:
        raise _useless(
            "The delay changed during the measurement: samples were lost, or it was too loud around",
            "Close other programs that use sound, be quiet, and run it again",
            "delay",
        )
    power, played = float((near[begin:].astype(float) ** 2).sum()), float((far.astype(float) ** 2).sum())
    echo = power - room * FULL_SCALE**2 * (len(near) - begin)
    taps = np.mean([response.taps for response in found], axis=0)
    return replace(
        plain,
        delay_ms=round(sum(delays) / len(delays) * 1000 / MIC_RATE, 2),
        level_db=round(10 * math.log10(max(echo / played, 1e-6)), 1),
        response=tuple(round(float(tap), 5) for tap in taps),
    )


def _sweeps(far: Int16, sounding: NDArray[np.intp]) -> Iterator[Int16]:
    """Yield the played sound with all but one sweep silenced, for each sweep."""
    begins = sounding[np.diff(sounding, prepend=-MIC_RATE) > GAP_S * MIC_RATE / 2]
    at = np.arange(len(far))
    for begin, end in zip(begins, [*begins[1:], len(far)], strict=True):
        yield np.where((at >= begin) & (at < end), far, 0).astype(np.int16)


def impulse_response(far: Int16, near: Int16) -> Response | None:
    """Return the response of `near` to `far`; None where `near` holds no echo of it."""
    size = 1 << (len(far) + MIC_RATE).bit_length()
    played, heard = np.fft.rfft(far.astype(float), size), np.fft.rfft(near.astype(float), size)
    power = np.abs(played) ** 2
    bins = np.fft.rfftfreq(size, 1 / MIC_RATE)
    # Outside the sweep's band nothing was played, and the division would amplify the room.
    band = np.clip(np.minimum(bins / _LOWEST_HZ - 1, (_HIGHEST_HZ - bins) / 500), 0, 1)
    transfer = heard * played.conj() / (power + 1e-3 * power.max() * (1 - band) + 1e-6 * power.max()) * band
    response = np.fft.irfft(transfer, size)
    longest = round(MAX_DELAY_MS * MIC_RATE / 1000)
    heights = np.abs(response[:longest])
    peak = int(heights.argmax())
    # The second after the longest delay holds the room's noise and the end of a very long reverberation.
    beyond = float(np.sqrt((response[longest + MIC_RATE // 10 : longest + MIC_RATE // 3] ** 2).mean()))
    if heights[peak] < max(_ECHO_PEAK * beyond, 1e-5):
        return None
    delay = int(np.flatnonzero(heights >= _DIRECT * heights[peak])[0])
    lead, length = round(RESPONSE_LEAD_MS * MIC_RATE / 1000), round(RESPONSE_MS * MIC_RATE / 1000)
    start = delay - lead
    taps = np.roll(response, -start)[:length].astype(np.float32)
    return Response(delay, taps)


async def calibrate(
    audio: AudioIO, recorder: FrameRecorder, *, voice: bool, on_step: Callable[[str, float], None]
) -> EchoPath:
    """Measure the devices of `audio`, whose canceller is `recorder`.

    With `voice` the user is listened to afterwards. `on_step` gets "room", "sound" and "voice" as each begins, with its
    seconds. Raises `DeviceError`.
    """
    listener, check = HelperListener(), MicrophoneCheck()
    loop = asyncio.get_running_loop()

    async def step(name: str, seconds: float) -> None:
        on_step(name, seconds)
        end = loop.time() + seconds
        while (left := end - loop.time()) > 0:
            if listener.lost:
                raise _useless(listener.lost.removesuffix("."), "Plug it in and run it again", "device")
            await asyncio.sleep(min(0.05, left))

    try:
        opened = await audio.open(listener)
        if opened.input is None or opened.output is None:
            raise _useless(
                " ".join(opened.problems).removesuffix(".") or "A microphone and a speaker are needed",
                "See the command devices",
                "device",
            )
        await step("room", ROOM_S)
        audio.play(1, calibration_sound().tobytes())
        audio.end_of_turn(1)
        await step("sound", SOUND_S + TAIL_S)
        far, near = list(recorder.far), list(recorder.near)
        if not near:
            raise _useless("The microphone delivered nothing at all", "Choose another one", "microphone")
        found = measure(np.concatenate(far), np.concatenate(near))
        if voice:
            listener.on_chunk = lambda chunk: _add(check, chunk, listener.speaking)
            await step("voice", VOICE_S)
    finally:
        await audio.close()
    if check.voiced:
        found = replace(found, voice_db=round(check.voice_db, 1))
    return found


def describe(path: EchoPath) -> str:
    """Return a measurement as one sentence."""
    if path.delay_ms is None or path.level_db is None:
        echo = "nothing of the speaker comes back"
    else:
        echo = f"the echo comes {path.delay_ms:.0f} ms later at {path.level_db:+.0f} dB"
    voice = "" if path.voice_db is None else f", your voice is at {path.voice_db:.0f} dBFS"
    return f"{echo}, the room is at {path.room_db:.0f} dBFS{voice}"


def judge(path: EchoPath) -> Verdict:
    """Judge a measurement by the level of the voice, where there was one."""
    if path.voice_db is None:
        return Verdict("good", "")
    return judge_voice(path.voice_db, path.room_db)


def _add(check: MicrophoneCheck, chunk: MicChunk, speaking: bool) -> None:
    check.add(chunk.pcm, speaking=speaking)


def _useless(text: str, remedy: str, field: str) -> DeviceError:
    return DeviceError(text, remedy=remedy, field=field)
