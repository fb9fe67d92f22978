"""Connection: order of sending, counted drops, receiving, and explained ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from tests.unit.wire.connection_support import (
    CHUNK,
    COMPLETE,
    ImmediateTransport,
    Recorder,
    collect,
    drain,
    open_pair,
)

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import ConnectionClosedError, ProtocolError
from gemini_live_runtime.wire import compose
from gemini_live_runtime.wire import connection as connection_module
from gemini_live_runtime.wire.audio_frame import decode_server, encode_audio_chunk, encode_model_audio
from gemini_live_runtime.wire.backlog import DropOldest
from gemini_live_runtime.wire.closes import closed_error
from gemini_live_runtime.wire.connection import LONG_FRAME, VERY_LONG_FRAME, Connection
from gemini_live_runtime.wire.messages import AudioFrame, ClientMessage, RealtimeInput, ServerMessage
from gemini_live_runtime.wire.transport import MemoryTransport


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
