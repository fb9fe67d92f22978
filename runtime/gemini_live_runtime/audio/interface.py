"""What a session needs of sound, whatever makes it: real devices, WAV files, or nothing at all.

All methods are called on the event loop's thread, and all listener methods arrive there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from gemini_live_runtime.samples import MeterSample

MIC_RATE = 16_000
"""Samples a second sent to the model (s16le mono): what the Live API takes natively."""

MODEL_RATE = 24_000
"""Samples a second received from the model (s16le mono)."""

CHUNK_MS = 20
CHUNK_SAMPLES = MIC_RATE * CHUNK_MS // 1000

Direction = Literal["input", "output"]


@dataclass(frozen=True, slots=True)
class MicChunk:
    """20 ms of echo-cancelled microphone. `captured_at` is the clock time (s) of its last sample."""

    pcm: bytes
    captured_at: float


@dataclass(frozen=True, slots=True)
class OpenDevice:
    """A stream that is open. `name` is the device's own, `rate` in Hz, `latency_ms` as reported."""

    direction: Direction
    name: str
    rate: int
    latency_ms: float


@dataclass(frozen=True, slots=True)
class AudioOpened:
    """The result of opening: what is open, and a sentence for each part that could not be."""

    input: OpenDevice | None
    output: OpenDevice | None
    problems: tuple[str, ...]
    echo_canceller: str
    """Name of the canceller in use, or "" when there is none."""


class AudioListener(Protocol):
    """Receives what happens to sound. Methods must be quick; they run on the event loop."""

    def mic_chunk(self, chunk: MicChunk) -> None:
        """The next 20 ms; arrives all the time while the microphone is on, also while the model plays."""

    def playback_started(self, gen: int) -> None:
        """The device consumed the first sample of generation `gen`."""

    def playback_heard(self, gen: int, first: int, count: int) -> None:
        """Samples [first, first+count) of generation `gen` (24 kHz, from 0) were consumed by the device.

        Reported in spans of at most about a second, and once more when the generation is cut or has drained.
        """

    def playback_drained(self, gen: int) -> None:
        """Everything of `gen` was consumed and `end_of_turn(gen)` had been called."""

    def voice(self, speaking: bool) -> None:
        """The local voice mark changed. Display only: turns are the server's."""

    def echo_warning(self, leaking: bool) -> None:
        """Echo reduction fell under 10 dB while the model plays (True), or is good again (False)."""

    def device_lost(self, direction: Direction, reason: str) -> None:
        """A device vanished or its callbacks stopped. The stream is closed; `reason` is a sentence."""


class AudioIO(Protocol):
    """Sound in and out for one session."""

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Open what can be opened; never raises for a missing or busy device, see `AudioOpened.problems`."""
        ...

    async def close(self) -> None:
        """Stop everything, finish files. Idempotent."""
        ...

    def play(self, gen: int, pcm: bytes) -> None:
        """Queue 24 kHz audio of generation `gen`; dropped (and counted) when `gen` is below the cut."""
        ...

    def end_of_turn(self, gen: int) -> None:
        """No more audio of `gen` will come."""
        ...

    def cut(self, cut_below: int) -> None:
        """Drop everything of generations below `cut_below`, now and whenever it still arrives.

        What the device had consumed is reported through `playback_heard` before this returns or within one block.
        """
        ...

    def played_samples(self, gen: int) -> int:
        """Samples of `gen` (24 kHz) that the device has consumed by now, at most one block behind.

        `playback_heard` tells the same later: by the output's latency, and in spans.
        """
        ...

    def set_microphone(self, on: bool) -> None:
        """Deliver microphone chunks or not. Off also blanks the voice mark."""
        ...

    def set_speaker(self, on: bool) -> None:
        """Play or play silence; time passes either way."""
        ...

    def levels(self) -> MeterSample:
        """Return the current levels; cheap, may be called at 20 Hz."""
        ...

    @property
    def finished(self) -> bool:
        """True when the microphone will never deliver again (a WAV file was read to its end, or there is none)."""
        ...

    @property
    def playing(self) -> bool:
        """True while samples are queued that the device has not consumed."""
        ...


@runtime_checkable
class ChangesDevices(Protocol):
    """An `AudioIO` that can go on with other devices."""

    async def change(self, input: str | None, output: str | None) -> AudioOpened:
        """Open these instead (None: the system's choice); raises `DeviceError`, then the old ones go on."""
        ...
