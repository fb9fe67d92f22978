"""Wait for changes of a session: a condition, quiet, or the end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from gemini_live_runtime.audio.interface import AudioIO

PLAYING_CHECK_S = 0.05
"""Seconds between looks at a speaker that plays, while something waits for quiet."""


class Changes:
    """Changes of a session, for those who wait for one."""

    def __init__(self, audio: AudioIO, done: asyncio.Future[int]) -> None:
        self._audio = audio
        self._done = done
        self._changed = asyncio.Event()
        self.note = self._changed.set
        """Function to call after each change."""

    async def until(self, condition: Callable[[], bool]) -> None:
        """Return once a condition holds, or the session is over."""
        while not (condition() or self._done.done()):
            await self._next()

    async def until_quiet(self, seconds: float, is_quiet: Callable[[], bool], is_ready: Callable[[], bool]) -> None:
        """Return once it was quiet for `seconds`, or the session is over.

        The quiet counts from when `is_ready`.
        """
        while not self._done.done():
            if not (is_quiet() and is_ready()):
                await self._next()
                continue
            if seconds <= 0:
                return
            try:
                async with asyncio.timeout(seconds):
                    while is_quiet() and not self._done.done():
                        await self._next()
            except TimeoutError:
                return

    async def _next(self) -> None:
        self._changed.clear()
        # A speaker that drops what it had queued does not say so: look again.
        again_s = PLAYING_CHECK_S if self._audio.playing else None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(again_s):
                await self._changed.wait()
