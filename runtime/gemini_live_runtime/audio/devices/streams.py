"""Open PortAudio streams whose callbacks copy between a device and a ring.

PortAudio calls the callbacks on a real-time thread of its own, every 10 ms. A callback that takes longer than its block
is heard as a gap, so it does not lock, log, wait or raise: it copies, counts, and keeps an exception for the worker,
which reads the counters with each step. It gets plain memory: arrays would cost more than what is done with them.
"""

from __future__ import annotations

import contextlib
import math
import time
from abc import ABC, abstractmethod
from typing import Any

from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.audio.interface import Direction
from gemini_live_runtime.audio.ring import PlayoutRing, SampleRing
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.text import sanitise_line

BLOCK_MS = 10
SAFE_BLOCK_MS = 20
SAFE_LATENCY_S = 0.08

MAX_DELAY_S = 2.0
"""Longest time in seconds between device and callback that is believed.

Some host APIs leave one of PortAudio's times 0 or take it from another clock: then the reported latency is used."""

CLOCK_DRIFT_S = 1e-5
"""Seconds a callback by which the device's clock may fall behind ours: 1000 ppm of 10 ms."""
MAX_LATE_S = 0.5
"""Longest delay in seconds of a callback that is believed."""

_UNAVAILABLE = -9985
_INVALID_RATE = -9997
_IN_USE = ("unavailable", "busy", "in_use", "in use")
_NOT_ALLOWED = ("permission", "not permitted", "access denied", "e_accessdenied")
_USUAL_RATES = (48_000, 44_100, 32_000, 16_000, 8_000)
_COMMON_FACTOR = 25
"""Least common factor with 16 and 24 kHz; 11,025 Hz has it."""
_NOUNS = {"input": "microphone", "output": "loudspeaker"}


_closing: set[DeviceStream] = set()


def closing_hangs() -> bool:
    """Return True while a stream is being closed.

    At exit this means that the sound system hangs.
    """
    return bool(_closing)


def rates_of(device: SoundDevice) -> tuple[int, ...]:
    """Return the rates (Hz) to try: first the device's own, unless that is nonsense.

    That includes rates which have nearly no factor in common with ours: converting them takes gigabytes.
    """
    is_usable = 8_000 <= device.rate <= 384_000 and math.gcd(device.rate, 8_000) >= _COMMON_FACTOR
    own = (device.rate,) if is_usable else ()
    return tuple(dict.fromkeys((*own, *_USUAL_RATES)))


