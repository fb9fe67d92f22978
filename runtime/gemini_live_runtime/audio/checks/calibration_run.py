"""Calibrate this machine's devices in a child process.

Some sound systems abort the process that uses them. Started as `python -m
gemini_live_runtime.audio.checks.calibration_run MICROPHONE SPEAKER [--voice]`; a device is a number, a part of a name,
or "" for the default. Prints one JSON object a line: `devices`, a `step` as each begins, then `result` or `problem`.
The result is stored.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import TextIO

from gemini_live_runtime.audio.checks.calibration import FrameRecorder, calibrate, describe, judge
from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.devices.native_stderr import private_stdout
from gemini_live_runtime.audio.devices.probe import list_here
from gemini_live_runtime.audio.devices.selection import SoundDevice
from gemini_live_runtime.audio.echo.echo_path import EchoPath, echo_paths_file, store_echo_path
from gemini_live_runtime.errors import DeviceError, write_remedy

_ATTEMPTS = 5
"""Measurements until one has a steady delay."""


async def run(out: TextIO, input: str, output: str, *, voice: bool) -> None:
    """Measure the devices, store what was found and report it to `out`."""

    def report(**values: object) -> None:
        out.write(json.dumps(values) + "\n")
        out.flush()

    pair: list[tuple[SoundDevice, SoundDevice]] = []

    def opened(microphone: SoundDevice, speaker: SoundDevice) -> None:
        pair.append((microphone, speaker))
        report(report="devices", input=microphone.name, output=speaker.name)

    async def measured() -> EchoPath:
        recorder = FrameRecorder()
        return await calibrate(
            DeviceAudio(input or None, output or None, echo_path=opened, canceller=lambda _: recorder, probe=list_here),
            recorder,
            voice=voice,
            on_step=lambda name, seconds: report(report="step", step=name, seconds=seconds),
        )

    try:
        found = await _until_steady(measured, lambda: report(report="again"))
        file = store_echo_path(*pair[-1], found)
    except DeviceError as error:
        report(report="problem", text=error.message, remedy=error.remedy)
    except OSError as error:
        text = f"The result cannot be stored: {error.strerror or error}"
        report(report="problem", text=text, remedy=write_remedy(error, echo_paths_file().parent))
    else:
        verdict = judge(found)
        judged = {"verdict": verdict.text, "remedy": verdict.remedy}
        report(report="result", text=describe(found), file=str(file), **judged, **asdict(found))


async def _until_steady(measured: Callable[[], Awaitable[EchoPath]], again: Callable[[], None]) -> EchoPath:
    """Return the first measurement during which the delay stayed; raise `DeviceError`.

    Another program may take the processor for a moment, which loses samples.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return await measured()
        except DeviceError as error:
            if error.field != "delay":
                raise
            again()
    return await measured()


def main() -> None:
    """Run with the devices of the command line, with C libraries silenced."""
    input, output, *rest = sys.argv[1:]
    try:
        with private_stdout() as stream:
            asyncio.run(run(stream, input, output, voice="--voice" in rest))
    except BrokenPipeError:
        # Nobody waits for the result any more.
        os._exit(0)


if __name__ == "__main__":
    main()
