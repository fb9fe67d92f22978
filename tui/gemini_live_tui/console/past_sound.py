"""Play the sound of the session's past while the cursor plays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_tui.session_data.sound_playback import SoundPlayback

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext


class PastSound:
    """Sound of the past, restarted whenever the cursor jumps or changes its speed."""

    def __init__(self, console: ConsoleContext) -> None:
        self._console = console
        self._store = console.store
        self._playback: SoundPlayback | None = None
        self._jumps = -1
        self._speed = 1.0

    @property
    def note(self) -> str:
        """State of the playback for the time travel row; "" while nothing is played."""
        return self._playback.note if self._playback is not None else ""

    def follow(self) -> None:
        """Bring sound and cursor together; called with every frame."""
        cursor = self._store.cursor
        if not cursor.playing:
            self.stop()
            return
        jumped = cursor.jumps != self._jumps or cursor.speed != self._speed
        if self._playback is None or jumped:
            self.stop()
            self._start()
        elif self._playback.position is not None:
            cursor.hear(self._playback.position)

    def _start(self) -> None:
        store, cursor = self._store, self._store.cursor
        self._jumps, self._speed = cursor.jumps, cursor.speed
        folder = store.hello.folder if store.hello is not None else ""
        if store.history is not None and folder:
            self._playback = SoundPlayback(
                store.history,
                Path(folder),
                begin=cursor.playhead,
                speed=cursor.speed,
                device=self._console.settings.devices()[1],
                on_change=store.wake,
            )

    def stop(self) -> None:
        """Stop playing."""
        if self._playback is not None:
            self._playback.stop()
            self._playback = None

    async def close(self) -> None:
        """Stop playing for good; return when the player process has ended."""
        playback = self._playback
        self.stop()
        if playback is not None:
            await playback.gone()
