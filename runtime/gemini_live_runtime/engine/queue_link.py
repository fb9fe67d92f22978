"""A console's end of a link to an engine in the same process: the same lines, through a queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from gemini_live_runtime.commands import Command
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.engine.link import LinkClosed, LinkMessage, decode


class QueueLink:
    """A `Link` without a socket. Messages make the same encoding round trip as over one.

    `engine` is kept alive for as long as the link is: event loops hold their tasks only weakly.
    """

    def __init__(self, hub: Hub, submit: Callable[[bytes], bool], *, engine: object = None) -> None:
        self.engine = engine
        self._hub = hub
        self._submit = submit
        self._outlet = hub.attach()
        self._lines: deque[str] = deque()
        self._closed = ""

    async def receive(self) -> LinkMessage:
        """The next message; raises `LinkClosed` after the last one."""
        while not self._lines:
            self._check_open()
            taken = await self._outlet.take()
            # It may have been closed while this waited.
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
        """Hand a command to the engine; raises `LinkClosed`."""
        self._check_open()
        self._submit(command.to_line().encode("ascii"))

    async def close(self) -> None:
        """Let go of the engine; it goes on."""
        await self._end("The console let go")

    def _check_open(self) -> None:
        if self._closed:
            raise LinkClosed(self._closed)

    async def _end(self, reason: str) -> None:
        self._closed = self._closed or reason
        self._lines.clear()
        self._outlet.end("")
        self._hub.detach(self._outlet)
