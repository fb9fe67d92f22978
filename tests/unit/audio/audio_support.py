"""Provide a recording listener, signals, and a fake `sounddevice` module."""

from __future__ import annotations

import itertools
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gemini_live_runtime.audio.devices.selection import DeviceList, SoundDevice
from gemini_live_runtime.audio.echo.cancellers import EchoState
from gemini_live_runtime.audio.interface import AudioOpened, MicChunk


@dataclass
class Recorder:
    """An AudioListener that remembers."""

    chunks: list[MicChunk] = field(default_factory=list)
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    heard_at: list[float | None] = field(default_factory=list)
    """Times of the calls "heard"."""

    def on_mic_chunk(self, chunk: MicChunk) -> None:
        self.chunks.append(chunk)

    def on_playback_started(self, gen: int) -> None:
        self.calls.append(("started", gen))

    def on_playback_heard(self, gen: int, first: int, count: int, heard_at: float | None = None) -> None:
        self.calls.append(("heard", gen, first, count))
        self.heard_at.append(heard_at)

    def on_playback_drained(self, gen: int) -> None:
        self.calls.append(("drained", gen))

    def on_voice(self, speaking: bool) -> None:
        self.calls.append(("voice", speaking))

    def on_echo_warning(self, leaking: bool) -> None:
        self.calls.append(("echo", leaking))

    def on_device_lost(self, direction: str, reason: str) -> None:
        self.calls.append(("lost", direction, reason))

    def on_devices_opened(self, opened: AudioOpened) -> None:
        names = [device.name if device is not None else "" for device in (opened.input, opened.output)]
        self.calls.append(("opened", *names, opened.problems))

    def of(self, kind: str) -> list[tuple[Any, ...]]:
        """Return the calls of one kind."""
        return [call for call in self.calls if call[0] == kind]

    def heard(self, gen: int) -> int:
        """Return the samples of `gen` reported as heard; assert that there is no gap."""
        spans = [call[2:] for call in self.of("heard") if call[1] == gen]
        for (first, count), (following, _) in itertools.pairwise(spans):
            assert following == first + count, spans
        return sum(count for _, count in spans)

    @property
    def microphone(self) -> np.ndarray:
        """Everything delivered, int16."""
        return np.frombuffer(b"".join(chunk.pcm for chunk in self.chunks), np.int16)


class Shifts:
    """Canceller that notes the lost frames."""

    has_near_end = True
    probe = None
    state: EchoState = ""

    def __init__(self) -> None:
        self.told: list[int] = []

    def render(self, frame: np.ndarray) -> None: ...

    def capture(self, frame: np.ndarray) -> np.ndarray:
        return frame

    def on_frames_lost(self, later: int = 0) -> None:
        self.told.append(later)


def pcm(samples: Any) -> bytes:
    return np.asarray(samples).astype("<i2").tobytes()


def tone(rate: int, seconds: float, hertz: float = 440.0, level: float = 0.5) -> np.ndarray:
    return (level * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate)).astype(np.float32)


def babble(rate: int, seconds: float, seed: int, level: float = 0.1) -> np.ndarray:
    """Return voice-like sound: harmonics of a varying pitch, in syllables with pauses.

    Float32, RMS about `level`.
    """
    rng = np.random.default_rng(seed)
    count = round(rate * seconds)
    t = np.arange(count) / rate
    knots = max(4, int(seconds * 5))
    pitch = np.interp(t, np.linspace(0, seconds, knots), rng.uniform(90, 220, knots))
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    voice = np.zeros(count)
    for harmonic in range(1, 25):
        weights = np.interp(t, np.linspace(0, seconds, knots), rng.uniform(0, 1, knots))
        voice += weights / harmonic**0.7 * np.sin(harmonic * phase + rng.uniform(0, 6))
    syllables = np.interp(t, np.linspace(0, seconds, knots * 2), rng.choice([0.0, 0.3, 1.0, 1.0], knots * 2))
    voice *= syllables
    return (voice / (np.sqrt((voice**2).mean()) + 1e-9) * level).astype(np.float32)


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(float) - a.mean(), b.astype(float) - b.mean()
    return float(a @ b / (np.sqrt((a @ a) * (b @ b)) + 1e-12))


class FakePortAudioError(Exception):
    """Error with the arguments of `sounddevice.PortAudioError`: (message, code)."""


class FakeStream:
    """A stream that calls back only when a test says so."""

    def __init__(self, module: FakePortAudio, direction: str, options: dict[str, Any]) -> None:
        self.module = module
        self.direction = direction
        self.options = options
        self.latency = 0.02
        self.active = False
        self.closed = False

    def start(self) -> None:
        self.active = True

    def abort(self) -> None:
        self.end()

    def close(self) -> None:
        self.closed = True

    def end(self) -> None:
        """End the stream, as a device does."""
        if self.active:
            self.active = False
            self.options["finished_callback"]()

    def call(
        self, microphone: np.ndarray | None = None, times: tuple[float, float] = (0.0, 0.0), **flags: bool
    ) -> np.ndarray:
        """Call the stream's callback; return the samples played or recorded.

        `times` are PortAudio's for now and for the first sample at the device.
        """
        frames, channels = self.options["blocksize"], self.options["channels"]
        data = np.zeros((frames, channels), np.float32)
        if microphone is not None:
            data[:] = microphone[:, None]
        status = types.SimpleNamespace(**{"input_overflow": False, "output_underflow": False, **flags})
        now, device = times
        told = types.SimpleNamespace(currentTime=now, inputBufferAdcTime=device, outputBufferDacTime=device)
        self.options["callback"](memoryview(data).cast("B"), frames, told, status)
        return data


class FakePortAudio:
    """Fake `sounddevice` module with two devices of 48 kHz.

    `refuse` maps a direction to an exception.
    """

    PortAudioError = FakePortAudioError

    def __init__(self, refuse: dict[str, Exception] | None = None, stereo_only: bool = False) -> None:
        self.refuse = refuse or {}
        self.stereo_only = stereo_only
        self.streams: list[FakeStream] = []
        self.default = types.SimpleNamespace(device=[0, 1])

    def _terminate(self) -> None:
        for stream in self.streams:
            stream.end()

    def _initialize(self) -> None: ...

    def query_hostapis(self) -> list[dict[str, Any]]:
        return [{"name": "Fake API"}]

    def query_devices(self) -> list[dict[str, Any]]:
        base = {"hostapi": 0, "default_samplerate": 48000.0}
        return [
            {**base, "name": "Desk Microphone", "max_input_channels": 2, "max_output_channels": 0},
            {**base, "name": "Desk Speakers", "max_input_channels": 0, "max_output_channels": 2},
        ]

    def found(self) -> DeviceList:
        return DeviceList(
            (
                SoundDevice(0, "Desk Microphone", "Fake API", 2, 0, 48000, True, False),
                SoundDevice(1, "Desk Speakers", "Fake API", 0, 2, 48000, False, True),
            )
        )

    def RawInputStream(self, **options: Any) -> FakeStream:
        return self._make("input", options)

    def RawOutputStream(self, **options: Any) -> FakeStream:
        return self._make("output", options)

    def stream(self, direction: str) -> FakeStream:
        """Return the stream opened last in this direction."""
        return next(stream for stream in reversed(self.streams) if stream.direction == direction)

    def _make(self, direction: str, options: dict[str, Any]) -> FakeStream:
        if direction in self.refuse:
            raise self.refuse[direction]
        if self.stereo_only and options["channels"] != 2:
            raise FakePortAudioError("Invalid number of channels", -9998)
        stream = FakeStream(self, direction, options)
        self.streams.append(stream)
        return stream
