"""Connection: setup, order of sending, counted drops, and explained ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import ConnectionClosedError, ProtocolError, SetupRejectedError, UsageError
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire import connection as connection_module
from gemini_live_runtime.wire.audio_frame import decode_server, encode_audio_chunk, encode_model_audio
from gemini_live_runtime.wire.backlog import DropOldest
from gemini_live_runtime.wire.closes import closed_error
from gemini_live_runtime.wire.connection import LONG_FRAME, VERY_LONG_FRAME, Connection, connect
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, RealtimeInput, ServerMessage, Setup
from gemini_live_runtime.wire.transport import MemoryTransport, Transport, TransportClosed

ENDPOINT = local_endpoint("ws://127.0.0.1:1")
SETUP = compose.build_setup("test-model")
COMPLETE = '{"setupComplete":{}}'
CHUNK = bytes(640)


class Recorder:
    """Observer that records its calls."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def on_sent(self, message: ClientMessage, raw: Mapping[str, Any], size: int) -> None:
        self.seen.append(("sent", next(iter(raw)), size))

    def on_audio_sent(self, pcm: bytes, size: int, captured_at: float | None) -> None:
        self.seen.append(("sent audio", len(pcm), size))

    def on_received(self, message: ServerMessage, size: int) -> None:
        self.seen.append(("received", *message.raw, size))

    def on_audio_received(self, frame: AudioFrame, size: int) -> None:
        self.seen.append(("received audio", len(frame.data), size))

    def on_unreadable(self, error: ProtocolError, size: int) -> None:
        self.seen.append(("unreadable", size))


class StuckTransport:
    """Transport that takes `free` frames, then blocks until `flowing` is set."""

    def __init__(self, inner: Transport, free: int) -> None:
        self.inner = inner
        self.free = free
        self.flowing = asyncio.Event()

    async def send(self, frame: str | bytes) -> None:
        if self.free <= 0:
            await self.flowing.wait()
        self.free -= 1
        await self.inner.send(frame)

    async def recv(self) -> str | bytes:
        return await self.inner.recv()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        await self.inner.close(code, reason)


class ImmediateTransport(StuckTransport):
    """Transport that sends at once while it takes frames."""

    def __init__(self, inner: Transport, free: int) -> None:
        super().__init__(inner, free)
        self.at_once: list[str | bytes] = []

    def send_now(self, frame: str | bytes) -> bool:
        if self.free <= 0:
            return False
        self.free -= 1
        self.at_once.append(frame)
        return True


async def open_pair(
    *answers: str | bytes, recorder: Recorder | None = None, stuck_after: int | None = None
) -> tuple[Connection, MemoryTransport, StuckTransport]:
    """Return a connection after the setup, the server's end and our transport."""
    ours, theirs = MemoryTransport.pair()
    wrapped = StuckTransport(ours, 1_000_000 if stuck_after is None else stuck_after + 1)
    for answer in answers or (COMPLETE,):
        await theirs.send(answer)

    async def factory(endpoint: Endpoint) -> Transport:
        return wrapped

    connection = await connect(ENDPOINT, SETUP, observer=recorder, transport_factory=factory)
    assert "setup" in json.loads(await theirs.recv())
    return connection, theirs, wrapped


async def drain(transport: MemoryTransport) -> list[Any]:
    """Return every frame in the inbox, without waiting for more."""
    await asyncio.sleep(0)
    frames = []
    while True:
        try:
            async with asyncio.timeout(0.01):
                frames.append(json.loads(await transport.recv()))
        except (TimeoutError, TransportClosed):
            return frames


async def collect(connection: Connection) -> tuple[list[Any], ConnectionClosedError]:
    """Return every decodable message until the end, and the closing error."""
    got: list[Any] = []
    while True:
        try:
            got.append(await connection.receive())
        except ConnectionClosedError as error:
            return got, error
        except ProtocolError:
            continue


