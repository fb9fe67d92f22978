"""Send server messages as binary frames of UTF-8 JSON, as Google's servers do."""

from __future__ import annotations

from gemini_live_runtime.wire.audio_frame import encode_model_audio
from gemini_live_runtime.wire.codec import encode_server
from gemini_live_runtime.wire.messages import Blob, Content, Part, ServerContent, ServerMessage
from gemini_live_runtime.wire.transport import Transport
from gemini_live_runtime.wire.websocket import MAX_REASON_BYTES

_MODEL_AUDIO = "audio/pcm;rate=24000"


class MessageSender:
    """Sender of a session's messages."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._held: list[bytes] = []
        self.is_silent = False
        """True for a server that simulates to have nothing to say any more."""
        self.joins_completion = False
        """True for a server whose last sound of a turn completes it."""

    async def send(self, message: ServerMessage, *, although_silent: bool = False) -> None:
        """Send one message; raises `TransportClosed`."""
        if although_silent or not self.is_silent:
            await self._transport.send(encode_server(message).encode())

    async def audio(self, pcm: bytes) -> None:
        """Send a piece of model speech (s16le mono 24 kHz); raises `TransportClosed`."""
        if self.joins_completion:
            self._held.append(pcm)
            if len(self._held) > 2:
                await self.send(ServerMessage(server_content=ServerContent(model_turn=_sound(self._held[:2]))))
                del self._held[:2]
        elif not self.is_silent:
            await self._transport.send(encode_model_audio(pcm).encode())

    def last_sound(self) -> Content | None:
        """Take the sound that the completion of a turn brings; None for none."""
        held, self._held = self._held, []
        return _sound(held) if held else None

    async def raw(self, frame: bytes) -> None:
        """Send a frame that is no message of the protocol; raises `TransportClosed`."""
        await self._transport.send(frame)

    async def abort(self) -> None:
        """Break the connection without a close frame; raises `TransportClosed`."""
        abort = getattr(self._transport, "abort", None)
        if abort is not None:
            abort()
        else:
            await self._transport.close(1006)

    async def close(self, code: int, reason: str = "") -> None:
        """Close the connection; `reason` is cut to the size of a close frame."""
        await self._transport.close(code, reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore"))


def _sound(pieces: list[bytes]) -> Content:
    parts = tuple(Part(inline_data=Blob(mime_type=_MODEL_AUDIO, data=pcm)) for pcm in pieces)
    return Content(role="model", parts=parts)
