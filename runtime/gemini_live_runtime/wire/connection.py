"""Connect to a Live API server: set up, send in order, receive, close.

The protocol begins with `setup` from the client, which the server answers with `setupComplete`; any other answer, and a
close, is a `SetupRejectedError`. From then on both sides send messages independently, in order.

Sending has one queue for messages and microphone chunks, and one writer task, because the order matters: a chunk must
not overtake the text that was typed before it. A chunk goes straight to the transport when the queue is empty; the
writer's turn of the event loop would otherwise be a tenth of a chunk's latency. When the network is too slow, the
oldest chunk in the queue is dropped, never a message. The `backlog` decides how many may wait, counts what is dropped,
and takes back what the end of the connection left unsent.

A frame leaves the queue before it is sent. When sending fails it is put back first, so that `_on_closed` can fail the
futures of every message that was not sent.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from gemini_live_runtime.errors import (
    ConnectionClosedError,
    NotConnectedError,
    ProtocolError,
)
from gemini_live_runtime.secret_patterns.search import compile_patterns
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire.audio_frame import decode_server, encode_audio_chunk
from gemini_live_runtime.wire.backlog import AudioBacklog, DropOldest, UnsentSound
from gemini_live_runtime.wire.closes import closed_after, closed_error
from gemini_live_runtime.wire.codec import client_to_json
from gemini_live_runtime.wire.endpoints import Backend, Endpoint
from gemini_live_runtime.wire.handshake import accepted, closed_instead, completed, no_answer, unreadable, unsendable
from gemini_live_runtime.wire.json_frame import dump_object, frame_size
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, ServerMessage, Setup
from gemini_live_runtime.wire.observer import WireObserver
from gemini_live_runtime.wire.support import refusals
from gemini_live_runtime.wire.transport import ImmediateTransport, PingingTransport, Transport, TransportClosed
from gemini_live_runtime.wire.websocket import open_websocket

SETUP_TIMEOUT = 20.0
"""Seconds that the server has to answer the setup."""

MAX_QUEUED_CHARS = 32 * 1024 * 1024
"""Characters of messages in the queue, beyond which the server is given up: it asks, and does not read the answers."""

MESSAGE_CHARS = 1024
"""Characters for which a message counts besides its own: what it takes in memory."""

MAX_UNREADABLE = 10
"""Unreadable frames in a row after which a session gives up on the server."""

_NO_ENDPOINT = Endpoint("url", "")
"""Endpoint of a connection whose transport was given."""

LONG_FRAME = 16 * 1024
"""Characters or bytes of a frame before which other tasks run: several in a row would hold up the event loop."""

VERY_LONG_FRAME = 64 * 1024
"""Characters or bytes of a frame before which the patterns of secrets are compiled, step by step.