class TestHandshake:
    async def test_the_setup_is_sent_first_with_the_models_resource_name(self) -> None:
        ours, theirs = MemoryTransport.pair()

        async def factory(endpoint: Endpoint) -> Transport:
            await theirs.send(COMPLETE)
            return ours

        connection = await connect(ENDPOINT, SETUP, transport_factory=factory)
        assert json.loads(await theirs.recv())["setup"]["model"] == "models/test-model"
        assert connection.setup_complete is not None
        await connection.close()

    async def test_a_setup_that_is_too_large_is_no_answer_of_the_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("gemini_live_runtime.wire.json_frame.MAX_MESSAGE_BYTES", 100_000)
        ours, theirs = MemoryTransport.pair()

        async def factory(endpoint: Endpoint) -> Transport:
            return ours

        with pytest.raises(UsageError, match=r"The setup cannot be sent: A frame of .* is above the limit") as caught:
            await connect(ENDPOINT, compose.build_setup("m", instruction="x" * 200_000), transport_factory=factory)
        assert caught.value.remedy == "Shorten the instruction, or declare fewer tools"
        with pytest.raises(TransportClosed):
            await theirs.recv()

    @pytest.mark.parametrize(
        ("answer", "says"),
        [
            ('{"serverContent":{"turnComplete":true}}', "answered serverContent instead of setupComplete"),
            ('{"error":{"message":"no such key AIzaSyCanaryCanaryCanary"}}', r"an error \(no such key \[redacted\]\)"),
            ("{}", "answered an empty message instead"),
            (encode_model_audio(CHUNK), "answered audio instead"),
            ("<html>", "cannot be read: The frame is not JSON"),
            ('{"setupComplete":null}', "cannot be read: setupComplete: expected an object, got null"),
            ('{"setupComplete":[1]}', "cannot be read: setupComplete: expected an object, got a list"),
        ],
    )
    async def test_any_other_answer_rejects_the_setup_and_closes_the_transport(self, answer: str, says: str) -> None:
        ours, theirs = MemoryTransport.pair()
        await theirs.send(answer)

        async def factory(endpoint: Endpoint) -> Transport:
            return ours

        with pytest.raises(SetupRejectedError, match=says):
            await connect(ENDPOINT, SETUP, transport_factory=factory)
        with pytest.raises(TransportClosed):
            await ours.recv()

    @pytest.mark.parametrize(
        ("error", "status", "says", "remedy"),
        [
            (
                {"code": 401, "message": "who?"},
                401,
                "401: who?) instead of setupComplete: the server does",
                "key or token",
            ),
            ({"code": 403, "message": "no"}, 403, "the server does not allow this", "Check that the key is valid"),
            ({"code": 429}, 429, "an error (429) instead", "Wait, or raise the quota"),
            ({"status": "RESOURCE_EXHAUSTED"}, 429, "no quota left for this key", "Wait, or raise the quota"),
            ({"code": 400, "message": "bad field"}, 400, "the server refused a message", "Check the setup against"),
            ({"code": 400, "message": "API key not valid"}, 400, "does not accept the credential", "Check the key"),
            ({"code": 404}, 404, "does not know this model", "Check the model's name"),
            ({"code": 500}, 500, "internal error", "Connect again"),
            ({"code": 503, "message": "later"}, 503, "currently unavailable", "Try again in a moment"),
            ("Quota exceeded", 0, "(Quota exceeded) instead of setupComplete: the quota", "Wait, or raise the quota"),
            ({"code": 7}, 0, "answered an error instead of", "Check that the address"),
            (None, 0, "answered an error instead of", "Check that the address"),
        ],
    )
    async def test_an_error_object_instead_of_an_answer_gives_its_own_remedy(
        self, error: Any, status: int, says: str, remedy: str
    ) -> None:
        ours, theirs = MemoryTransport.pair()
        await theirs.send(json.dumps({"error": error}))

        async def factory(endpoint: Endpoint) -> Transport:
            return ours

        with pytest.raises(SetupRejectedError) as caught:
            await connect(ENDPOINT, SETUP, transport_factory=factory)
        assert caught.value.status == status
        assert says in caught.value.message
        assert remedy in caught.value.remedy

    async def test_a_close_instead_of_an_answer_gives_the_servers_reason_and_a_remedy(self) -> None:
        ours, theirs = MemoryTransport.pair()

        async def factory(endpoint: Endpoint) -> Transport:
            await theirs.close(1007, "API key not valid.")
            return ours

        with pytest.raises(SetupRejectedError, match=r"1007: API key not valid\).*does not accept") as caught:
            await connect(ENDPOINT, SETUP, transport_factory=factory)
        assert caught.value.value == 1007
        assert "Check the key" in str(caught.value)
        cause = caught.value.__cause__
        assert isinstance(cause, ConnectionClosedError)
        assert cause.reason == "API key not valid."

    def test_a_silent_server_is_given_up_after_the_timeout(self) -> None:
        async def silent() -> float:
            ours, _theirs = MemoryTransport.pair()

            async def factory(endpoint: Endpoint) -> Transport:
                return ours

            with pytest.raises(SetupRejectedError, match="did not answer the setup within 7 s"):
                await connect(ENDPOINT, SETUP, transport_factory=factory, setup_timeout=7)
            return asyncio.get_running_loop().time()

        assert run_virtual(silent()) == pytest.approx(7)

    async def test_kinds_beside_setup_complete_are_received(self) -> None:
        both = '{"setupComplete":{},"sessionResumptionUpdate":{"newHandle":"h","resumable":true}}'
        connection, _, _ = await open_pair(both)
        first = await connection.receive()
        assert isinstance(first, ServerMessage)
        assert first.session_resumption_update is not None
        await connection.close()

    async def test_a_setup_without_a_model_is_refused(self) -> None:
        with pytest.raises(UsageError, match="names no model"):
            await connect(ENDPOINT, Setup())


