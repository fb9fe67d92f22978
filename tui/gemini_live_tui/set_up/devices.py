"""List the sound devices to choose from, and the config value of each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from gemini_live_runtime.audio.devices.probe import list_devices
from gemini_live_runtime.audio.devices.selection import SoundDevice, select_device
from gemini_live_runtime.audio.interface import Direction
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.records import record
from gemini_live_runtime.text import sanitise_line

__all__ = ["DeviceListing", "DeviceOption", "Direction", "device_options", "find_devices"]


@record
class DeviceOption:
    """Row of the list of devices.

    `value` is the config's value ("" is the system's default); the other texts are sanitised.
    """

    value: str
    name: str
    detail: str
    default: bool = False


@record
class DeviceListing:
    """Devices found, or a sentence about why there are none."""

    devices: tuple[SoundDevice, ...]
    problem: str


async def find_devices() -> DeviceListing:
    """List the devices in a helper process, without blocking the event loop."""
    listed = await asyncio.to_thread(list_devices)
    return DeviceListing(listed.devices, sanitise_line(listed.problem))


def device_options(devices: Sequence[SoundDevice], direction: Direction) -> list[DeviceOption]:
    """Return the rows of a direction, the system's default first."""
    usable = [device for device in devices if device.channels(direction)]
    if not usable:
        return []
    chosen = select_device(devices, None, direction)
    return [
        DeviceOption("", "System default", sanitise_line(chosen.name, 40)),
        *(
            DeviceOption(
                _written(devices, device, direction),
                sanitise_line(device.name, 60),
                f"{sanitise_line(device.host_api, 20)}  {device.channels(direction)} ch  {device.rate / 1000:g} kHz",
                device.is_default(direction),
            )
            for device in usable
        ),
    ]


def current(devices: Sequence[SoundDevice], wanted: str, direction: Direction) -> int | None:
    """Return the index in `device_options` of the config's `wanted`, or None."""
    if not wanted:
        return 0
    try:
        meant = select_device(devices, wanted, direction)
    except DeviceError:
        return None
    usable = [device for device in devices if device.channels(direction)]
    return usable.index(meant) + 1


def _written(devices: Sequence[SoundDevice], device: SoundDevice, direction: Direction) -> str:
    """Return the device's name when it is unambiguous, else its number.

    Names are preferred: numbers change when a device is plugged in.
    """
    name = device.name.strip()
    try:
        if name and not name.isdecimal() and select_device(devices, name, direction) == device:
            return name
    except DeviceError:
        pass
    return str(device.index)
