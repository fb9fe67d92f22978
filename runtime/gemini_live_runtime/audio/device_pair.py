"""Open a microphone and a loudspeaker, with the pipeline between them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from gemini_live_runtime.audio.device_exchange import MakeCanceller
from gemini_live_runtime.audio.devices.opening import at_rates, more_refused, open_stream, within
from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.audio.devices.streams import DeviceStream, LoudspeakerStream, MicrophoneStream
from gemini_live_runtime.audio.interface import AudioListener, Direction
from gemini_live_runtime.audio.playback.playout import Playout
from gemini_live_runtime.audio.processing.pipeline import AudioPipeline
from gemini_live_runtime.audio.processing.worker import lead_slots
from gemini_live_runtime.records import record

CLOSE_TIMEOUT_S = 2.0


@record
class DevicePair:
    """Pipeline and the open streams of its devices; None for one that is not open."""

    pipeline: AudioPipeline
    microphone: MicrophoneStream | None
    loudspeaker: LoudspeakerStream | None
    problems: tuple[str, ...]
    """Sentences about devices that could not be opened."""

    @property
    def is_open(self) -> bool:
        """True when at least one of them is open."""
        return self.microphone is not None or self.loudspeaker is not None


async def open_pair(
    listener: AudioListener,
    portaudio: Any,
    chosen: Mapping[Direction, SoundDevice],
    make_canceller: MakeCanceller,
    *,
    playout: Playout | None = None,
    whole: bool = False,
    refused: frozenset[tuple[Direction, int]] = frozenset(),
) -> DevicePair:
    """Open the `chosen` devices, each at the first of its rates that works.

    `playout` continues another pipeline's playback. With `whole` a failure closes everything again. `refused` are rates
    that a device did not take.
    """
    chosen = at_rates(chosen, refused)
    mic_device, out_device = chosen.get("input"), chosen.get("output")
    pipeline = AudioPipeline(
        listener,
        make_canceller(mic_device, out_device),
        mic_rate=mic_device.rate if mic_device else None,
        out_rate=out_device.rate if out_device else None,
        playout=playout,
    )

    async def open_at_another_rate(refused: frozenset[tuple[Direction, int]]) -> DevicePair:
        return await open_pair(
            listener, portaudio, chosen, make_canceller, playout=pipeline.playout, whole=whole, refused=refused
        )

    problems: list[str] = []
    loudspeaker = microphone = None
    if out_device is not None and pipeline.playout.ring is not None and pipeline.played is not None:
        loudspeaker = LoudspeakerStream(out_device, pipeline.playout.ring, pipeline.played)
        problem = await open_stream(loudspeaker, portaudio)
        if problem and (others := more_refused(loudspeaker, refused)):
            return await open_at_another_rate(others)
        if problem:
            problems.append(problem)
            loudspeaker = None
            if not whole:
                pipeline.lose_output()
        else:
            pipeline.playout.lead = lead_slots(loudspeaker.block_ms)
    if mic_device is not None and pipeline.microphone is not None:
        microphone = MicrophoneStream(mic_device, pipeline.microphone)
        try:
            problem = await open_stream(microphone, portaudio)
        except BaseException:
            if loudspeaker is not None:
                loudspeaker.close()
            raise
        if problem and (others := more_refused(microphone, refused)):
            await within(functools.partial(close_streams, loudspeaker), CLOSE_TIMEOUT_S, None)
            return await open_at_another_rate(others)
        if problem:
            problems.append(problem)
            microphone = None
            pipeline.lose_input()
    if whole and problems:
        await within(functools.partial(close_streams, microphone, loudspeaker), CLOSE_TIMEOUT_S, None)
        microphone = loudspeaker = None
    return DevicePair(pipeline, microphone, loudspeaker, tuple(problems))


def close_streams(*streams: DeviceStream | None) -> None:
    """Close what is open of `streams`; blocks for as long as the sound system does."""
    for stream in streams:
        if stream is not None:
            stream.close()
