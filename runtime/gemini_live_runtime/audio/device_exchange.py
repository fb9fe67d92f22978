"""Replace one device of a running worker while the other stays open."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gemini_live_runtime.audio.devices.opening import open_stream
from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.audio.devices.streams import DeviceStream, LoudspeakerStream, MicrophoneStream, rates_of
from gemini_live_runtime.audio.echo.cancellers import EchoCanceller
from gemini_live_runtime.audio.interface import Direction
from gemini_live_runtime.audio.processing.worker import AudioWorker
from gemini_live_runtime.audio.ring import PlayoutRing, SampleRing
from gemini_live_runtime.threads import call_in_thread

MakeCanceller = Callable[[SoundDevice | None, SoundDevice | None], EchoCanceller]
"""Factory of the echo canceller for a microphone and a loudspeaker."""


async def exchange_device(
    worker: AudioWorker,
    side: Direction,
    device: SoundDevice,
    portaudio: Any,
    make_canceller: MakeCanceller,
    *,
    muted: bool,
) -> EchoCanceller | None:
    """Open `device` and make the worker use it for `side`.

    Returns the canceller of the new pair, None when the device does not open. `muted` is for a loudspeaker.
    """
    pipeline = worker.pipeline
    other = worker.loudspeaker if side == "input" else worker.microphone
    other_device = other.device if other is not None else None
    for rate in rates_of(device):
        found, ring = replace(device, rate=rate), SampleRing(rate)
        stream: DeviceStream
        move: Callable[[], None]
        if side == "input":
            canceller = make_canceller(found, other_device)
            stream = MicrophoneStream(found, ring)
            move = functools.partial(pipeline.take_input, ring, rate, canceller)
        else:
            canceller = make_canceller(other_device, found)
            playout = PlayoutRing(rate)
            playout.muted = muted
            stream = LoudspeakerStream(found, playout, ring)
            move = functools.partial(pipeline.take_output, playout, ring, rate, canceller)
        if await open_stream(stream, portaudio):
            if stream.rate_refused:
                continue
            return None
        taken = False
        try:
            taken = await call_in_thread(functools.partial(worker.exchange, stream, move), "audio-exchange")
        finally:
            if not taken:
                stream.close()
        return canceller if taken else None
    return None
