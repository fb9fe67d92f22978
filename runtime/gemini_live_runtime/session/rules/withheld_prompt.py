"""Ask the rules again about a prompt that could not be given at its moment.

The end of a turn or of playback is an event of its own, and asks them. Not everything that stands in the way has one:
a speaker that the session stops obeys a little later, and says nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


class WithheldPrompt:
    """Prompt of one session that waits until no answer is pending."""

    def __init__(
        self,
        until: Callable[[Callable[[], bool]], Awaitable[None]],
        is_floor_taken: Callable[[], bool],
        release: Callable[[], None],
    ) -> None:
        """`until(condition)` returns once a condition holds; `release()` asks the rules."""
        self._until = until
        self._is_floor_taken = is_floor_taken
        self._release = release
        self._waiting: asyncio.Task[None] | None = None

    def on_withheld(self) -> None:
        """Wait for the end of what stands in the way, once."""
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._wait(), name="withheld prompt")

    async def _wait(self) -> None:
        try:
            await self._until(lambda: not self._is_floor_taken())
        finally:
            self._waiting = None
        self._release()

    def close(self) -> None:
        """Wait no more."""
        if self._waiting is not None:
            self._waiting.cancel()
