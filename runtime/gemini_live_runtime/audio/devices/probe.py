"""List the sound devices in a child process.

Some sound systems abort the process that asks them. `python -m gemini_live_runtime.audio.devices.probe` prints one
JSON object; other output is discarded.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gemini_live_runtime.audio.devices.native_stderr import private_stdout
from gemini_live_runtime.audio.devices.priority import restore_priority
from gemini_live_runtime.audio.devices.selection import DeviceList, SoundDevice
from gemini_live_runtime.wire.credentials import SECRET_VARIABLES

TIMEOUT_S = 10.0

NO_PORTAUDIO = (
    "PortAudio is not installed, so there is no sound. "
    "Install it (Debian and Ubuntu: apt install libportaudio2; macOS: brew install portaudio)."
)
NO_DEVICE = "No sound device was found."


def list_devices(timeout: float = TIMEOUT_S) -> DeviceList:
    """List this machine's devices; blocks up to `timeout` seconds, never raises."""
    folder = str(Path(__file__).resolve().parents[3])
    path = os.pathsep.join(part for part in (folder, os.environ.get("PYTHONPATH", "")) if part)
    try:
        child = subprocess.run(
            [sys.executable, "-P", "-m", "gemini_live_runtime.audio.devices.probe"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**{name: os.environ[name] for name in os.environ if name not in SECRET_VARIABLES}, "PYTHONPATH": path},
            timeout=timeout,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return DeviceList((), f"The sound system did not list its devices within {timeout:g} s. Restart it.")
    except OSError as error:
        return DeviceList((), f"The sound devices could not be listed: {error.strerror or error}.")
    return read_answer(child.returncode, child.stdout)


def read_answer(code: int, output: bytes) -> DeviceList:
    """Return the device list from a child's exit `code` and `output`."""
    try:
        answer = json.loads(output)
        devices = tuple(SoundDevice(**device) for device in answer["devices"])
        problem = str(answer["problem"])
    except (ValueError, KeyError, TypeError):
        if code < 0:
            return DeviceList(
                (),
                f"The sound system aborts programs that ask it for devices ({_signal_name(-code)}). "
                "Its configuration is probably empty or broken (on Linux: ~/.asoundrc, ALSA_CONFIG_PATH).",
            )
        return DeviceList((), f"The sound devices could not be listed (the child process ended with {code}).")
    return DeviceList(devices, problem or ("" if devices else NO_DEVICE))


def describe(portaudio: Any) -> tuple[SoundDevice, ...]:
    """Return the devices that a `sounddevice` module lists; raise its errors."""
    default_input, default_output = portaudio.default.device[0], portaudio.default.device[1]
    apis = [api["name"] for api in portaudio.query_hostapis()]
    return tuple(
        SoundDevice(
            index=index,
            name=str(device["name"]),
            host_api=apis[device["hostapi"]],
            input_channels=int(device["max_input_channels"]),
            output_channels=int(device["max_output_channels"]),
            rate=_whole(device["default_samplerate"]),
            is_default_input=index == default_input,
            is_default_output=index == default_output,
        )
        for index, device in enumerate(portaudio.query_devices())
    )


def _whole(rate: float) -> int:
    """Return a rate in Hz; 0, as if none was listed, for one that is no number."""
    return round(rate) if math.isfinite(rate) else 0


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def list_here() -> DeviceList:
    """List the devices in this process, which a broken sound system may abort."""
    try:
        import sounddevice
    except (ImportError, OSError):
        return DeviceList((), NO_PORTAUDIO)
    devices = describe(sounddevice)
    return DeviceList(devices, "" if devices else NO_DEVICE)


def _answer() -> DeviceList:
    try:
        return list_here()
    except Exception as error:
        return DeviceList((), f"The sound devices could not be listed: {error}.")


def main() -> None:
    """Print the answer to standard output, with C libraries silenced."""
    restore_priority()
    with private_stdout() as stream:
        json.dump(asdict(_answer()), stream)


if __name__ == "__main__":
    main()