Its texts may need all of them, and to compile them at once takes more than a tenth of a second."""

TransportFactory: TypeAlias = Callable[[Endpoint], Awaitable[Transport]]


class _QueuedFrame:
    """Frame in the queue. `done` is None for audio, for which no caller waits."""

    __slots__ = ("captured_at", "done", "frame", "message", "pcm", "raw")

    def __init__(
        self,
        frame: str,
        pcm: bytes = b"",
        message: ClientMessage | None = None,
        raw: Mapping[str, Any] | None = None,
        done: asyncio.Future[None] | None = None,
        captured_at: float | None = None,
    ) -> None:
        self.frame = frame
        self.pcm = pcm
        self.message = message
        self.raw = raw
        self.done = done
        self.captured_at = captured_at


class Connection:
    """Connection to a server, made by `connect`.

    Any task may send; only one may receive.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        setup: Setup,
        *,
        observer: WireObserver | None = None,
        transport_factory: TransportFactory = open_websocket,
        setup_timeout: float = SETUP_TIMEOUT,
    ) -> None:
        """`setup.model` is completed to the endpoint's resource name."""
        self._endpoint = endpoint
        self._setup = setup
        self._transport_factory = transport_factory
        self._setup_timeout = setup_timeout
        self._observer = observer
        self._backend: Backend = endpoint.backend
        self._transport: Transport | None = None
        self._send_now: Callable[[str | bytes], bool] | None = None
        self._ping: Callable[[], Awaitable[float]] | None = None
        self._queue: deque[_QueuedFrame] = deque()
        self._queued_chunks = 0
        self._queued_chars = 0
        self._wake = asyncio.Event()
        self._end: TransportClosed | None = None
        self._server_error: object = None
        """Error object of the last message, None for one without; a server may send it before it closes."""
        self._fault: Exception | None = None
        """Fault that ended the writer."""
        self.closed = True
        """True before the connection is made, and once either side has closed it."""
        self._giving_up: asyncio.Task[None] | None = None
        self._first: ServerMessage | None = None
        self.setup_complete: ServerMessage | None = None
        """Message that accepted the setup."""
        self.backlog: AudioBacklog = DropOldest()
        """Policy of microphone chunks that wait."""
        self._is_behind = False
        """True while a chunk waits behind another."""
        self._writer: asyncio.Task[None] | None = None

    @classmethod
    def over(cls, transport: Transport, *, observer: WireObserver | None = None) -> Connection:
        """Return a connection over an open transport, without a setup."""
        connection = cls(_NO_ENDPOINT, Setup(), observer=observer)
        connection._take(transport)
        return connection

    async def connect(self) -> str:
        """Open the transport and perform the setup; return the server's session id, or "".

        Raises `UsageError` for settings that the backend does not support, `UnreachableError`, `UpgradeRefusedError`
        or `SetupRejectedError`; the transport is closed then. A connection is made once.
        """
        if self._transport is not None:
            raise ProtocolError("A connection is made once", remedy="Make another one", field="connect")
        setup = completed(self._setup, self._endpoint)
        self._take(await self._transport_factory(self._endpoint))
        try:
            await self._hand_shake(setup)
        except BaseException:
            await self.close()
            raise
        return self.session_id

    def _take(self, transport: Transport) -> None:
        self._transport = transport
        self._send_now = transport.send_now if isinstance(transport, ImmediateTransport) else None
        self._ping = transport.ping if isinstance(transport, PingingTransport) else None
        self._writer = asyncio.create_task(self._write(transport), name="wire-writer")
        self.closed = False

    @property
    def session_id(self) -> str:
        """Server's id of its session; "" when it gave none."""
        complete = self.setup_complete.setup_complete if self.setup_complete is not None else None
        return (complete.session_id or "") if complete is not None else ""

    async def round_trip(self) -> float | None:
        """Return the round-trip time of a ping in seconds.

        None for a transport without pings, and for a closed connection.
        """
        if self._ping is None or self.closed:
            return None
        try:
            return await self._ping()
        except TransportClosed:
            return None

    async def send(self, message: ClientMessage) -> None:
        """Queue a message and wait until it is sent.

        Raises `ProtocolError` for a message that cannot be encoded or that the backend does not support, and
        `ConnectionClosedError` when the message was not sent. A cancelled call may still send.
        """
        await self.post(message)

    def post(self, message: ClientMessage) -> asyncio.Future[None]:
        """Queue a message without waiting, and return a future of its sending.

        Raises the errors of `send` for a message that cannot be queued; the future has `ConnectionClosedError` when
        the message was not sent. With more than `MAX_QUEUED_CHARS` in the queue the connection is closed.
        """
        refused = refusals(message, self._backend)
        if refused:
            raise ProtocolError(refused[0], field="message")
        raw = client_to_json(message)
        frame = dump_object(raw)
        # All checks come before queueing: a refused message leaves no trace, and the order of the others stays.
        self._check_open()
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._queue.append(_QueuedFrame(frame, message=message, raw=raw, done=done))
        self._queued_chars += len(frame) + MESSAGE_CHARS
        if self._queued_chars > MAX_QUEUED_CHARS and self._end is None:
            self._end, self.closed = TransportClosed(1008, "messages are not read", by_us=True), True
            self._giving_up = asyncio.create_task(self.close(1008, self._end.reason), name="give up the server")
        self._wake.set()
        return done

    def send_audio(self, pcm: bytes, captured_at: float | None = None) -> None:
        """Send one microphone chunk (16 kHz s16le mono), in order with `send`.

        `captured_at` is for the observer. Returns at once. What cannot be sent goes to the `backlog`. Raises
        `ProtocolError` for an odd number of bytes.
        """
        if self.closed:
            self.backlog.on_unsent((UnsentSound(pcm, captured_at),))
            return
        item = _QueuedFrame(encode_audio_chunk(pcm), pcm, captured_at=captured_at)
        if not self._queue and self._send_now is not None and self._send_now(item.frame):
            self._on_sent(item)
            return
        self._queue.append(item)
        self._queued_chunks += 1
        if self._queued_chunks > 1:
            if not self._is_behind:
                self._is_behind = True
                self.backlog.on_behind(True)
            while self._queued_chunks > self.backlog.max_chunks:
                self._drop_oldest_audio()
        self._wake.set()

    async def receive(self) -> ServerMessage | AudioFrame:
        """Wait for the next message and return it.

        Raises `ConnectionClosedError` at the end and at every later call, and `ProtocolError` for a frame that cannot
        be decoded; the next frame may be decodable.
        """
        if self._first is not None:
            first, self._first = self._first, None
            return first
        if self._transport is None:
            raise self._closed_error()
        try:
            frame = await self._transport.recv()
        except TransportClosed as end:
            self._on_closed(end)
            if self._fault is not None:
                raise self._fault from None
            raise self._closed_error() from None
        if len(frame) <= LONG_FRAME:
            message = self._decode(frame)
            self._observe(message, frame)
            return message
        # Other tasks run between the parts of the work: decoding, recording, and what the message leads to.
        await asyncio.sleep(0)
        if len(frame) > VERY_LONG_FRAME:
            for _ in compile_patterns():
                await asyncio.sleep(0)
        message = self._decode(frame)
        await asyncio.sleep(0)
        self._observe(message, frame)
        await asyncio.sleep(0)
        return message

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection; idempotent.

        Messages in the queue are not sent, and their futures fail.
        """
        self.closed = True
        if self._transport is None or self._writer is None:
            return
        self._writer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._writer
        await self._transport.close(code, reason)
        self._on_closed(TransportClosed(code, reason, by_us=True))

    def interrupt(self) -> asyncio.Future[None]:
        """Ask the model to stop speaking, and return a future of its sending.

        It does where the setup leaves the marks of the user's turns to the client, by the mark that one begins; a
        server that detects speech itself refuses the mark.
        """
        return self.post(compose.activity_start())

    async def _hand_shake(self, setup: Setup) -> None:
        """Send `setup` and wait for `setupComplete`; raise `SetupRejectedError`.

        Raises `UsageError` for a setup that cannot be sent.
        """
        try:
            sent = self.post(ClientMessage(setup=setup))
        except ProtocolError as error:
            raise unsendable(error) from error
        try:
            async with asyncio.timeout(self._setup_timeout):
                await sent
                answer = await self.receive()
        except TimeoutError:
            raise no_answer(self._setup_timeout) from None
        except ConnectionClosedError as error:
            raise closed_instead(error) from error
        except ProtocolError as error:
            raise unreadable(error) from error
        answer = accepted(answer)
        self.setup_complete = answer
        # A server may put other kinds beside setupComplete; `receive` returns the message again for those.
        if len(answer.raw) > 1:
            self._first = answer

    def _decode(self, frame: str | bytes) -> ServerMessage | AudioFrame:
        try:
            message = decode_server(frame)
        except ProtocolError as error:
            if self._observer is not None:
                self._observer.on_unreadable(error, frame_size(frame))
            raise
        self._server_error = None if isinstance(message, AudioFrame) else message.raw.get("error")
        return message

    def _observe(self, message: ServerMessage | AudioFrame, frame: str | bytes) -> None:
        observer = self._observer
        if observer is not None:
            if isinstance(message, AudioFrame):
                observer.on_audio_received(message, frame_size(frame))
            else:
                observer.on_received(message, frame_size(frame))

    async def _write(self, transport: Transport) -> None:
        try:
            await self._write_queue(transport)
        except Exception as fault:
            # The reader reports it: without a writer the connection would be silent for ever.
            self._fault = fault
            self._on_closed(TransportClosed(1011, by_us=True))
            await transport.close(1011)

    async def _write_queue(self, transport: Transport) -> None:
        queue = self._queue
        while True:
            while not queue:
                if self._is_behind:
                    self._is_behind = False
                    self.backlog.on_behind(False)
                self._wake.clear()
                await self._wake.wait()
            item = queue.popleft()
            if item.done is None:
                self._queued_chunks -= 1
            else:
                self._queued_chars -= len(item.frame) + MESSAGE_CHARS
            try:
                await transport.send(item.frame)
            except (TransportClosed, asyncio.CancelledError) as error:
                # Not sent: `_on_closed` must find it in the queue.
                queue.appendleft(item)
                if item.done is None:
                    self._queued_chunks += 1
                if isinstance(error, asyncio.CancelledError):
                    raise
                self._on_closed(error)
                return
            self._on_sent(item)

    def _on_sent(self, item: _QueuedFrame) -> None:
        if item.done is not None and not item.done.done():
            item.done.set_result(None)
        if self._observer is not None:
            size = frame_size(item.frame)
            if item.message is not None and item.raw is not None:
                self._observer.on_sent(item.message, item.raw, size)
            else:
                self._observer.on_audio_sent(item.pcm, size, item.captured_at)

    def _on_closed(self, end: TransportClosed) -> None:
        self.closed = True
        if self._end is None:
            self._end = end
        unsent = []
        while self._queue:
            item = self._queue.popleft()
            if item.done is None:
                unsent.append(UnsentSound(item.pcm, item.captured_at))
            elif not item.done.done():
                item.done.set_exception(self._closed_error())
        self._queued_chunks = self._queued_chars = 0
        if unsent:
            self.backlog.on_unsent(unsent)
        # After a failed send the writer itself is here, and ends by returning.
        if self._writer is not None and self._writer is not asyncio.current_task():
            self._writer.cancel()

    def _check_open(self) -> None:
        if self.closed:
            raise self._closed_error()

    def _closed_error(self) -> ConnectionClosedError:
        if self._transport is None:
            return NotConnectedError("The connection is not made yet", remedy="Wait for connect")
        end = self._end or TransportClosed(1000, by_us=True)
        # The reason of 1006 is this side's, and says less than the server's error.
        has_reason = end.by_us or (end.reason and end.code != 1006)
        if self._server_error is not None and not has_reason:
            return closed_after(self._server_error, end.code)
        return closed_error(end.code, end.reason, by_us=end.by_us)

    def _drop_oldest_audio(self) -> None:
        for index, item in enumerate(self._queue):
            if item.done is None:
                del self._queue[index]
                self._queued_chunks -= 1
                self.backlog.on_dropped(UnsentSound(item.pcm, item.captured_at))
                return


async def connect(
    endpoint: Endpoint,
    setup: Setup,
    *,
    observer: WireObserver | None = None,
    transport_factory: TransportFactory = open_websocket,
    setup_timeout: float = SETUP_TIMEOUT,
) -> Connection:
    """Return a connection that is made; raises the errors of `Connection.connect`."""
    connection = Connection(
        endpoint, setup, observer=observer, transport_factory=transport_factory, setup_timeout=setup_timeout
    )
    await connection.connect()
    return connection
