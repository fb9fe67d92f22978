"""Link a console to an engine in the same process: the same lines, by a queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from gemini_live_runtime.commands import Command
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.link import LinkClosed, LinkMessage, decode


class QueueLink:
    """Link without a socket; messages make the same encoding round trip as over one.

    It holds a reference to `engine`: event loops hold their tasks only weakly.
    """

    def __init__(self, hub: Hub, submit: Callable[[bytes], bool], *, engine: object = None) -> None:
        self.engine = engine
        self._hub = hub
        self._submit = submit
        self._outbox = hub.attach()
        self._lines: deque[str] = deque()
        self._closed = ""

    async def receive(self) -> LinkMessage:
        """Wait for the next message; raises `LinkClosed` after the last one."""
        while not self._lines:
            self._check_open()
            taken = await self._outbox.take()
            # `close` may have been called while this waited.
            self._check_open()
            if not taken:
                await self._end("The engine is gone")
            self._lines.extend(taken)
        try:
            return decode(self._lines.popleft())
        except LinkClosed as closed:
            await self._end(closed.reason)
            raise

    async def send(self, command: Command) -> None:
        """Send a command to the engine; raises `LinkClosed`."""
        self._check_open()
        self._submit(command.to_line().encode("ascii"))

    async def close(self) -> None:
        """Detach from the engine, which keeps running."""
        await self._end("The console has detached")

    async def reattach(self) -> QueueLink:
        """Return a new link to the same engine; it ends at once after the session."""
        return QueueLink(self._hub, self._submit, engine=self.engine)

    def _check_open(self) -> None:
        if self._closed:
            raise LinkClosed(self._closed)

    async def _end(self, reason: str) -> None:
        self._closed = self._closed or reason
        self._lines.clear()
        self._outbox.end("")
        self._hub.detach(self._outbox)
