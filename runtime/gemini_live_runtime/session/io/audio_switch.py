"""Switch a session's microphone and speaker, by the names of the field."""

from __future__ import annotations

from collections.abc import Awaitable, Callable


class AudioSwitch:
    """Switch of the microphone or the speaker; it holds nothing of its own."""

    def __init__(self, is_on: Callable[[], bool], switch: Callable[[bool], Awaitable[None]]) -> None:
        self._is_on = is_on
        self._switch = switch

    @property
    def audio_enabled(self) -> bool:
        """True while the sound is on."""
        return self._is_on()

    async def set_audio_enabled(self, enabled: bool) -> None:
        """Switch the sound on or off; raises `GeminiLiveError` where that cannot be."""
        await self._switch(bool(enabled))
