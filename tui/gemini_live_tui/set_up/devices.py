"""The sound devices to choose from, and what is written of a choice."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from gemini_live_runtime.audio.devices import SoundDevice, select_device
from gemini_live_runtime.audio.interface import Direction
from gemini_live_runtime.audio.probe import list_devices
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.text import sanitise_line

__all__ = ["Direction", "Found", "Offer", "find", "offers"]


@dataclass(frozen=True, slots=True)
class Offer:
    """One row: `value` is what the config holds ("" is the system's choice), the rest is fit to be shown."""

    value: str
    name: str
    detail: str
    default: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """What there is: devices, or a sentence about why there are none."""

    devices: tuple[SoundDevice, ...]
    problem: str


async def find() -> Found:
    """Ask the sound system, in a process of its own, outside the loop."""
    listed = await asyncio.to_thread(list_devices)
    return Found(listed.devices, sanitise_line(listed.problem))


def offers(devices: Sequence[SoundDevice], direction: Direction) -> list[Offer]:
    """The rows of one direction, the system's choice first."""
    usable = [device for device in devices if device.channels(direction)]
    if not usable:
        return []
    chosen = select_device(devices, None, direction)
    return [
        Offer("", "System default", sanitise_line(chosen.name, 40)),
        *(
            Offer(
                _written(devices, device, direction),
                sanitise_line(device.name, 60),
                f"{sanitise_line(device.host_api, 20)}  {device.channels(direction)} ch  {device.rate / 1000:g} kHz",
                device.is_default(direction),
            )
            for device in usable
        ),
    ]


def current(devices: Sequence[SoundDevice], wanted: str, direction: Direction) -> int | None:
    """The row of `offers` that the config's `wanted` means; None when it means none of them."""
    if not wanted:
        return 0
    try:
        meant = select_device(devices, wanted, direction)
    except DeviceError:
        return None
    usable = [device for device in devices if device.channels(direction)]
    return usable.index(meant) + 1


def _written(devices: Sequence[SoundDevice], device: SoundDevice, direction: Direction) -> str:
    """The device's name where that means it and nothing else: numbers change when something is plugged in."""
    name = device.name.strip()
    try:
        if name and not name.isdecimal() and select_device(devices, name, direction) == device:
            return name
    except DeviceError:
        pass
    return str(device.index)
