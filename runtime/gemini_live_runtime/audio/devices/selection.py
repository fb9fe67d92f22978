"""Describe sound devices and select one by number or name."""

from __future__ import annotations

from collections.abc import Sequence

from gemini_live_runtime.audio.interface import Direction
from gemini_live_runtime.errors import DeviceError
from gemini_live_runtime.records import record
from gemini_live_runtime.text import sanitise_line

_LISTED = 8


@record
class SoundDevice:
    """Sound device as the sound system lists it; `rate` is its default in Hz."""

    index: int
    name: str
    host_api: str
    input_channels: int
    output_channels: int
    rate: int
    is_default_input: bool = False
    is_default_output: bool = False

    def channels(self, direction: Direction) -> int:
        """Return the number of channels in `direction`."""
        return self.input_channels if direction == "input" else self.output_channels

    def is_default(self, direction: Direction) -> bool:
        """Return True when it is the sound system's default for `direction`."""
        return self.is_default_input if direction == "input" else self.is_default_output


@record
class DeviceList:
    """Devices found by a probe; `problem` is a sentence if sound is unusable, else ""."""

    devices: tuple[SoundDevice, ...]
    problem: str = ""


def select_device(devices: Sequence[SoundDevice], wanted: str | None, direction: Direction) -> SoundDevice:
    """Return the device that `wanted` names: an index, a name or a part of one.

    Case does not matter; None is the default device.

    An exact name wins over parts of names, the default device over others of the same name. Raises DeviceError, listing
    the devices, when none or more than one matches.
    """
    usable = [device for device in devices if device.channels(direction) > 0]
    noun = "microphone" if direction == "input" else "loudspeaker"
    if not usable:
        raise DeviceError(
            f"No {noun} was found", remedy="Plug one in, or go on in text mode", field=direction, value=wanted
        )
    if wanted is None or not wanted.strip():
        return next((device for device in usable if device.is_default(direction)), usable[0])
    wanted = wanted.strip()
    if wanted.isascii() and wanted.isdecimal():
        for device in usable:
            if device.index == int(wanted):
                return device
        other = next((device for device in devices if device.index == int(wanted)), None)
        if other is not None:
            raise DeviceError(
                f"Device {wanted}, {sanitise_line(other.name, 60)!r}, is no {noun}; there is {_listed(usable)}",
                remedy="Give one of these names or numbers",
                field=direction,
                value=wanted,
            )
        raise _no_such(usable, wanted, noun, direction)
    folded = wanted.casefold()
    fitting = [device for device in usable if device.name.casefold() == folded] or [
        device for device in usable if folded in device.name.casefold()
    ]
    if not fitting:
        raise _no_such(usable, wanted, noun, direction)
    if len(fitting) > 1:
        same_name = len({device.name for device in fitting}) == 1
        default = next((device for device in fitting if device.is_default(direction)), None)
        if same_name:
            return default or fitting[0]
        raise DeviceError(
            f"More than one {noun} is called {sanitise_line(wanted, 60)!r}: {_listed(fitting)}",
            remedy="Give more of the name, or the number",
            field=direction,
            value=wanted,
        )
    return fitting[0]


def _no_such(usable: Sequence[SoundDevice], wanted: str, noun: str, direction: Direction) -> DeviceError:
    return DeviceError(
        f"There is no {noun} {sanitise_line(wanted, 60)!r}; there is {_listed(usable)}",
        remedy="Give one of these names or numbers",
        field=direction,
        value=wanted,
    )


def _listed(devices: Sequence[SoundDevice]) -> str:
    names = [f"{device.index} {sanitise_line(device.name, 60)!r}" for device in devices[:_LISTED]]
    more = len(devices) - _LISTED
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")
