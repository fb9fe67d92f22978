"""Keep what `calibrate` measured, or a call learned, for each pair of devices.

One JSON file in the state folder, readable by this user alone. A measurement is a hint: the same name may stand for
other devices tomorrow ("default"), and a delay differs by some milliseconds at each start. So a canceller begins with
it, and believes what it hears.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gemini_live_runtime import paths
from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.records import record

FILE = "calibration.json"
MAX_PAIRS = 32
"""Pairs of devices kept; the oldest measurement goes first."""

MAX_FILE_BYTES = 1 << 20
MAX_RESPONSE = 4_000


@record
class EchoPath:
    """Way from a loudspeaker to a microphone at `measured_at` (Unix seconds)."""

    measured_at: float
    room_db: float
    """Level of the room in the microphone, dBFS."""
    delay_ms: float | None = None
    """Time from a frame for `EchoCanceller.render` to its echo in `capture`; None when nothing comes back."""
    level_db: float | None = None
    """Power of the echo relative to the played sound, in dB; None when nothing comes back."""
    response: tuple[float, ...] = ()
    """Impulse response at 16 kHz from `RESPONSE_LEAD_MS` before `delay_ms` on, or empty."""
    voice_db: float | None = None
    """Level of the voice in the microphone, dBFS; None without any."""
    is_learned: bool = False
    """True when it was learned in a call, not measured by `calibrate`."""


RESPONSE_LEAD_MS = 2.0


def echo_paths_file() -> Path:
    """Return the file of all measurements; it may not exist."""
    return paths.state_dir() / FILE


def stored_echo_path(input: SoundDevice, output: SoundDevice) -> EchoPath | None:
    """Return the measurement of a pair of devices; None without a usable one."""
    pair = _pair(input, output)
    return next((path for found, path in _stored() if found == pair), None)


def store_echo_path(input: SoundDevice, output: SoundDevice, path: EchoPath) -> Path:
    """Store a measurement in place of the pair's earlier one; return the file.

    Raises `OSError`.
    """
    pair = _pair(input, output)
    kept = [(found, old) for found, old in _stored() if found != pair][1 - MAX_PAIRS :]
    file = echo_paths_file()
    paths.private_dir(file.parent)
    values = [{"pair": list(found), **asdict(measured)} for found, measured in (*kept, (pair, path))]
    paths.write_private(file, {"version": 1, "pairs": values})
    return file


def remember_echo_path(input: SoundDevice, output: SoundDevice, path: EchoPath) -> None:
    """Store what a call learned, unless the pair was measured.

    Raises `OSError`.
    """
    stored = stored_echo_path(input, output)
    if stored is None or stored.is_learned:
        store_echo_path(input, output, path)


def no_echo_path(input: SoundDevice, output: SoundDevice) -> None:
    """Return None: nothing is known of any devices."""


_Pair = tuple[str, str, str, str]


def _pair(input: SoundDevice, output: SoundDevice) -> _Pair:
    # Numbers change when a device is plugged in; names and sound systems stay.
    return input.host_api, input.name, output.host_api, output.name


def _stored() -> list[tuple[_Pair, EchoPath]]:
    try:
        values = json.loads(paths.read_regular(echo_paths_file(), MAX_FILE_BYTES))["pairs"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
    found = (_from_json(value) for value in values if isinstance(value, dict)) if isinstance(values, list) else ()
    return [entry for entry in found if entry is not None]


def _from_json(value: dict[str, Any]) -> tuple[_Pair, EchoPath] | None:
    try:
        input_api, input_name, output_api, output_name = (str(part) for part in value["pair"])
        response = tuple(float(part) for part in value["response"])
        path = EchoPath(
            measured_at=float(value["measured_at"]),
            room_db=float(value["room_db"]),
            delay_ms=_number(value["delay_ms"]),
            level_db=_number(value["level_db"]),
            response=response,
            voice_db=_number(value["voice_db"]),
            is_learned=value.get("is_learned") is True,
        )
    except (KeyError, TypeError, ValueError):
        return None
    numbers = (path.measured_at, path.room_db, path.delay_ms or 0.0, path.level_db or 0.0, path.voice_db or 0.0)
    if len(response) > MAX_RESPONSE or not all(map(math.isfinite, (*numbers, *response))):
        return None
    return (input_api, input_name, output_api, output_name), path


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
