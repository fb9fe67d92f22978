"""Any frame decodes to a message or raises `ProtocolError`.

A decoded message can be encoded again.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.wire.strategies import JSON, message_classes, messages

from gemini_live_runtime.errors import ProtocolError
from gemini_live_runtime.wire.audio_frame import make_decoder
from gemini_live_runtime.wire.codec import codec_of, decode_client, encode_server, to_json, unknown_fields
from gemini_live_runtime.wire.messages import ServerMessage

FRAMES = Path(__file__).parents[2] / "data" / "frames"
WORDS = sorted({field.name for cls in message_classes(ServerMessage) for field in codec_of(cls).fields})


def seeds() -> list[Any]:
    server = [json.loads(line)["wire"] for line in (FRAMES / "server-frames.jsonl").read_text().splitlines()]
    client = [json.loads(line)["frames"] for line in (FRAMES / "client-frames.jsonl").read_text().splitlines()]
    return [value for value in server if isinstance(value, dict)] + [f["json"] for frames in client for f in frames]


def attempt(decode: Any, frame: str | bytes) -> Any:
    try:
        return decode(frame)
    except ProtocolError:
        return None


def mutate_tree(value: Any, random_: random.Random) -> Any:
    """`value` with some node replaced, renamed, dropped or wrapped."""
    if isinstance(value, dict) and value and random_.random() < 0.8:
        key = random_.choice(list(value))
        copy = dict(value)
        roll = random_.random()
        if roll < 0.6:
            copy[key] = mutate_tree(copy[key], random_)
        elif roll < 0.8:
            copy[random_.choice(WORDS)] = copy.pop(key)
        else:
            del copy[key]
        return copy
    if isinstance(value, list) and value and random_.random() < 0.8:
        return [mutate_tree(item, random_) if random_.random() < 0.5 else item for item in value]
    others: list[Any] = [
        None,
        True,
        0,
        -1.5,
        2**70,
        "",
        "x",
        "\ud800",
        [],
        {},
        [value],
        {"text": value},
        [None],
        "AAAA",
    ]
    return random_.choice(others)


def test_mutated_messages_raise_only_protocol_errors() -> None:
    random_ = random.Random(7)
    sources = seeds()
    decode = make_decoder()
    read = 0
    for _ in range(8_000):
        value = mutate_tree(random_.choice(sources), random_)
        while random_.random() < 0.5:
            value = mutate_tree(value, random_)
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
