"""A live connection: the setup handshake, one ordered way out, one endless stream in, and typed ends."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

from gemini_live_runtime.errors import (
    ConnectionClosedError,
    ProtocolError,
    SetupRejectedError,
    UsageError,
)
from gemini_live_runtime.wire.audio_frame import decode_server, encode_audio_chunk
from gemini_live_runtime.wire.closes import classify, closed_error, outside_text, said_with
from gemini_live_runtime.wire.codec import client_to_json
from gemini_live_runtime.wire.endpoints import Backend, Endpoint
from gemini_live_runtime.wire.json_frame import dump_object, frame_size
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, ServerMessage, Setup
from gemini_live_runtime.wire.support import refusals
from gemini_live_runtime.wire.transport import PingingTransport, PromptTransport, Transport, TransportClosed
from gemini_live_runtime.wire.websocket import open_websocket

SETUP_TIMEOUT = 20.0
"""Seconds within which the server must answer the setup."""

OUTBOX_AUDIO = 50
"""Microphone chunks that may wait to be sent: one second of 20 ms chunks. Beyond it the oldest is dropped, counted."""

MAX_UNREADABLE = 10
"""Unreadable frames in a row after which a session gives up on the server."""

TransportFactory: TypeAlias = Callable[[Endpoint], Awaitable[Transport]]


class WireObserver(Protocol):
    """Sees everything that travels, in order. Methods must be quick and must not raise."""

    def sent(self, message: ClientMessage, raw: Mapping[str, Any], size: int) -> None:
        """`message` went out as the JSON object `raw`, `size` bytes."""

    def sent_audio(self, pcm: bytes, size: int) -> None:
        """A microphone chunk (16 kHz s16le mono) went out as a frame of `size` bytes."""

    def received(self, message: ServerMessage, size: int) -> None:
        """`message` came in; its JSON object is `message.raw`."""

    def received_audio(self, frame: AudioFrame, size: int) -> None:
        """A piece of model speech came in."""

    def unreadable(self, error: ProtocolError, size: int) -> None:
        """A frame came in that could not be read."""


class _Outgoing:
    """One frame on its way out. `done` is None for audio, which nobody waits for."""

    __slots__ = ("done", "frame", "message", "pcm", "raw")

    def __init__(
        self,
        frame: str,
        pcm: bytes = b"",
        message: ClientMessage | None = None,
        raw: Mapping[str, Any] | None = None,
        done: asyncio.Future[None] | None = None,
    ) -> None:
        self.frame = frame
        self.pcm = pcm
        self.message = message
        self.raw = raw
        self.done = done


class Connection:
    """An open session with a server. Made by `connect`; use one task to receive, any to send."""

    def __init__(self, transport: Transport, *, observer: WireObserver | None = None, backend: Backend = "url") -> None:
        self._transport = transport
        # The writer's turn of the loop would be a tenth of a chunk's whole way to the server.
        self._send_now = transport.send_now if isinstance(transport, PromptTransport) else None
        self._ping = transport.ping if isinstance(transport, PingingTransport) else None
        self._observer = observer
        self._backend: Backend = backend
        self._outbox: deque[_Outgoing] = deque()
        self._audio_waiting = 0
        self._wake = asyncio.Event()
        self._end: TransportClosed | None = None
        self._closing = False
        self._first: ServerMessage | None = None
        self.setup_complete: ServerMessage | None = None
        """The message that accepted the setup."""
        self.audio_dropped = 0
        """Microphone chunks dropped because the outbox was full or the connection gone."""
        self._writer = asyncio.create_task(self._write(), name="wire-writer")

    @property
    def closed(self) -> bool:
        """Whether the connection has ended, by either side."""
        return self._closing or self._end is not None

    async def round_trip(self) -> float | None:
        """Seconds for a ping there and back; None where the transport has no pings, or the connection ended."""
        if self._ping is None or self.closed:
            return None
        try:
            return await self._ping()
        except TransportClosed:
            return None

    async def send(self, message: ClientMessage) -> None:
        """Send after everything sent before; returns when the frame is out.

        Raises `ProtocolError` for a message that cannot be written or that this backend does not take, and
        `ConnectionClosedError`, after which the message was not sent. A cancelled call may still send.
        """
        await self.post(message)

    def post(self, message: ClientMessage) -> asyncio.Future[None]:
        """Queue `message` after everything queued before, at once; the future is done when the frame is out.

        Raises what `send` raises for a message that cannot be queued; the future fails when it was not sent.
        """
        refused = refusals(message, self._backend)
        if refused:
            raise ProtocolError(refused[0], field="message")
        raw = client_to_json(message)
        frame = dump_object(raw)
        self._check_open()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._outbox.append(_Outgoing(frame, message=message, raw=raw, done=done))
        self._wake.set()
        return done

    def send_audio(self, pcm: bytes) -> None:
        """Send one microphone chunk (16 kHz s16le mono), in order with `send`: at once, or when it is its turn.

        When `OUTBOX_AUDIO` chunks wait already the oldest of them is dropped; on a closed connection this one is.
        Both count in `audio_dropped`. Raises `ProtocolError` for an odd number of bytes.
        """
        if self.closed:
            self.audio_dropped += 1
            return
        item = _Outgoing(encode_audio_chunk(pcm), pcm)
        if not self._outbox and self._send_now is not None and self._send_now(item.frame):
            self._sent(item)
            return
        self._outbox.append(item)
        self._audio_waiting += 1
        if self._audio_waiting > OUTBOX_AUDIO:
            self._drop_oldest_audio()
        self._wake.set()

    async def receive(self) -> ServerMessage | AudioFrame:
        """The next message.

        Raises `ConnectionClosedError` at the end, again at every later call, and `ProtocolError` for a frame that
        cannot be read; the one after it may be fine.
        """
        if self._first is not None:
            message, self._first = self._first, None
            return message
        try:
            frame = await self._transport.recv()
        except TransportClosed as end:
            self._ended(end)
            raise closed_error(end.code, end.reason) from None
        return self._read(frame)

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close; what waits in the outbox is not sent and its senders are told. Idempotent."""
        self._closing = True
        self._writer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._writer
        await self._transport.close(code, reason)
        self._ended(TransportClosed(code, reason))

    async def handshake(self, setup: Setup, timeout: float = SETUP_TIMEOUT) -> None:
        """Send `setup` and wait for `setupComplete`; raises `SetupRejectedError` for anything else."""
        try:
            async with asyncio.timeout(timeout):
                await self.send(ClientMessage(setup=setup))
                answer = await self.receive()
        except TimeoutError:
            raise SetupRejectedError(
                f"The server did not answer the setup within {timeout:g} s",
                remedy="Try again; if it recurs, check the address",
                field="setup",
            ) from None
        except ConnectionClosedError as error:
            meaning = classify(error.close_code, error.reason)
            said = said_with(error.close_code, error.reason)
            raise SetupRejectedError(
                f"The server closed instead of accepting the setup ({said}): {_lower_first(meaning.sentence)}",
                remedy=meaning.remedy,
                field="close_code",
                value=error.close_code,
            ) from error
        except ProtocolError as error:
            raise SetupRejectedError(
                f"The server's answer to the setup cannot be read: {error.message}",
                remedy="Check that the address is a Live API server",
                field="setup",
            ) from error
        if isinstance(answer, AudioFrame) or answer.setup_complete is None:
            raise SetupRejectedError(
                f"The server answered {_describe(answer)} instead of setupComplete",
                remedy="Check that the address is a Live API server and the API version",
                field="setup",
            )
        self.setup_complete = answer
        if len(answer.raw) > 1:
            self._first = answer

    def _read(self, frame: str | bytes) -> ServerMessage | AudioFrame:
        observer = self._observer
        try:
            message = decode_server(frame)
        except ProtocolError as error:
            if observer is not None:
                observer.unreadable(error, frame_size(frame))
            raise
        if observer is not None:
            if isinstance(message, AudioFrame):
                observer.received_audio(message, frame_size(frame))
            else:
                observer.received(message, frame_size(frame))
        return message

    async def _write(self) -> None:
        outbox = self._outbox
        while True:
            while not outbox:
                self._wake.clear()
                await self._wake.wait()
            item = outbox.popleft()
            if item.done is None:
                self._audio_waiting -= 1
            try:
                await self._transport.send(item.frame)
            except TransportClosed as end:
                outbox.appendleft(item)
                if item.done is None:
                    self._audio_waiting += 1
                self._ended(end)
                return
            except asyncio.CancelledError:
                outbox.appendleft(item)
                if item.done is None:
                    self._audio_waiting += 1
                raise
            self._sent(item)

    def _sent(self, item: _Outgoing) -> None:
        if self._observer is not None:
            size = frame_size(item.frame)
            if item.message is not None and item.raw is not None:
                self._observer.sent(item.message, item.raw, size)
            else:
                self._observer.sent_audio(item.pcm, size)
        if item.done is not None and not item.done.done():
            item.done.set_result(None)

    def _ended(self, end: TransportClosed) -> None:
        if self._end is None:
            self._end = end
        while self._outbox:
            item = self._outbox.popleft()
            if item.done is None:
                self.audio_dropped += 1
            elif not item.done.done():
                item.done.set_exception(closed_error(self._end.code, self._end.reason))
        self._audio_waiting = 0
        if self._writer is not asyncio.current_task():
            self._writer.cancel()

    def _check_open(self) -> None:
        if self._end is not None:
            raise closed_error(self._end.code, self._end.reason)
        if self._closing:
            raise closed_error(1000)

    def _drop_oldest_audio(self) -> None:
        for index, item in enumerate(self._outbox):
            if item.done is None:
                del self._outbox[index]
                self._audio_waiting -= 1
                self.audio_dropped += 1
                return


