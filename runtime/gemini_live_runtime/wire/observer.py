"""Protocol of what observes a connection's traffic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, ServerMessage


class WireObserver(Protocol):
    """Observer of all frames, in order. Methods must be quick and must not raise.

    Sizes are bytes of a frame.
    """

    def on_sent(self, message: ClientMessage, raw: Mapping[str, Any], size: int) -> None:
        """Handle a message that was sent as the JSON object `raw`."""

    def on_audio_sent(self, pcm: bytes, size: int, captured_at: float | None) -> None:
        """Handle a microphone chunk (16 kHz s16le mono) that was sent.

        `captured_at` is the clock time (s) of its last sample, None when unknown.
        """

    def on_received(self, message: ServerMessage, size: int) -> None:
        """Handle a message from the server; its JSON object is `message.raw`."""

    def on_audio_received(self, frame: AudioFrame, size: int) -> None:
        """Handle a piece of model speech."""

    def on_unreadable(self, error: ProtocolError, size: int) -> None:
        """Handle a frame that could not be decoded."""