class TestSending:
    async def test_messages_and_audio_keep_their_order(self) -> None:
        connection, theirs, _ = await open_pair()
        connection.send_audio(b"\1\0")
        await connection.send(compose.activity_start())
        connection.send_audio(b"\2\0")
        connection.send_audio(b"\3\0")
        await connection.send(compose.text_turn("hi"))
        frames = await drain(theirs)
        assert [next(iter(frame[next(iter(frame))])) for frame in frames] == [
            "audio",
            "activityStart",
            "audio",
            "audio",
            "turns",
        ]
        assert frames[0] == json.loads(encode_audio_chunk(b"\1\0"))
        assert connection.backlog.dropped == 0
        await connection.close()

    async def test_when_the_server_does_not_read_the_oldest_audio_is_dropped_and_counted_but_no_message(self) -> None:
        connection, theirs, stuck = await open_pair(stuck_after=0)
        for number in range(DropOldest.max_chunks + 11):
            connection.send_audio(bytes([number, 0]))
            if number == 0:
                # The transport already has the first one.
                await asyncio.sleep(0.01)
                text = asyncio.create_task(connection.send(compose.realtime_text("kept")))
                await asyncio.sleep(0)
        assert connection.backlog.dropped == 10
        assert not text.done()
        stuck.flowing.set()
        await text
        frames = await drain(theirs)
        audio = [frame for frame in frames if "audio" in frame["realtimeInput"]]
        assert frames[1]["realtimeInput"] == {"text": "kept"}
        assert len(audio) == DropOldest.max_chunks + 1
        expected = [0, *range(11, DropOldest.max_chunks + 11)]
        assert audio == [json.loads(encode_audio_chunk(bytes([n, 0]))) for n in expected]
        await connection.close()

    async def test_a_server_that_asks_and_never_reads_is_given_up(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(connection_module, "MAX_QUEUED_CHARS", 20 * connection_module.MESSAGE_CHARS)
        connection, _, _ = await open_pair(stuck_after=0)
        answers = [connection.post(compose.realtime_text(f"answer {number}")) for number in range(20)]
        with pytest.raises(ConnectionClosedError, match="The server sent without end and read nothing") as caught:
            await connection.receive()
        assert caught.value.by_us
        ends = await asyncio.gather(*answers, return_exceptions=True)
        assert all(isinstance(end, ConnectionClosedError) for end in ends)

    async def test_audio_for_a_closed_connection_is_counted(self) -> None:
        connection, _, _ = await open_pair()
        await connection.close()
        connection.send_audio(CHUNK)
        assert connection.backlog.dropped == 1
        assert connection.closed

    async def test_odd_audio_is_refused(self) -> None:
        connection, theirs, _ = await open_pair()
        with pytest.raises(ProtocolError, match="odd number"):
            connection.send_audio(b"abc")
        assert await drain(theirs) == []
        await connection.close()

    async def test_a_message_that_cannot_be_encoded_is_refused_and_the_connection_stays_open(self) -> None:
        connection, theirs, _ = await open_pair()
        with pytest.raises(ProtocolError, match=r"response\.x holds a number"):
            await connection.send(compose.tool_responses(compose.function_response("1", "f", {"x": float("nan")})))
        await connection.send(compose.realtime_text("still here"))
        assert len(await drain(theirs)) == 1
        await connection.close()

    async def test_messages_to_other_servers_are_not_refused(self) -> None:
        connection, theirs, _ = await open_pair()
        await connection.send(ClientMessage(realtime_input=RealtimeInput(text="a", audio_stream_end=True)))
        assert len(await drain(theirs)) == 1
        await connection.close()

    async def test_waiting_senders_fail_when_the_server_closes(self) -> None:
        connection, theirs, stuck = await open_pair(stuck_after=0)
        waiting = [asyncio.create_task(connection.send(compose.realtime_text(str(n)))) for n in range(3)]
        connection.send_audio(CHUNK)
        await asyncio.sleep(0)
        await theirs.close(1011, "Internal error encountered.")
        stuck.flowing.set()
        results = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(result) for result in results] == [ConnectionClosedError] * 3
        assert "Internal error encountered" in str(results[2])
        assert connection.backlog.dropped == 1
        with pytest.raises(ConnectionClosedError, match="1011"):
            await connection.send(compose.realtime_text("later"))
        await connection.close()

    async def test_waiting_senders_fail_when_this_side_closes(self) -> None:
        connection, _, _ = await open_pair(stuck_after=0)
        waiting = asyncio.create_task(connection.send(compose.realtime_text("x")))
        await asyncio.sleep(0.01)
        await connection.close()
        with pytest.raises(ConnectionClosedError):
            await waiting
        await connection.close()


