"""Play sound in a child process of the console.

Started as `python -m gemini_live_runtime.audio.checks.player [DEVICE]`. The console opens no device itself. Standard
input is mono s16le at 24 kHz. Its end stops the sound at once: to play everything, the console waits until `position`
has reached the samples written. At most `MAX_WAITING_S` are read ahead of playback. Reports on standard output are
JSON, one object a line: `{"report": "opened", "output": NAME}`, `{"report": "position", "samples": N}` with the
samples played so far, and `{"report": "problem", "text": SENTENCE}`, after which the process ends with status 1. A
broken sound system may abort the process without a report: then `probe.read_answer(status, b"").problem` is the
sentence.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, TextIO

from gemini_live_runtime.audio.checks.device_helper import HelperListener, open_devices
from gemini_live_runtime.audio.devices.native_stderr import private_stdout
from gemini_live_runtime.audio.interface import MODEL_RATE, AudioIO
from gemini_live_runtime.threads import start_daemon_thread

AHEAD_S = 0.5
"""Seconds of sound queued in the `AudioIO`."""

MAX_WAITING_S = 60

REPORT_EVERY_S = 0.05

_BLOCK_BYTES = MODEL_RATE // 10 * 2
_GEN = 1
"""Generation of all audio played here."""

Report = Callable[[dict[str, Any]], None]


class Player:
    """Plays queued blocks (s16le) and reports the position, until `stop`."""

    def __init__(self, report: Report, audio: AudioIO) -> None:
        self.blocks: asyncio.Queue[bytes] = asyncio.Queue(MAX_WAITING_S * MODEL_RATE * 2 // _BLOCK_BYTES)
        self._report = report
        self._audio = audio
        self._listener = HelperListener()
        self._stopped = asyncio.Event()
        self._odd = b""
        self._queued = 0
        self._reported = 0

    def stop(self) -> None:
        """Stop playing."""
        self._stopped.set()

    async def run(self) -> int:
        """Play until `stop` or the loss of the device; return the exit status.

        The device is closed afterwards.
        """
        try:
            opened = await self._audio.open(self._listener)
            if opened.output is None:
                self._report({"report": "problem", "text": " ".join(opened.problems) or "No speaker could be opened."})
                return 1
            self._report({"report": "opened", "output": opened.output.name})
            while not self._stopped.is_set():
                self._feed()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._stopped.wait(), REPORT_EVERY_S)
                self._report_position()
                if self._listener.lost:
                    self._report({"report": "problem", "text": self._listener.lost})
                    return 1
            return 0
        finally:
            self._audio.cut(_GEN + 1)
            await self._audio.close()

    def _feed(self) -> None:
        while self._queued - self._audio.played_samples(_GEN) < AHEAD_S * MODEL_RATE and not self.blocks.empty():
            pcm = self._odd + self.blocks.get_nowait()
            whole = len(pcm) // 2 * 2
            self._odd = pcm[whole:]
            if whole:
                self._audio.play(_GEN, pcm[:whole])
                self._queued += whole // 2

    def _report_position(self) -> None:
        position = self._audio.played_samples(_GEN)
        if position != self._reported:
            self._reported = position
            self._report({"report": "position", "samples": position})


async def serve(source: BinaryIO, out: TextIO, audio: AudioIO) -> int:
    """Play `source` until its end; return the exit status."""
    loop = asyncio.get_running_loop()

    def report(value: dict[str, Any]) -> None:
        out.write(json.dumps(value) + "\n")
        out.flush()

    player = Player(report, audio)

    def read() -> None:
        with contextlib.suppress(RuntimeError, concurrent.futures.CancelledError):  # the loop has ended
            while pcm := source.read1(_BLOCK_BYTES):  # type: ignore[attr-defined]
                asyncio.run_coroutine_threadsafe(player.blocks.put(pcm), loop).result()
            loop.call_soon_threadsafe(player.stop)

    start_daemon_thread(read, "sound")
    return await player.run()


def main() -> None:
    """Play standard input, with C libraries silenced."""
    device = sys.argv[1] if len(sys.argv) > 1 else None
    status = 0
    try:
        with private_stdout() as stream:
            status = asyncio.run(serve(sys.stdin.buffer, stream, open_devices(None, device, "output", False)))
    except BrokenPipeError:
        pass  # the console has gone
    # The reading thread may block for ever, so exit without joining it.
    os._exit(status)


if __name__ == "__main__":
    main()
