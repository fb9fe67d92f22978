"""A session survives what a malicious server sends, without filling the memory."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.fake_live_server import (
    GENERATION_COMPLETE,
    TURN_COMPLETE,
    Behaviour,
    FakeLiveServer,
    accept_setup,
    next_text,
    says,
    send,
)
from websockets.asyncio.server import ServerConnection

MORE_THAN_TAKEN = 20 << 20
"""Bytes beyond the limit of a message."""

MOST_GROWTH = 1.5
"""Factor by which the peak memory may exceed that of an idle session."""

Attack = Callable[[ServerConnection], Awaitable[None]]


async def deflate_bomb(socket: ServerConnection) -> None:
    """Send 1 GiB in a compressed frame, though compression was not agreed on."""
    press = zlib.compressobj(9, wbits=-15)
    mebibyte = press.compress(b" " * (1 << 20)) + press.flush(zlib.Z_FULL_FLUSH)
    data = mebibyte * 1024
    socket.transport.write(b"\xc1\x7f" + len(data).to_bytes(8, "big") + data)
    await socket.wait_closed()


async def long_frame(socket: ServerConnection) -> None:
    """Declare a frame of 1 GiB, and send as much of it as a client may take."""
    socket.transport.write(b"\x81\x7f" + (1 << 30).to_bytes(8, "big") + b"x" * MORE_THAN_TAKEN)
    await socket.wait_closed()


async def fragments(socket: ServerConnection) -> None:
    """Send fragments without end."""
    piece = b"\x7f" + (1 << 20).to_bytes(8, "big") + b"x" * (1 << 20)
    socket.transport.write(b"\x01" + piece + (b"\x00" + piece) * (MORE_THAN_TAKEN >> 20))
    await socket.wait_closed()


def messages(*values: Any) -> Attack:
    """Send messages."""
    return frames(*(json.dumps(value) for value in values))


def frames(*texts: str) -> Attack:
    """Send frames."""

    async def run(socket: ServerConnection) -> None:
        for text in texts:
            await socket.send(text)

    return run


def sound(data: str) -> dict[str, Any]:
    """Return a message with sound of the model."""
    part = {"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": data}}
    return {"serverContent": {"modelTurn": {"parts": [part]}}}


def call(args: Any) -> dict[str, Any]:
    """Return a message with a call of a tool that the agent does not have."""
    return {"toolCall": {"functionCalls": [{"id": "c1", "name": "nothing", "args": args}]}}


ATTACKS: dict[str, Attack] = {
    "deflate-bomb": deflate_bomb,
    "long-frame": long_frame,
    "fragments": fragments,
    "deep": frames('{"serverContent": ' + '{"a": ' * 100_000 + "1" + "}" * 100_001, "[" * 100_000),
    "bad-base64": messages(sound("%%%="), sound("AAA"), sound("AA=A"), sound("-_-_")),
    "odd-pcm": messages(sound(base64.b64encode(b"\x01" * 4801).decode())),
    "wrong-types": messages(
        {"serverContent": 3},
        {"toolCall": []},
        {"goAway": "soon"},
        {"serverContent": {"modelTurn": {"parts": {"text": 1}}, "turnComplete": "yes"}},
        {"usageMetadata": [1]},
    ),
    "long-args": messages(call({"text": "x" * 10_000_000})),
}


LARGEST = "long-args"
"""Attack in a process of its own: what an earlier one took is free, but not the system's again."""


def attacking() -> Behaviour:
    """Answer each text; attack first, once, where it names an attack."""
    left = dict(ATTACKS)

    async def behave(socket: ServerConnection) -> None:
        await accept_setup(socket)
        while True:
            message = await next_text(socket)
            if "clientContent" not in message:
                continue
            name = next((name for name in left if f'"attack {name}"' in json.dumps(message)), "")
            if name:
                await left.pop(name)(socket)
            await send(socket, says("Answer."), GENERATION_COMPLETE, TURN_COMPLETE)

    return behave


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("names", [[name for name in ATTACKS if name != LARGEST], [LARGEST]], ids=["most", LARGEST])
def test_a_session_survives_each_attack_with_a_line_on_the_screen_and_little_memory(names: list[str]) -> None:
    with FakeLiveServer(attacking()) as server:
        program = Path(__file__).with_name("malicious_client.py")
        command = [sys.executable, str(program), server.url, *names]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr[-2000:]
    told = json.loads(ended.stdout)
    assert {name: len(lines) for name, lines in told["lines"].items()} == dict.fromkeys(names, 1)
    assert told["answered"]
    assert told["peak"] <= MOST_GROWTH * told["idle"]