class TestReceiving:
    async def test_messages_come_until_the_server_closes_and_then_the_reason(self) -> None:
        connection, theirs, _ = await open_pair()
        await theirs.send(encode_model_audio(CHUNK))
        await theirs.send(b'{"serverContent":{"turnComplete":true}}')
        await theirs.send('{"serverContent":{"generationComplete":true}}')
        await theirs.close(1008, "The operation was aborted.")
        got, end = await collect(connection)
        assert [type(message) for message in got] == [AudioFrame, ServerMessage, ServerMessage]
        assert isinstance(end, ConnectionClosedError)
        assert (end.close_code, end.reason) == (1008, "The operation was aborted.")
        with pytest.raises(ConnectionClosedError):
            await connection.receive()
        assert connection.closed
        await connection.close()

    @pytest.mark.parametrize(
        ("code", "reason"), [(1006, "the other side ended it without a close"), (1006, ""), (1000, ""), (1011, "")]
    )
    async def test_an_error_object_before_a_close_without_a_reason_is_the_cause(self, code: int, reason: str) -> None:
        connection, theirs, _ = await open_pair()
        await theirs.send('{"error":{"code":429,"message":"Quota exceeded for AIzaSyCanaryCanaryCanary"}}')
        await theirs.close(code, reason)
        _, end = await collect(connection)
        assert isinstance(end, ConnectionClosedError)
        assert end.message == (
            "The quota is used up (the server sent an error (429: Quota exceeded for [redacted]), "
            f"then the connection ended with {code})"
        )
        assert (end.close_code, end.reason, end.status) == (code, "Quota exceeded for [redacted]", 429)
        assert end.remedy.startswith("Wait, or raise the quota")
        await connection.close()

    @pytest.mark.parametrize(
        ("frames", "code", "reason"),
        [
            (('{"error":{"code":429}}',), 1008, "The operation was aborted."),
            (('{"error":{"code":429}}', '{"serverContent":{"turnComplete":true}}'), 1011, ""),
            (('{"error":{"code":429}}', encode_model_audio(CHUNK)), 1006, ""),
            (('{"error":null}',), 1006, ""),
        ],
    )
    async def test_an_error_object_is_no_cause_where_the_close_has_a_reason_or_the_talk_went_on(
        self, frames: tuple[str | bytes, ...], code: int, reason: str
    ) -> None:
        connection, theirs, _ = await open_pair()
        for frame in frames:
            await theirs.send(frame)
        await theirs.close(code, reason)
        _, end = await collect(connection)
        assert isinstance(end, ConnectionClosedError)
        assert (end.message, end.status) == (closed_error(code, reason).message, None)
        await connection.close()

    async def test_unreadable_frames_are_reported_counted_and_passed_over(self) -> None:
        recorder = Recorder()
        connection, theirs, _ = await open_pair(recorder=recorder)
        for frame in ("junk", '{"goAway":{}}', b"\xff"):
            await theirs.send(frame)
        await theirs.close(1000)
        got, end = await collect(connection)
        assert len(got) == 1
        assert isinstance(end, ConnectionClosedError)
        assert [entry for entry in recorder.seen if entry[0] == "unreadable"] == [("unreadable", 4), ("unreadable", 1)]
        await connection.close()

    async def test_the_observer_sees_every_frame_in_order_with_its_size(self) -> None:
        recorder = Recorder()
        connection, theirs, _ = await open_pair(recorder=recorder)
        connection.send_audio(CHUNK)
        await connection.send(compose.realtime_text("ä"))
        speech = encode_model_audio(CHUNK)
        await theirs.send(speech)
        await connection.receive()
        setup_size = recorder.seen[0][2]
        assert recorder.seen == [
            ("sent", "setup", setup_size),
            ("received", "setupComplete", len(COMPLETE)),
            ("sent audio", 640, len(encode_audio_chunk(CHUNK))),
            ("sent", "realtimeInput", len('{"realtimeInput":{"text":"ä"}}'.encode())),
            ("received audio", 640, len(speech)),
        ]
        await connection.close()


