"""Script the provider of a realtime model, without socket and protocol."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from gemini_live_runtime.errors import ConnectionClosedError, GeminiLiveError, NotConnectedError, ProtocolError
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.backlog import AudioBacklog, DropOldest, UnsentSound
from gemini_live_runtime.wire.closes import closed_error
from gemini_live_runtime.wire.codec import client_to_json, to_json
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, FunctionCall, ServerMessage
from gemini_live_runtime.wire.observer import WireObserver
from gemini_live_runtime.wire.server import (
    ServerContent,
    SessionResumptionUpdate,
    ToolCall,
    Transcription,
)

Operation = Literal["connect", "post", "audio", "receive", "interrupt", "close"]


class ScriptedAdapter:
    """`RealtimeProviderAdapter` whose model says what a test or a program lets it say.

    It is every connection of one session, one after the other: as a factory of connections it returns itself. What it
    is to say it keeps until a connection receives it.
    """

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        """Operations of the session, in order; `receive` for each message that it got."""
        self.posted: list[ClientMessage] = []
        self.audio = b""
        """Microphone audio (16 kHz s16le mono) that was sent."""
        self.instructions: list[str] = []
        """Instruction of each connection."""
        self.handles: list[str] = []
        """Resumption handle of each connection, or ""."""
        self.closed = True
        self.backlog: AudioBacklog = DropOldest()
        self._observer: WireObserver | None = None
        self._refusals: deque[GeminiLiveError] = deque()
        self._coming: deque[ServerMessage | AudioFrame | ConnectionClosedError] = deque()
        self._end: ConnectionClosedError | None = None
        self._changed = asyncio.Event()
        self._calls = 0

    def __call__(self, observer: WireObserver, instruction: str, handle: str) -> ScriptedAdapter:
        """Return this adapter, for a connection with that instruction and handle."""
        self._observer = observer
        self.instructions.append(instruction)
        self.handles.append(handle)
        return self

    # -- what the model does -----------------------------------------------------------------------------------------

    def refuses(self, error: GeminiLiveError) -> None:
        """Let the next connection that is to be made fail with `error`."""
        self._refusals.append(error)

    def hears(self, text: str) -> None:
        """Send the transcript of words that the user said."""
        self.sends(ServerMessage(server_content=ServerContent(input_transcription=Transcription(text=text))))

    def says(self, text: str) -> None:
        """Send a piece of the model's answer, as words."""
        self.sends(ServerMessage(server_content=ServerContent(output_transcription=Transcription(text=text))))

    def speaks(self, pcm: bytes) -> None:
        """Send a piece of the model's answer, as sound (24 kHz s16le mono)."""
        self.sends(AudioFrame(pcm, 24_000, "audio/pcm;rate=24000"))

    def completes(self) -> None:
        """Send the end of the answer and of its turn."""
        self.sends(ServerMessage(server_content=ServerContent(generation_complete=True)))
        self.sends(ServerMessage(server_content=ServerContent(turn_complete=True)))

    def calls(self, name: str, args: Mapping[str, Any] | None = None) -> str:
        """Call a tool; return the id of the call."""
        self._calls += 1
        call = FunctionCall(id=f"call-{self._calls}", name=name, args=dict(args or {}))
        self.sends(ServerMessage(tool_call=ToolCall(function_calls=(call,))))
        return f"call-{self._calls}"

    def gives_handle(self, handle: str) -> None:
        """Send a handle with which another connection resumes this conversation."""
        update = SessionResumptionUpdate(new_handle=handle, resumable=True)
        self.sends(ServerMessage(session_resumption_update=update))

    def loses(self, code: int = 1006, reason: str = "") -> None:
        """End the connection once everything before was received."""
        self._coming.append(closed_error(code, reason))
        self._changed.set()

    def sends(self, message: ServerMessage | AudioFrame) -> None:
        """Send any message of the model's."""
        self._coming.append(message)
        self._changed.set()

    # -- RealtimeProviderAdapter -------------------------------------------------------------------------------------

    async def connect(self) -> str:
        """Make the connection, or raise the next refusal."""
        if not self.closed:
            raise ProtocolError("A connection is made once", remedy="Close it first", field="connect")
        self.operations.append("connect")
        if self._refusals:
            raise self._refusals.popleft()
        self.closed, self._end = False, None
        return f"scripted-{len(self.instructions)}"

    def post(self, message: ClientMessage) -> asyncio.Future[None]:
        """Take a message; it is sent at once."""
        return self._post("post", message)

    def interrupt(self) -> asyncio.Future[None]:
        """Take the wish that the model stop speaking."""
        return self._post("interrupt", compose.activity_start())

    def _post(self, operation: Operation, message: ClientMessage) -> asyncio.Future[None]:
        raw = client_to_json(message)
        if self.closed:
            raise self._closed_error()
        self.operations.append(operation)
        self.posted.append(message)
        if self._observer is not None:
            self._observer.on_sent(message, raw, 0)
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        sent.set_result(None)
        return sent

    def send_audio(self, pcm: bytes, captured_at: float | None = None) -> None:
        """Take microphone audio; on a closed connection pass it to the backlog."""
        if len(pcm) % 2:
            raise ProtocolError("Audio of 16 bits has an odd number of bytes", field="pcm", value=len(pcm))
        if self.closed:
            self.backlog.on_unsent((UnsentSound(pcm, captured_at),))
            return
        self.operations.append("audio")
        self.audio += pcm
        if self._observer is not None:
            self._observer.on_audio_sent(pcm, 0, captured_at)

    async def receive(self) -> ServerMessage | AudioFrame:
        """Wait for the model's next message, or the end."""
        while not self._coming:
            if self.closed:
                raise self._closed_error()
            self._changed.clear()
            await self._changed.wait()
        if self.closed:
            raise self._closed_error()
        message = self._coming.popleft()
        if isinstance(message, ConnectionClosedError):
            self.closed, self._end = True, message
            raise message
        self.operations.append("receive")
        if isinstance(message, AudioFrame):
            if self._observer is not None:
                self._observer.on_audio_received(message, 0)
            return message
        message = replace(message, raw=to_json(message))
        if self._observer is not None:
            self._observer.on_received(message, 0)
        return message

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection; idempotent."""
        if not self.closed:
            self.operations.append("close")
            self.closed, self._end = True, closed_error(code, reason, by_us=True)
            self._changed.set()

    def _closed_error(self) -> ConnectionClosedError:
        return self._end or NotConnectedError("The connection is not made yet", remedy="Wait for connect")
