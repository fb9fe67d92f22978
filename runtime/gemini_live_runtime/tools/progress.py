"""Bring the progress of a call to the loop, however often a thread tells it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

MAX_TEXT = 10_000
"""Characters of a sentence that are read; less is shown."""


class NewestProgress:
    """Newest progress of one call; `tell` may be called from any thread.

    What the loop has not taken is replaced, so that a tool which tells each of a million steps holds up nothing.
    """

    def __init__(self, take: Callable[[float | None, str], None]) -> None:
        """`take` is called on the running loop."""
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._fraction: float | None = None
        self._text = ""
        self._waits = False

    def tell(self, fraction: float | None, text: str) -> None:
        """Replace what waits; None and "" leave it as it is."""
        with self._lock:
            self._fraction = self._fraction if fraction is None else fraction
            self._text = text[:MAX_TEXT] or self._text
            waited, self._waits = self._waits, True
        if not waited:
            # A thread may outlive the loop; its progress is then dropped.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._bring)

    def _bring(self) -> None:
        with self._lock:
            fraction, text, self._waits = self._fraction, self._text, False
            self._fraction, self._text = None, ""
        self._take(fraction, text)