def test_a_chunk_is_sent_without_a_turn_of_the_loop_and_is_observed() -> None:
    async def go() -> None:
        recorder = Recorder()
        transport = ImmediateTransport(MemoryTransport.pair()[0], free=1)
        connection = Connection.over(transport, observer=recorder)
        connection.send_audio(CHUNK)
        frame = encode_audio_chunk(CHUNK)
        assert transport.at_once == [frame]
        assert recorder.seen == [("sent audio", len(CHUNK), len(frame))]
        await connection.close()
        assert connection.backlog.dropped == 0

    run_virtual(go())


def test_a_chunk_does_not_overtake_a_message_that_waits() -> None:
    async def go() -> None:
        client, peer = MemoryTransport.pair()
        transport = ImmediateTransport(client, free=1)
        connection = Connection.over(transport)
        message = connection.post(compose.audio_stream_end())
        connection.send_audio(CHUNK)
        assert transport.at_once == []
        transport.flowing.set()
        await message
        assert "audioStreamEnd" in str(await peer.recv())
        assert await peer.recv() == encode_audio_chunk(CHUNK)
        await connection.close()

    run_virtual(go())


async def test_other_tasks_run_before_each_long_frame_is_decoded() -> None:
    connection, theirs, _ = await open_pair()
    count = 8
    for number in range(count):
        await theirs.send(json.dumps({"goAway": {"timeLeft": f"{number}s"}, "padding": "x" * LONG_FRAME}))
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    for _ in range(count):
        await connection.receive()
    task.cancel()
    assert turns >= count
    await connection.close()


async def test_other_tasks_run_between_the_parts_of_a_long_frames_work(monkeypatch: pytest.MonkeyPatch) -> None:
    # At the codec's limits decoding, recording and following a message take some 20 ms each.
    recorder = Recorder()
    connection, theirs, _ = await open_pair(recorder=recorder)
    turns = 0
    at: list[int] = []

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def decode(frame: str | bytes) -> ServerMessage | AudioFrame:
        at.append(turns)
        return decode_server(frame)

    monkeypatch.setattr(connection_module, "decode_server", decode)
    monkeypatch.setattr(recorder, "on_received", lambda message, size: at.append(turns))
    await theirs.send(json.dumps({"goAway": {"timeLeft": "1s"}, "padding": "x" * LONG_FRAME}))
    task = asyncio.create_task(other())
    await connection.receive()
    at.append(turns)
    task.cancel()
    assert len(set(at)) == 3
    await connection.close()


async def test_before_a_very_long_frame_patterns_of_secrets_are_compiled_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # All at once they would hold up the event loop for a tenth of a second.
    connection, theirs, _ = await open_pair()
    steps, turns_at = iter(range(5)), []
    turns = 0

    def compile_patterns() -> Iterator[None]:
        for _ in steps:
            turns_at.append(turns)
            yield

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(connection_module, "compile_patterns", compile_patterns)
    task = asyncio.create_task(other())
    for size in (LONG_FRAME, VERY_LONG_FRAME):
        await theirs.send(json.dumps({"goAway": {"timeLeft": "1s"}, "padding": "x" * size}))
        await connection.receive()
        assert len(turns_at) == (5 if size == VERY_LONG_FRAME else 0)
    task.cancel()
    assert len(set(turns_at)) == 5
    await connection.close()
