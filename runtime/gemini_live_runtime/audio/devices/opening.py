"""Find PortAudio's devices, choose among them and open their streams.

Calls into a sound system may block for ever, so each runs in a daemon thread with a time limit and is abandoned then.
"""

from __future__ import annotations

import asyncio
import atexit
import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from gemini_live_runtime.audio.devices.probe import NO_PORTAUDIO
from gemini_live_runtime.audio.devices.selection import DeviceList, SoundDevice, select_device
from gemini_live_runtime.audio.devices.streams import DeviceStream, closing_hangs, rates_of
from gemini_live_runtime.audio.interface import Direction
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.text import sanitise_line
from gemini_live_runtime.threads import call_in_thread

OPEN_TIMEOUT_S = 5.0
NO_ANSWER = DeviceList((), "The sound system does not respond.")

T = TypeVar("T")


def import_portaudio() -> Any:
    """Return the `sounddevice` module.

    Raises DeviceError when it or the PortAudio library is missing, or when this version cannot be ended safely.
    """
    try:
        import sounddevice
    except (ImportError, OSError):
        raise DeviceError(NO_PORTAUDIO, field="sound") from None
    except Exception as error:
        raise DeviceError(f"PortAudio cannot start: {sanitise_line(str(error), 120)}", field="sound") from None
    _end_without_hanging(sounddevice)
    return sounddevice


@functools.cache
def _end_without_hanging(portaudio: Any) -> None:
    """Replace sounddevice's exit handler, which hangs on a frozen sound server.

    Raises DeviceError for a version that names its handler otherwise: with it the program could hang at its end.
    """
    terminate = getattr(portaudio, "_exit_handler", None)
    if terminate is None:
        version = getattr(portaudio, "__version__", "of an unknown version")
        raise DeviceError(
            f"sounddevice {version} cannot be used: it has no exit handler that could be replaced",
            remedy="Install a tested version: pip install 'sounddevice==0.5.*'",
            field="sound",
            value=version,
        )

    def end() -> None:
        if not closing_hangs():
            terminate()

    atexit.unregister(terminate)
    atexit.register(end)


async def within(work: Callable[[], T], timeout: float, otherwise: T) -> T:
    """Run `work` in a daemon thread; return `otherwise` after `timeout` seconds."""
    try:
        return await asyncio.wait_for(call_in_thread(work, "audio-open"), timeout)
    except TimeoutError:
        return otherwise


def known_device(portaudio: Any, device: SoundDevice) -> SoundDevice | None:
    """Return `device` as PortAudio numbers it, None where that does not list it."""
    from gemini_live_runtime.audio.devices.probe import describe

    try:
        here = describe(portaudio)
    except Exception as error:
        raise _not_listed(error) from None
    same = [one for one in here if (one.name, one.host_api) == (device.name, device.host_api)]
    return replace(device, index=same[0].index) if len(same) == 1 else None


def same_devices(portaudio: Any, found: DeviceList, restart: bool = False) -> tuple[SoundDevice, ...]:
    """Return the devices as this process numbers them.

    PortAudio lists devices only when it starts, so it is restarted when its list differs from the child's, or with
    `restart`.
    """
    from gemini_live_runtime.audio.devices.probe import describe

    try:
        here = describe(portaudio)
        if restart or here != found.devices:
            portaudio._terminate()
            portaudio._initialize()
            here = describe(portaudio)
    except Exception as error:
        raise _not_listed(error) from None
    return here


def _not_listed(error: Exception) -> DeviceError:
    return DeviceError(f"The sound devices could not be listed: {sanitise_line(str(error), 120)}", field="sound")


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
