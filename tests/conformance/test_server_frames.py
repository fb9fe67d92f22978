"""Our decoding of server frames agrees with that of Google's own client.

Where that client crashes, ours reports a problem.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from gemini_live_runtime.errors import ConnectionClosedError, ProtocolError, SetupRejectedError
from gemini_live_runtime.wire.audio_frame import decode_server
from gemini_live_runtime.wire.base import Message
from gemini_live_runtime.wire.codec import codec_of, decode_server_message
from gemini_live_runtime.wire.connection import Connection, connect
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint
from gemini_live_runtime.wire.messages import AudioFrame, ServerMessage, Setup
from gemini_live_runtime.wire.transport import MemoryTransport, Transport

FRAMES = Path(__file__).parents[1] / "data" / "frames" / "server-frames.jsonl"
CAPTURED = {case["case"]: case for case in map(json.loads, FRAMES.read_text("utf-8").splitlines())}

# Google's client looks for another key than servers send, and loses this field; ours reads it.
LOST_BY_THE_SDK = {"voice_activity_start": "ACTIVITY_START", "voice_activity_end": "ACTIVITY_END"}

READ = [name for name, case in CAPTURED.items() if "parsed" in case and not case["first_frame"]]
CRASHED = [name for name, case in CAPTURED.items() if "sdk_error" in case and isinstance(case["wire"], dict)]
FIRST = [name for name, case in CAPTURED.items() if case["first_frame"]]
CLOSES = [name for name, case in CAPTURED.items() if case["opcode"] == "close"]


def frame_of(case: dict[str, Any]) -> str | bytes:
    text = json.dumps(case["wire"])
    return text if case["opcode"] == "text" else text.encode()


def as_parsed(value: Any) -> Any:
    """Return a message as captured: snake_case, only set fields, URL-safe base64."""
    if isinstance(value, Message):
        names = [field.attribute for field in codec_of(type(value)).fields]
        pairs = [(name, getattr(value, name)) for name in names]
        return {name: as_parsed(item) for name, item in pairs if item not in (None, ()) and item != {}}
    if isinstance(value, tuple):
        return [as_parsed(item) for item in value]
    if isinstance(value, bytes):
        return base64.urlsafe_b64encode(value).decode()
    return value


def test_every_captured_case_is_checked_here() -> None:
    assert {*READ, *CRASHED, *FIRST, *CLOSES} == set(CAPTURED) - {"frame_not_json", "frame_over_1mib"}


@pytest.mark.parametrize("name", READ)
def test_our_decoding_agrees_with_the_captured_client(name: str) -> None:
    case = CAPTURED[name]
    message = decode_server_message(frame_of(case))
    expected = case["parsed"]
    if name in LOST_BY_THE_SDK:
        expected = {"voice_activity": {**expected["voice_activity"], "type": LOST_BY_THE_SDK[name]}}
    assert as_parsed(message) == expected
    assert message.problems == ()
    assert message.raw == case["wire"]


@pytest.mark.parametrize("name", [name for name in READ if CAPTURED[name].get("data_hex")])
def test_audio_bytes_are_those_the_captured_client_read(name: str) -> None:
    frame = decode_server(frame_of(CAPTURED[name]))
    assert isinstance(frame, AudioFrame)
    assert frame.data.hex() == CAPTURED[name]["data_hex"]


@pytest.mark.parametrize("name", CRASHED)
def test_where_the_captured_client_crashes_we_read_or_report(name: str) -> None:
    case = CAPTURED[name]
    message = decode_server(frame_of(case))
    assert isinstance(message, ServerMessage)
    if name == "snake_case_top_level":
        assert message.server_content is not None
        assert message.server_content.turn_complete is True
        return
    assert message.extra == case["wire"]
    assert message.problems


def test_a_frame_that_is_not_json_is_a_protocol_error() -> None:
    assert "Failed to parse" in CAPTURED["frame_not_json"]["sdk_error"]
    with pytest.raises(ProtocolError, match="not JSON"):
        decode_server(b"not json")


async def connect_to(*frames: str | bytes, close: tuple[int, str] | None = None) -> Connection:
    ours, theirs = MemoryTransport.pair()

    async def open_pair(endpoint: Endpoint) -> Transport:
        for frame in frames:
            await theirs.send(frame)
        if close is not None:
            await theirs.close(*close)
        return ours

    return await connect(local_endpoint("ws://127.0.0.1:1"), Setup(model="m"), transport_factory=open_pair)


@pytest.mark.parametrize("name", FIRST)
async def test_only_setup_complete_opens_a_session(name: str) -> None:
    case = CAPTURED[name]
    if case["parsed"] is None:
        with pytest.raises(SetupRejectedError, match="instead of setupComplete"):
            await connect_to(frame_of(case))
        return
    connection = await connect_to(frame_of(case))
    assert connection.setup_complete is not None
    assert as_parsed(connection.setup_complete.setup_complete) == case["parsed"]
    await connection.close()


async def test_frames_above_one_mebibyte_that_kill_the_captured_client_cost_no_connection() -> None:
    assert "1006" in CAPTURED["frame_over_1mib"]["sdk_error"]
    speech = bytes(1_048_576)
    words = json.dumps({"serverContent": {"outputTranscription": {"text": "x" * 1_048_576}}})
    sound = {"mimeType": "audio/pcm;rate=24000", "data": base64.b64encode(speech).decode()}
    connection = await connect_to(
        '{"setupComplete":{}}', words, json.dumps({"serverContent": {"modelTurn": {"parts": [{"inlineData": sound}]}}})
    )
    # More text than a model says at once is refused alone; speech of that length is read.
    with pytest.raises(ProtocolError, match="125,000 bytes"):
        await connection.receive()
    frame = await connection.receive()
    assert isinstance(frame, AudioFrame)
    assert frame.data == speech
    await connection.close()


@pytest.mark.parametrize("name", CLOSES)
async def test_every_close_is_a_typed_error_with_the_servers_reason(name: str) -> None:
    code, reason = CAPTURED[name]["wire"]
    assert CAPTURED[name]["sdk_error_code"] == code
    connection = await connect_to('{"setupComplete":{}}')
    await connection._transport.close(code, reason)
    with pytest.raises(ConnectionClosedError) as caught:
        await connection.receive()
    assert (caught.value.close_code, caught.value.reason) == (code, reason)
    assert reason.rstrip(".") in str(caught.value)
    assert caught.value.remedy
    await connection.close()
