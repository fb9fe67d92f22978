"""Transports of frames: the protocol, and a pair of queues in memory."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol, runtime_checkable

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Bytes of the largest message; bounds memory, and the time for which parsing blocks the loop."""

MAX_FRAGMENTS = 4096
"""Fragments of a message; the limit of the `websockets` library, of which the oldest supported version has none."""

CLOSE_TIMEOUT = 1.0
"""Seconds to wait for the peer's close frame."""


class TransportClosed(Exception):  # noqa: N818 - an end, not always an error
    """End of a transport: the peer closed, or the connection broke (1006).

    `code` and `reason` are those of the close frame. `by_us`: this side sent it first.
    """

    def __init__(self, code: int, reason: str = "", *, by_us: bool = False) -> None:
        super().__init__(f"closed {code} {reason}".rstrip())
        self.code = code
        self.reason = reason
        self.by_us = by_us


class Transport(Protocol):
    """End of an open message stream."""

    async def send(self, frame: str | bytes) -> None:
        """Send one message; raise `TransportClosed` at the end."""
        ...

    async def recv(self) -> str | bytes:
        """Return the next message; raise `TransportClosed` at the end and ever after."""
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close within about `CLOSE_TIMEOUT`; idempotent."""
        ...


@runtime_checkable
class ImmediateTransport(Transport, Protocol):
    """Transport that can send without waiting for the event loop."""

    def send_now(self, frame: str | bytes) -> bool:
        """Send one message at once; return False when it would have to wait.

        False means that nothing was sent: earlier data waits in a buffer, or the transport is closing.
        """
        ...


@runtime_checkable
class PingingTransport(Transport, Protocol):
    """Transport that can measure its round-trip time."""

    async def ping(self) -> float:
        """Return the round-trip time in seconds; raise `TransportClosed` at the end."""
        ...


class MemoryTransport:
    """End of a pair in memory: behaves as a socket without I/O, for virtual time."""

    __slots__ = ("_closed", "_inbox", "_peer", "_wake")

    def __init__(self) -> None:
        self._inbox: deque[str | bytes] = deque()
        self._wake = asyncio.Event()
        self._closed: tuple[int, str] | None = None
        self._peer: MemoryTransport = self

    @classmethod
    def pair(cls) -> tuple[MemoryTransport, MemoryTransport]:
        """Return two connected ends."""
        a, b = cls(), cls()
        a._peer, b._peer = b, a
        return a, b

    async def send(self, frame: str | bytes) -> None:
        """Append a frame to the peer's inbox, and let the peer run."""
        if self._closed is not None:
            raise TransportClosed(*self._closed)
        self._peer._inbox.append(frame)
        self._peer._wake.set()
        # As with a socket, the peer may answer before this returns.
        await asyncio.sleep(0)

    async def recv(self) -> str | bytes:
        """Return the next message; what the peer sent before closing comes first."""
        while not self._inbox:
            if self._closed is not None:
                raise TransportClosed(*self._closed)
            self._wake.clear()
            await self._wake.wait()
        return self._inbox.popleft()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close both directions; frames in the inboxes can still be received."""
        for end in (self, self._peer):
            if end._closed is None:
                end._closed = (code, reason)
                end._wake.set()
