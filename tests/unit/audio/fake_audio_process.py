"""Run the audio process on fake devices with a clock of their own.

What is played is recorded. `fake_audio_process.py BLOCKS MODE MEMORY ENGINE_PID` counts its blocks of 10 ms in the file
BLOCKS. The modes are
`loop`; `vanish`, where the microphone goes after 30 blocks; `refuse`, where the process ends when it opens the devices;
`abort`, where the sound system aborts it; and `impatient`, where the engine has one second to send something.
"""

from __future__ import annotations

import mmap
import os
import struct
import sys
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.unit.audio.audio_support import FakePortAudio  # noqa: E402

from gemini_live_runtime.audio.device_audio import DeviceAudio  # noqa: E402
from gemini_live_runtime.audio.process import process_host  # noqa: E402
from gemini_live_runtime.audio.processing import worker  # noqa: E402

# On a busy machine callbacks may be seconds apart.
worker.SILENT_AFTER_S = worker.FIRST_CALLBACK_S = 1000.0


def run_devices(fake: FakePortAudio, blocks: mmap.mmap, mode: str) -> None:
    """Call the open streams every 10 ms; after a late call, do not hurry."""
    count = 0
    while True:
        time.sleep(0.01)
        played = None
        for direction in ("output", "input"):
            if not any(stream.direction == direction and stream.active for stream in fake.streams):
                continue
            stream = fake.stream(direction)
            if direction == "output":
                played = stream.call()[:, 0]
            elif played is not None:
                stream.call(played)
                count += 1
                struct.pack_into("<q", blocks, 0, count)
                if mode == "vanish" and count == 30:
                    fake.refuse["input"] = fake.PortAudioError("Device unavailable", -9985)
                    stream.end()


def main() -> None:
    """Run the audio process."""
    counter, mode = sys.argv[1:3]
    del sys.argv[1:3]
    fake = FakePortAudio()
    with open(counter, "r+b") as file:
        blocks = mmap.mmap(file.fileno(), 8)
    threading.Thread(target=run_devices, args=(fake, blocks, mode), daemon=True).start()

    def make(**options: Any) -> DeviceAudio:
        if mode == "refuse":
            os._exit(7)
        if mode == "abort":
            os.abort()
        return DeviceAudio(**options, load=lambda: fake, probe=fake.found)

    if mode == "impatient":
        process_host.ENGINE_SILENT_BEATS = 4
    process_host.main(make)


if __name__ == "__main__":
    main()
