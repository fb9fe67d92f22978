"""Protocol of a connection to the provider of a realtime model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

from gemini_live_runtime.wire.backlog import AudioBacklog
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, ServerMessage
from gemini_live_runtime.wire.observer import WireObserver


class RealtimeProviderAdapter(Protocol):
    """Connection to a provider: made once, used, closed.

    A session's link (`session.link.controller`) holds the present one. Any task may send, only one may receive.
    """

    backlog: AudioBacklog
    """Policy of sound that cannot be sent at once; the link sets its own."""

    @property
    def closed(self) -> bool:
        """True before the connection is made, and once either side has closed it."""
        ...

    async def connect(self) -> str:
        """Make the connection; return the provider's id of its session, or "".

        Raises `GeminiLiveError`; nothing is open then.
        """
        ...

    def post(self, message: ClientMessage) -> asyncio.Future[None]:
        """Queue a message without waiting, and return a future of its sending.

        Raises `GeminiLiveError` for a message that is not queued. The future has `ConnectionClosedError` when the
        message was not sent.
        """
        ...

    def send_audio(self, pcm: bytes, captured_at: float | None = None) -> None:
        """Send microphone audio (16 kHz s16le mono) in order with `post`, without waiting.

        `captured_at` is the clock time (s) of its last sample. What cannot be sent goes to the `backlog`.
        """
        ...

    async def receive(self) -> ServerMessage | AudioFrame:
        """Wait for the next message and return it.

        Raises `ConnectionClosedError` at the end, and `ProtocolError` for a message that cannot be read.
        """
        ...

    def interrupt(self) -> asyncio.Future[None]:
        """Ask the model to stop speaking, as `post` does."""
        ...

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection; idempotent."""
        ...


@runtime_checkable
class MeasuresRoundTrip(Protocol):
    """Adapter that can measure the way to the provider and back."""

    async def round_trip(self) -> float | None:
        """Return seconds; None when they cannot be measured, or the connection is closed."""
        ...


AdapterFactory: TypeAlias = Callable[[WireObserver, str, str], RealtimeProviderAdapter]
"""Factory of connections that are yet to be made.

It gets an observer of what is sent and received, the instruction to begin with, and the handle of a session to resume,
or "".
"""
