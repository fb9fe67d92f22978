"""Choose among PortAudio's devices and open their streams.

Calls into a sound system may block for ever, so each runs in a daemon thread with a time limit and is abandoned then.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from gemini_live_runtime.audio.devices.selection import DeviceList, SoundDevice, select_device
from gemini_live_runtime.audio.devices.streams import DeviceStream, rates_of
from gemini_live_runtime.audio.interface import Direction
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.text import sanitise_line
from gemini_live_runtime.threads import call_in_thread

OPEN_TIMEOUT_S = 5.0
NO_ANSWER = DeviceList((), "The sound system does not respond.")

T = TypeVar("T")


async def within(work: Callable[[], T], timeout: float, otherwise: T) -> T:
    """Run `work` in a daemon thread; return `otherwise` after `timeout` seconds."""
    try:
        return await asyncio.wait_for(call_in_thread(work, "audio-open"), timeout)
    except TimeoutError:
        return otherwise


def at_rates(
    chosen: Mapping[Direction, SoundDevice], refused: frozenset[tuple[Direction, int]]
) -> dict[Direction, SoundDevice]:
    """Return the devices, each with the first rate that it has not refused."""
    left = {side: [rate for rate in rates_of(device) if (side, rate) not in refused] for side, device in chosen.items()}
    return {side: replace(device, rate=left[side][0]) for side, device in chosen.items()}


def more_refused(
    stream: DeviceStream, refused: frozenset[tuple[Direction, int]]
) -> frozenset[tuple[Direction, int]] | None:
    """Return `refused` with the rate of `stream`; None when there is no other to try."""
    more = refused | {(stream.direction, stream.device.rate)}
    left = any((stream.direction, rate) not in more for rate in rates_of(stream.device))
    return more if stream.rate_refused and left else None


def selected_devices(
    devices: Sequence[SoundDevice],
    wanted: Mapping[Direction, str | None],
    open_before: Mapping[Direction, DeviceStream | None],
    *,
    strict: bool = True,
) -> dict[Direction, SoundDevice]:
    """Return the device for each direction.

    With `strict`, raise DeviceError if one that is named or was open is missing.
    """
    chosen: dict[Direction, SoundDevice] = {}
    for direction, name in wanted.items():
        try:
            chosen[direction] = select_device(devices, name, direction)
        except DeviceError:
            if strict and (name or open_before.get(direction) is not None):
                raise
    return chosen


async def open_stream(stream: DeviceStream, portaudio: Any) -> str:
    """Open `stream`; return "" or the reason why it could not be opened."""
    given_up = threading.Event()

    def work() -> str:
        try:
            stream.open(portaudio)
        except DeviceError as error:
            return str(error)
        if given_up.is_set():
            stream.close()
        return ""

    noun = "microphone" if stream.direction == "input" else "loudspeaker"
    hung = f"The {noun} {sanitise_line(stream.device.name, 60)!r} did not open within {OPEN_TIMEOUT_S:g} s."
    try:
        problem = await within(work, OPEN_TIMEOUT_S, hung)
    except BaseException:
        # The session ended while the device opens. The thread goes on and must close what it opens.
        given_up.set()
        raise
    if problem is hung:
        given_up.set()
    return problem