class DeviceStream(ABC):
    """Stream of a device, with the counters that its callback writes."""

    direction: Direction

    def __init__(self, device: SoundDevice) -> None:
        self.device = device
        self.block_ms = BLOCK_MS
        self.callbacks = 0
        self.last_callback = time.monotonic()
        self.started = False
        self.faults = 0
        """Callbacks that raised; the device got silence, or the microphone's block was dropped."""
        self.fault: Exception | None = None
        """Last exception of a callback, for the message about the stopped stream."""
        self.xruns = 0
        """Underflows of an output or overflows of an input, as reported by the device."""
        self.ended = False
        """True when the device ended the stream."""
        self.rate_refused = False
        """True when the device did not open because of its rate."""
        self._channels = 1
        self._closing = False
        self._stream: Any = None
        self._clock_offset = math.inf

    def _now(self, told: float) -> float:
        """Return the time (s) of our clock at which the device's clock told `told`.

        A callback may begin late, as on a busy machine, and its times are those of an earlier moment. The least
        difference of both clocks is that of a callback that began at once.
        """
        now = time.monotonic()
        self._clock_offset = min(self._clock_offset + CLOCK_DRIFT_S, now - told)
        at = told + self._clock_offset
        # Some host APIs tell no time, or one that stands still.
        return at if told > 0.0 and now - at < MAX_LATE_S else now

    @property
    def latency(self) -> float:
        """Reported delay in seconds between callback and air."""
        reported = self._stream.latency if self._stream is not None else 0.0
        return max(0.0, float(reported))

    def open(self, portaudio: Any, *, safe: bool = False) -> None:
        """Open and start at the device's default rate; raise DeviceError. Blocks.

        Uses 10 ms blocks at low latency; with `safe` 20 ms blocks at 80 ms, for machines that do not keep up.
        """
        self.block_ms = SAFE_BLOCK_MS if safe else BLOCK_MS
        self._closing = self.ended = False
        make = portaudio.RawInputStream if self.direction == "input" else portaudio.RawOutputStream
        most = self.device.channels(self.direction)
        stream: Any = None
        try:
            # Mono is enough, but some devices refuse fewer channels than they have.
            for channels in dict.fromkeys((1, min(2, most), most)):
                self._channels = channels
                try:
                    stream = make(
                        samplerate=self.device.rate,
                        blocksize=self.device.rate * self.block_ms // 1000,
                        device=self.device.index,
                        channels=channels,
                        dtype="float32",
                        latency=SAFE_LATENCY_S if safe else "low",
                        callback=self._callback,
                        finished_callback=self._finished,
                    )
                    break
                except portaudio.PortAudioError:
                    if channels == most:
                        raise
            self._stream = stream
            self.last_callback = time.monotonic()
            stream.start()
        except Exception as error:
            if stream is not None:
                with contextlib.suppress(Exception):
                    stream.close()
            raise self._refusal(error) from None
        self.started = True

    def close(self) -> None:
        """Stop and free the device; blocks as long as the sound system does. Idempotent."""
        self._closing = True
        stream, self._stream = self._stream, None
        if stream is None:
            return
        # Registered while closing: at exit PortAudio must not be terminated with a stream that hangs.
        _closing.add(self)
        with contextlib.suppress(Exception):
            stream.abort()
        with contextlib.suppress(Exception):
            stream.close()
        _closing.discard(self)

    @abstractmethod
    def _callback(self, data: Any, frames: int, times: Any, status: Any) -> None: ...

    def _finished(self) -> None:
        if not self._closing:
            self.ended = True

    def _refusal(self, error: Exception) -> DeviceError:
        noun, name = _NOUNS[self.direction].capitalize(), sanitise_line(self.device.name, 60)
        text = str(error.args[0]) if error.args else type(error).__name__
        code = error.args[1] if len(error.args) > 1 else None
        # PortAudio says "Unanticipated host error" and has the sound system's own words beside it.
        if len(error.args) > 2 and isinstance(error.args[2], tuple):
            text = f"{text}: {error.args[2][-1]}"
        self.rate_refused = code == _INVALID_RATE
        found = text.lower()
        if "exclusive" in found:
            what = "is used exclusively by another program"
            remedy = "Close that program, or turn exclusive mode off in the system's settings"
        elif code == _UNAVAILABLE or any(word in found for word in _IN_USE):
            what, remedy = "is in use by another program", "Close that program or choose another device"
        elif any(word in found for word in _NOT_ALLOWED):
            what = "may not be used by this program"
            remedy = "Allow your terminal to use it in the system's privacy settings (on Linux: join the group audio)"
        elif self.rate_refused:
            what = "takes none of the usual sample rates"
            remedy = "Set it to 48 kHz in the system's settings, or choose another device"
        else:
            what = f"could not be opened: {sanitise_line(text, 120)}"
            remedy = "Choose another device (see the command devices)"
        return DeviceError(f"{noun} {name!r} {what}", remedy=remedy, field=self.direction, value=name)


class MicrophoneStream(DeviceStream):
    """Microphone stream: writes the first channel into a ring."""

    direction = "input"

    def __init__(self, device: SoundDevice, ring: SampleRing) -> None:
        super().__init__(device)
        self._ring = ring

    def _callback(self, data: Any, frames: int, times: Any, status: Any) -> None:
        try:
            now = self._now(times.currentTime)
            length = frames / self.device.rate
            age = times.currentTime - times.inputBufferAdcTime
            if not 0.0 < age < MAX_DELAY_S:
                # Without a time its last sample is no later than now.
                age = max(self.latency, length)
            samples = memoryview(data).cast("f")
            self._ring.write(samples if self._channels == 1 else samples[:: self._channels], now - age + length)
            # In this order: the worker reckons from both when the next block comes.
            self.callbacks += 1
            self.last_callback = time.monotonic()
            if status and status.input_overflow:
                self.xruns += 1
        except Exception as error:
            self.faults, self.fault = self.faults + 1, error


class LoudspeakerStream(DeviceStream):
    """Loudspeaker stream: plays the ring and copies it into the reference ring."""

    direction = "output"

    def __init__(self, device: SoundDevice, ring: PlayoutRing, played: SampleRing) -> None:
        super().__init__(device)
        self._ring = ring
        self._played = played

    def _callback(self, data: Any, frames: int, times: Any, status: Any) -> None:
        try:
            now = self._now(times.currentTime)
            delay = times.outputBufferDacTime - times.currentTime
            if not 0.0 < delay < MAX_DELAY_S:
                delay = self.latency
            ended = now + delay + frames / self.device.rate
            samples = memoryview(data).cast("f")
            mono = samples if self._channels == 1 else memoryview(bytearray(4 * frames)).cast("f")
            self._ring.read(mono, ended)
            if self._channels > 1:
                for channel in range(self._channels):
                    samples[channel :: self._channels] = mono
            # The canceller needs the samples really played: after cut, fade and mute.
            self._played.write(mono, ended)
            self.callbacks += 1
            self.last_callback = time.monotonic()
            if status and status.output_underflow:
                self.xruns += 1
        except Exception as error:
            data[:] = bytes(len(data))
            self.faults, self.fault = self.faults + 1, error
