"""Script the server's end of a connection: send frames at once, record arrivals."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from typing import Any

from tests.simulation.timeline import Timeline

from gemini_live_runtime.wire.transport import TransportClosed


class Line:
    """Connection, seen from both ends.

    The client's end is a `Transport`, the server's are `push` and `drop`. `uplink_s` is the time in seconds that a
    frame of the client takes; closing in that time loses it, and the client knows.
    """

    def __init__(self, number: int, timeline: Timeline, uplink_s: float) -> None:
        self.number = number
        self.accepted = False
        self.asked = False
        """The client's setup has arrived."""
        self._timeline = timeline
        self._uplink_s = uplink_s
        self._inbox: deque[str] = deque()
        self._wake = asyncio.Event()
        self._closed: tuple[int, str] | None = None

    @property
    def state(self) -> str:
        """`open` after the setup was accepted, `pending` before, `none` after the end."""
        if self._closed is not None:
            return "none"
        return "open" if self.accepted else "pending"

    # -- the client's end ----------------------------------------------------------------------------------------

    async def send(self, frame: str | bytes) -> None:
        self._check()
        if self._uplink_s:
            await asyncio.sleep(self._uplink_s)
            self._check()
        message = json.loads(frame)
        self.asked = self.asked or "setup" in message
        # Nothing is waited for any more: who is told that it was not sent can be sure of it.
        self._timeline.note("heard", line=self.number, frame=message)

    async def recv(self) -> str | bytes:
        while not self._inbox:
            self._check()
            self._wake.clear()
            await self._wake.wait()
        return self._inbox.popleft()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self._end(code, reason, by="client")

    # -- the server's end ----------------------------------------------------------------------------------------

    def push(self, frame: dict[str, Any]) -> None:
        """Send a message; it can be read in the loop's next turn."""
        if self._closed is None:
            self.accepted = self.accepted or "setupComplete" in frame
            self._timeline.note("sent", line=self.number, frame=frame)
            self._inbox.append(json.dumps(frame))
            self._wake.set()

    def drop(self, code: int, reason: str = "", *, lose: bool = False) -> None:
        """End the connection; with `lose` what the client has not read is gone."""
        if lose:
            self._inbox.clear()
        self._end(code, reason, by="server")

    def _end(self, code: int, reason: str, by: str) -> None:
        if self._closed is None:
            self._closed = (code, reason)
            self._timeline.note("closed", line=self.number, code=code, by=by)
            self._wake.set()

    def _check(self) -> None:
        if self._closed is not None:
            raise TransportClosed(*self._closed)
