"""Define sound for a session: the `AudioIO` and `AudioListener` protocols.

Implementations use devices, WAV files or nothing. All methods of both protocols are called on the event loop's thread.
"""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from gemini_live_runtime.records import record
from gemini_live_runtime.samples import MeterSample

MIC_RATE = 16_000
"""Sample rate of audio sent to the model (s16le mono): the Live API's native rate."""

MODEL_RATE = 24_000
"""Sample rate of audio received from the model (s16le mono)."""

CHUNK_MS = 20
CHUNK_SAMPLES = MIC_RATE * CHUNK_MS // 1000

NONE_NEEDED = "none needed"
"""Name of the echo canceller for headphones."""

Direction = Literal["input", "output"]


@record
class MicChunk:
    """20 ms of echo-cancelled microphone audio, s16le.

    `captured_at` is the clock time (s) of its last sample; `near_end` is False where the canceller takes what is left
    for echo.
    """

    pcm: bytes
    captured_at: float
    near_end: bool = True


@record
class OpenDevice:
    """Open stream: the device's name, rate in Hz and reported latency in ms."""

    direction: Direction
    name: str
    rate: int
    latency_ms: float


@record
class AudioOpened:
    """Open devices, and a sentence for each that could not be opened."""

    input: OpenDevice | None
    output: OpenDevice | None
    problems: tuple[str, ...]
    echo_canceller: str
    """Name of the canceller in use, "" for none."""


class AudioListener(Protocol):
    """Receiver of sound events; its methods run on the event loop and return quickly."""

    def on_mic_chunk(self, chunk: MicChunk) -> None:
        """Take the next 20 ms; called while the microphone is on, also during playback."""

    def on_playback_started(self, gen: int) -> None:
        """Note that the device consumed the first sample of generation `gen`."""

    def on_playback_heard(self, gen: int, first: int, count: int, heard_at: float | None = None) -> None:
        """Note that samples [first, first+count) of `gen` (24 kHz) were played.

        `heard_at` is the clock time (s) at which the last of them is heard, None when unknown.
        Called for spans of at most about a second, and once more when the generation is cut or has drained.
        """

    def on_playback_drained(self, gen: int) -> None:
        """Note that all of `gen` was consumed, after `end_of_turn(gen)`."""

    def on_voice(self, speaking: bool) -> None:
        """Take a change of local voice detection, for display: the server decides turns."""

    def on_echo_warning(self, leaking: bool) -> None:
        """Note that echo reduction fell below 10 dB (True) or recovered (False)."""

    def on_device_lost(self, direction: Direction, reason: str) -> None:
        """Note that a device vanished or stopped; `reason` is a sentence.

        The stream is closed, and sound that was queued for it is dropped. `on_devices_opened` follows when there is a
        device again.
        """

    def on_devices_opened(self, opened: AudioOpened) -> None:
        """Take the devices that are open now, after one was lost, is back or was slow.

        `problems` has a sentence for each device that was lost and replaced at once, so without `on_device_lost`, and
        for a speaker that plays larger blocks because it did not keep up.
        """


class AudioIO(Protocol):
    """Sound input and output of one session."""

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Open what can be opened; failures are in `AudioOpened.problems`, not raised."""
        ...

    async def close(self) -> None:
        """Stop and finish files. Idempotent."""
        ...

    def play(self, gen: int, pcm: bytes) -> None:
        """Queue 24 kHz s16le of `gen`; drop and count it if `gen` is below the cut."""
        ...

    def end_of_turn(self, gen: int) -> None:
        """Mark the audio of `gen` as complete."""
        ...

    def cut(self, cut_below: int) -> None:
        """Drop audio of generations below `cut_below`, also audio that arrives later.

        Reports samples that the device had consumed by `on_playback_heard`, at once or within one block.
        """
        ...

    def played_samples(self, gen: int) -> int:
        """Return the samples of `gen` (24 kHz) consumed by the device, up to a block ago.

        `on_playback_heard` reports the same in spans, later by the output's latency.
        """
        ...

    def set_microphone(self, on: bool) -> None:
        """Start or stop delivering microphone chunks. Off also resets voice detection."""
        ...

    def set_speaker(self, on: bool) -> None:
        """Play, or play silence while playback goes on."""
        ...

    def set_paused(self, paused: bool) -> None:
        """Consume no more of what is queued, or go on with the next sample."""
        ...

    def levels(self) -> MeterSample:
        """Return the current levels; cheap, may be called at 20 Hz."""
        ...

    @property
    def finished(self) -> bool:
        """True when the microphone will not deliver again: end of the file, or no device."""
        ...

    @property
    def playing(self) -> bool:
        """True while samples are queued that the device has not consumed."""
        ...


@runtime_checkable
class ChangesDevices(Protocol):
    """`AudioIO` that can switch devices."""

    async def change(self, input: str | None, output: str | None, headphones: bool | None = None) -> AudioOpened:
        """Switch to these devices (None: the system's choice).

        `headphones` says whether the speaker is one that no microphone hears (None: as before).
        Raises `DeviceError` and keeps the old devices if they cannot be used.
        """
        ...
