"""Any frame decodes to a message or raises `ProtocolError`.

A decoded message can be encoded again.
"""

from __future__ import annotations

import json
import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.fuzzed_frames import Fuzzer, captured, mutate_tree
from tests.unit.wire.strategies import JSON, message_classes, messages

from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.wire.audio_frame import make_decoder
from gemini_live_runtime.wire.codec import codec_of, decode_client, encode_server, to_json, unknown_fields
from gemini_live_runtime.wire.messages import ServerMessage

WORDS = tuple(sorted({field.name for cls in message_classes(ServerMessage) for field in codec_of(cls).fields}))


def seeds() -> list[Any]:
    return [*captured(), *captured("client")]


def attempt(decode: Any, frame: str | bytes) -> Any:
    try:
        return decode(frame)
    except ProtocolError:
        return None


def test_mutated_messages_raise_only_protocol_errors() -> None:
    random_ = random.Random(7)
    sources = seeds()
    decode = make_decoder()
    read = 0
    for _ in range(8_000):
        value = mutate_tree(random_.choice(sources), random_, WORDS)
        while random_.random() < 0.5:
            value = mutate_tree(value, random_, WORDS)
        frame = json.dumps(value)
        message = attempt(decode, frame)
        attempt(decode_client, frame)
        if isinstance(message, ServerMessage):
            read += 1
            list(unknown_fields(message))
            encode_server(message).encode("utf-8")
            repr(message)
    assert read > 4_000


def test_mutated_text_raises_only_protocol_errors() -> None:
    random_ = random.Random(11)
    sources = [json.dumps(value) for value in seeds()]
    decode = make_decoder()
    for _ in range(8_000):
        data = bytearray(random_.choice(sources).encode())
        for _ in range(random_.randint(1, 4)):
            at = random_.randint(0, len(data))
            data[at : at + random_.randint(0, 3)] = random_.randbytes(random_.randint(0, 3))
        for frame in (bytes(data), data.decode("latin-1")):
            attempt(decode, frame)
            attempt(decode_client, frame)


def test_fuzzed_frames_of_equal_seeds_are_equal() -> None:
    first, second = Fuzzer(3), Fuzzer(3)
    assert [first.frame() for _ in range(500)] == [second.frame() for _ in range(500)]


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_noise_raises_only_protocol_errors(noise: bytes | str) -> None:
    attempt(make_decoder(), noise)
    attempt(decode_client, noise)


@settings(deadline=None, max_examples=200)
@given(st.dictionaries(st.sampled_from(WORDS), st.dictionaries(st.sampled_from(WORDS), JSON, max_size=3), max_size=3))
def test_known_names_with_random_values_raise_only_protocol_errors(value: dict[str, Any]) -> None:
    frame = json.dumps(value)
    attempt(make_decoder(), frame)
    attempt(decode_client, frame)


@settings(deadline=None, max_examples=100)
@given(messages(ServerMessage))
def test_every_message_that_can_be_made_can_be_written(message: ServerMessage) -> None:
    assert json.loads(encode_server(message)) == to_json(message)
