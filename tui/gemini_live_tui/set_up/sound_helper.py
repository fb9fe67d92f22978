"""Test sound in a helper process: the console itself never opens devices."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gemini_live_runtime
from gemini_live_runtime.wire.credentials import SECRET_VARIABLES

Report = dict[str, Any]
CLOSE_S = 2.0
_FOLDER = str(Path(gemini_live_runtime.__file__).resolve().parents[1])


class SoundHelper:
    """Client of the helper process.

    Starts it on the first order and calls `on_report` with the reports of the latest order.
    """

    def __init__(self, on_report: Callable[[Report], None]) -> None:
        self._on_report = on_report
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._serial = 0

    async def order(self, name: str, *, input: str = "", output: str = "") -> None:
        """Order `levels`, `microphone`, `echo` or `stop`; drop reports of earlier orders."""
        self._serial += 1
        serial = self._serial
        if self._process is None:
            if name == "stop":
                return
            try:
                self._process = await _start()
            except OSError as error:
                self._on_report(
                    {"report": "problem", "text": f"The sound cannot be tested: {error.strerror or error}."}
                )
                return
            self._reading = asyncio.create_task(self._read(self._process))
        if serial != self._serial:
            return
        line = json.dumps({"order": name, "serial": serial, "input": input, "output": output})
        assert self._process.stdin is not None
        with contextlib.suppress(ConnectionError):
            self._process.stdin.write(f"{line}\n".encode())
            await self._process.stdin.drain()

    async def close(self) -> None:
        """End the helper; it closes its devices itself, within `CLOSE_S`."""
        process, self._process = self._process, None
        reading, self._reading = self._reading, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), CLOSE_S)
        except TimeoutError:
            process.kill()
            await process.wait()
        if reading is not None:
            await asyncio.gather(reading, return_exceptions=True)

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            try:
                report = json.loads(line)
            except ValueError:
                continue
            if isinstance(report, dict) and report.get("serial") == self._serial:
                self._on_report(report)
        if self._process is process:
            # It ended by itself: some sound systems abort a process that lists or opens devices.
            self._process = None
            code = await process.wait()
            self._on_report(
                {"report": "problem", "text": f"The sound system ended the test ({code}). Try another device."}
            )


async def _start() -> asyncio.subprocess.Process:
    path = os.pathsep.join(part for part in (_FOLDER, os.environ.get("PYTHONPATH", "")) if part)
    environment = {name: value for name, value in os.environ.items() if name not in SECRET_VARIABLES}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "gemini_live_runtime.audio.checks.device_helper"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**environment, "PYTHONPATH": path},
    )
