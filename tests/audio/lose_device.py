"""Open the devices in a child of the tests and print each lost one.

The tests stop or kill the sound server meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import sys

from gemini_live_runtime.audio.device_audio import DeviceAudio
from gemini_live_runtime.audio.interface import AudioOpened, MicChunk


class Listener:
    """Collects losses and tells when the microphone has begun."""

    def __init__(self) -> None:
        self.lost: list[tuple[str, str]] = []
        self.capturing = asyncio.Event()
        self.both_lost = asyncio.Event()

    def on_mic_chunk(self, chunk: MicChunk) -> None:
        self.capturing.set()

    def on_device_lost(self, direction: str, reason: str) -> None:
        self.lost.append((direction, reason))
        if len(self.lost) == 2:
            self.both_lost.set()

    def on_devices_opened(self, opened: AudioOpened) -> None: ...

    def on_playback_started(self, gen: int) -> None: ...

    def on_playback_heard(self, gen: int, first: int, count: int, heard_at: float | None = None) -> None: ...

    def on_playback_drained(self, gen: int) -> None: ...

    def on_voice(self, speaking: bool) -> None: ...

    def on_echo_warning(self, leaking: bool) -> None: ...


async def main(patience_s: float) -> None:
    """Open, wait for the loss, close."""
    listener = Listener()
    audio = DeviceAudio()
    opened = await audio.open(listener)
    print(json.dumps({"problems": opened.problems}), flush=True)
    if opened.problems:
        return
    async with asyncio.timeout(patience_s):
        await listener.capturing.wait()
    print(json.dumps({"capturing": True}), flush=True)
    async with asyncio.timeout(patience_s):
        await listener.both_lost.wait()
    audio.play(1, b"\x01\x00" * 2400)
    audio.end_of_turn(1)
    # Playing must not keep it from closing: nothing takes the sound.
    await audio.close()
    print(json.dumps({"lost": listener.lost}), flush=True)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))
    sys.exit(0)
