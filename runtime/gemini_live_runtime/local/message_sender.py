"""Send server messages as binary frames of UTF-8 JSON, as Google's servers do."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from gemini_live_runtime.local.options import Fault
from gemini_live_runtime.wire.audio_frame import encode_model_audio
from gemini_live_runtime.wire.codec import encode_server
from gemini_live_runtime.wire.messages import ServerMessage
from gemini_live_runtime.wire.transport import MAX_MESSAGE_BYTES, Transport, TransportClosed
from gemini_live_runtime.wire.websocket import MAX_REASON_BYTES


class MessageSender:
    """Sender of a session's messages.

    `take_fault` returns True when a simulated fault is due, and counts it as used.
    """

    def __init__(self, transport: Transport, take_fault: Callable[[Fault], bool]) -> None:
        self._transport = transport
        self.take_fault = take_fault

    async def send(self, message: ServerMessage) -> None:
        """Send one message; raises `TransportClosed`."""
        await self._transport.send(encode_server(message).encode())

    async def audio(self, pcm: bytes) -> None:
        """Send a piece of model speech (s16le mono 24 kHz); raises `TransportClosed`."""
        await self._transport.send(encode_model_audio(pcm).encode())

    async def close(self, code: int, reason: str = "") -> None:
        """Close the connection; `reason` is cut to the size of a close frame."""
        await self._transport.close(code, reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore"))

    async def faults_before_answer(self) -> None:
        """Send the faults due before an answer."""
        if self.take_fault(Fault.GARBAGE_FRAME):
            await self._transport.send(b"\x00\xff not json")
        if self.take_fault(Fault.HUGE_FRAME):
            await self._transport.send(b'{"serverContent":{"x":"' + b"x" * MAX_MESSAGE_BYTES + b'"}}')

    async def fault_in_answer(self) -> None:
        """Break the connection without a close frame, if that fault is due."""
        if self.take_fault(Fault.DROP_MID_TURN):
            abort = getattr(self._transport, "abort", None)
            with contextlib.suppress(TransportClosed):
                if abort is not None:
                    abort()
                else:
                    await self._transport.close(1006)
            raise TransportClosed(1006)
