"""What carries frames: a socket or a pair of queues, behind one protocol, for both ends."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol, runtime_checkable

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Largest message accepted or sent: bounds both memory and the time one parse may block the loop."""

CLOSE_TIMEOUT = 1.0
"""Seconds to wait for the peer's half of a close."""


class TransportClosed(Exception):  # noqa: N818 - an end, not always an error
    """The peer closed, or the path broke (1006). `code` and `reason` are as received."""

    def __init__(self, code: int, reason: str = "") -> None:
        super().__init__(f"closed {code} {reason}".rstrip())
        self.code = code
        self.reason = reason


class Transport(Protocol):
    """One end of an open message stream."""

    async def send(self, frame: str | bytes) -> None:
        """Send one message; raises `TransportClosed`."""
        ...

    async def recv(self) -> str | bytes:
        """The next message; raises `TransportClosed` at the end, again at every later call."""
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close; returns within about `CLOSE_TIMEOUT`. Closing twice is harmless."""
        ...


@runtime_checkable
class PromptTransport(Transport, Protocol):
    """A transport that can send without a turn of the event loop when nothing is in the way."""

    def send_now(self, frame: str | bytes) -> bool:
        """Send one message at once; False, with nothing sent, when something still waits or the end is near."""
        ...


@runtime_checkable
class PingingTransport(Transport, Protocol):
    """A transport that can measure the way to the other end and back."""

    async def ping(self) -> float:
        """Seconds until the other end has answered; raises `TransportClosed`."""
        ...


class MemoryTransport:
    """One end of an in-process pair: same behaviour as a socket, no I/O, right for virtual time."""

    __slots__ = ("_closed", "_inbox", "_peer", "_wake")

    def __init__(self) -> None:
        self._inbox: deque[str | bytes] = deque()
        self._wake = asyncio.Event()
        self._closed: tuple[int, str] | None = None
        self._peer: MemoryTransport = self

    @classmethod
    def pair(cls) -> tuple[MemoryTransport, MemoryTransport]:
        """Two ends joined to each other."""
        a, b = cls(), cls()
        a._peer, b._peer = b, a
        return a, b

    async def send(self, frame: str | bytes) -> None:
        """Hand `frame` to the peer, then let it run."""
        if self._closed is not None:
            raise TransportClosed(*self._closed)
        self._peer._inbox.append(frame)
        self._peer._wake.set()
        await asyncio.sleep(0)

    async def recv(self) -> str | bytes:
        """The next message from the peer."""
        while not self._inbox:
            if self._closed is not None:
                raise TransportClosed(*self._closed)
            self._wake.clear()
            await self._wake.wait()
        return self._inbox.popleft()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """End both directions; what the peer has already been sent stays readable."""
        for end in (self, self._peer):
            if end._closed is None:
                end._closed = (code, reason)
                end._wake.set()
