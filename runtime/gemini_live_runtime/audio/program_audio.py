"""Sound in the hands of the program that embeds a session: it brings the microphone and plays the model itself."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime.audio.file_audio import FileAudio
from gemini_live_runtime.audio.interface import MIC_RATE, AudioListener, AudioOpened, OpenDevice


class ProgramAudio(FileAudio):
    """An `AudioIO` without devices of its own.

    Microphone audio comes in through the session's handle. The model's audio goes out through `on_audio` and is taken
    to be heard at the pace at which it plays, so that an interruption knows what was said aloud.
    """

    def __init__(self) -> None:
        super().__init__(None, None)

    async def open(self, listener: AudioListener) -> AudioOpened:
        """Nothing can fail: there is an input as soon as the program says something."""
        opened = await super().open(listener)
        return replace(opened, input=OpenDevice("input", "the program", MIC_RATE, 0.0))
