"""Draw at most `fps` frames a second, and none while nothing changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class FrameClock:
    """Caller of `draw`, limited to the frame rate.

    `draw` returns the seconds after which it wants to be called again without a request, or None. An idle console
    therefore has no timer running at all.
    """

    def __init__(self, fps: int, draw: Callable[[], float | None]) -> None:
        self.set_rate(fps)
        self._draw = draw
        self._last = float("-inf")
        self._due = float("inf")
        self._timer: asyncio.TimerHandle | None = None
        self._stopped = False
        self.frames = 0

    def set_rate(self, fps: int) -> None:
        """Change the frame rate, 1 to 60."""
        self._interval = 1.0 / max(1, min(60, fps))

    @property
    def waiting(self) -> bool:
        """True while a frame is scheduled."""
        return self._timer is not None

    def request(self, delay: float = 0.0) -> None:
        """Draw within `delay` seconds, or as soon after as the frame rate allows."""
        if self._stopped:
            return
        loop = asyncio.get_running_loop()
        due = max(loop.time() + delay, self._last + self._interval)
        if self._timer is not None:
            if due >= self._due:
                return
            self._timer.cancel()
        self._due = due
        self._timer = loop.call_at(due, self.flush)

    def flush(self) -> None:
        """Draw now."""
        if self._stopped:
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._due = None, float("inf")
        self._last = asyncio.get_running_loop().time()
        self.frames += 1
        again = self._draw()
        if again is not None:
            self.request(again)

    def stop(self) -> None:
        """Stop drawing."""
        self._stopped = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