async def connect(
    endpoint: Endpoint,
    setup: Setup,
    *,
    observer: WireObserver | None = None,
    transport_factory: TransportFactory = open_websocket,
    setup_timeout: float = SETUP_TIMEOUT,
) -> Connection:
    """Open a connection and have `setup` accepted. `setup.model` is put as the endpoint wants it.

    Raises `UsageError` for what the backend cannot do, `UnreachableError`, `UpgradeRefusedError` or
    `SetupRejectedError`; nothing stays open then.
    """
    setup = with_model(setup, endpoint)
    refused = refusals(ClientMessage(setup=setup), endpoint.backend)
    if refused:
        raise UsageError("; ".join(refused), remedy="Leave it out", field="setup")
    transport = await transport_factory(endpoint)
    connection = Connection(transport, observer=observer, backend=endpoint.backend)
    try:
        await connection.handshake(setup, setup_timeout)
    except BaseException:
        await connection.close()
        raise
    return connection


def with_model(setup: Setup, endpoint: Endpoint) -> Setup:
    """`setup` with its model named as the endpoint wants it; raises `UsageError` when it names none."""
    if not setup.model:
        raise UsageError("The setup names no model", remedy="Set the model", field="model")
    return replace(setup, model=endpoint.model_path(setup.model))


def _lower_first(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _describe(answer: ServerMessage | AudioFrame) -> str:
    if isinstance(answer, AudioFrame):
        return "audio"
    error = answer.raw.get("error")
    if isinstance(error, dict) and isinstance(error.get("message"), str):
        return f"an error ({outside_text(error['message'])})"
    return outside_text(", ".join(list(answer.raw)[:5]), 100) or "an empty message"
