"""Leave sound to the program that embeds a session."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.interface import MIC_RATE, AudioListener, AudioOpened, OpenDevice


class ProgramAudio(FileAudio):
    """`AudioIO` without devices.

    Microphone audio comes in through the session's handle. The model's audio goes out through `on_audio` and counts as
    heard in real time, so that an interruption knows how much was played.
    """

    def __init__(self) -> None:
        super().__init__(None, None)

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Open; the program itself is the input."""
        opened = await super().open(listener)
        return replace(opened, input=OpenDevice("input", "the program", MIC_RATE, 0.0))
