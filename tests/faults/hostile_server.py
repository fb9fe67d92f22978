"""Modes of a hostile Live server, by name.

`PASSING` modes do something in mid-call that a client has to survive: a client types a mode's name, the server does it,
then says the name and ends the turn. `ENDING` modes end the session, or never let it begin.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from tests.support.fake_live_server import (
    GENERATION_COMPLETE,
    TURN_COMPLETE,
    Behaviour,
    accept_setup,
    next_text,
    says,
    send,
)
from websockets.asyncio.server import ServerConnection

CONTROLS = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202eevil\u2066\x00\x08\r"
DEEP = '{"serverContent": ' + '{"a": ' * 3000 + "1" + "}" * 3001

Mode = Callable[[ServerConnection], Awaitable[None]]


def frames(*texts: str | bytes) -> Mode:
    async def run(socket: ServerConnection) -> None:
        for text in texts:
            await socket.send(text)

    return run


def messages(*values: Any) -> Mode:
    return frames(*(json.dumps(value) for value in values))


def content(**fields: Any) -> dict[str, Any]:
    return {"serverContent": fields}


def parts(*values: Any) -> dict[str, Any]:
    return content(modelTurn={"parts": list(values)})


def sound(data: str, mime_type: Any = "audio/pcm;rate=24000") -> dict[str, Any]:
    return parts({"inlineData": {"mimeType": mime_type, "data": data}})


def calls(*values: Any) -> dict[str, Any]:
    return {"toolCall": {"functionCalls": list(values)}}


def call(number: int, **fields: Any) -> dict[str, Any]:
    return {"id": f"call-{number}", "name": "no_such_tool", "args": {"n": number}, **fields}


def spaced(bad: Iterable[str | bytes]) -> list[str | bytes]:
    """Put a good frame behind each bad one: ten bad ones in a row end a session."""
    return [frame for one in bad for frame in (one, json.dumps({"usageMetadata": {}}))]


async def pings(socket: ServerConnection) -> None:
    for _ in range(200):
        await socket.ping()
    await socket.pong(b"unasked")


async def fragments(socket: ServerConnection) -> None:
    async def pieces() -> Any:
        for letter in json.dumps(says("in pieces ")):
            yield letter

    await socket.send(pieces())


SILENCE = base64.b64encode(b"\x00\x00" * 2400).decode()

PASSING: dict[str, Mode] = {
    # Frames that are no messages.
    "no-json": frames("{", "not json", "", "{'a': 1}"),
    "binary-noise": frames(b"\xff\xfe\x00", b"\x00" * 1000),
    "other-json": frames("[]", "null", "3", '"text"', "true"),
    "wrong-types": frames('{"serverContent": 3}', '{"toolCall": []}', '{"goAway": "x"}', '{"setupComplete": 1}'),
    "deep": frames(DEEP),
    "long-number": frames('{"usageMetadata": {"totalTokenCount": ' + "9" * 6000 + "}}"),
    "not-a-number": frames('{"usageMetadata": {"totalTokenCount": NaN, "promptTokenCount": Infinity}}'),
    "same-key-twice": frames('{"serverContent": {}, "serverContent": {"turnComplete": false}}'),
    "half-surrogate": frames('{"serverContent": {"outputTranscription": {"text": "\\ud800 alone"}}}'),
    "bad-utf8": frames(b'{"serverContent": {"outputTranscription": {"text": "\xff\xfe"}}}'),
    "unreadable-flood": frames(*spaced(f"{{unreadable {number}" for number in range(405))),
    "unknown-kinds": messages(*({f"kind{number}": {"a": number}} for number in range(500))),
    "unknown-fields": messages(*(content(**{f"field{number}": number}) for number in range(200))),
    "empty-messages": messages(*[{}] * 500),
    "pieces": fragments,
    "pings": pings,
    # Connection.
    "go-away-flood": messages(*({"goAway": {"timeLeft": f"{number}s"}} for number in range(2000, 0, -1))),
    "go-away-odd": messages({"goAway": {}}, {"goAway": {"timeLeft": "-5s"}}, {"goAway": {"timeLeft": "soon"}}),
    "go-away-long": messages({"goAway": {"timeLeft": "9" * 400 + "s"}}),
    "setup-again": messages({"setupComplete": {}}, {"setupComplete": {"sessionId": CONTROLS}}),
    "handles": messages(*({"sessionResumptionUpdate": {"newHandle": f"h{n}", "resumable": True}} for n in range(500))),
    "handle-odd": messages(
        # Backwards, for a handle is redacted wherever it turns up, also where `controls` shows it.
        {"sessionResumptionUpdate": {"newHandle": CONTROLS[::-1], "resumable": True}},
        {"sessionResumptionUpdate": {"resumable": "perhaps"}},
        {"sessionResumptionUpdate": {"newHandle": "x" * 100_000, "resumable": False}},
    ),
    # Words.
    "controls": messages(says(CONTROLS), parts({"text": CONTROLS})),
    "markup": messages(says("[bold red]x[/] [@click=app.quit]y[/] \\[")),
    "long-text": messages(says("word " * 70_000)),
    "long-word": messages(says("x" * 200_000)),
    "combining": messages(says("e" + "\u0301" * 5000)),
    "wide": messages(says("漢字" * 5000 + "👩‍👩‍👧‍👦" * 500)),
    "many-lines": messages(says("\n" * 5000)),
    "deltas": messages(*(says(f"{number} ") for number in range(5000))),
    "thoughts": messages(*(parts({"text": f"{number} ", "thought": True}) for number in range(1000))),
    "user-words": messages(*(content(inputTranscription={"text": f"you{number} "}) for number in range(500))),
    "odd-words": messages(content(outputTranscription={"text": 3}), content(outputTranscription=None), says("")),
    "many-parts": messages(parts(*[{"text": "a"}] * 100_000)),
    "much-text": messages(says("w " * 1_000_000)),
    "odd-parts": messages(parts({}), parts(None), parts({"text": None}), parts({"executableCode": {"code": "x"}})),
    # Turns.
    "interruptions": messages(*[content(interrupted=True)] * 500),
    "interrupted-words": messages(*[says("words "), content(interrupted=True)] * 200),
    "everything-at-once": messages(
        content(interrupted=True, generationComplete=True, outputTranscription={"text": "all at once "})
    ),
    "generations": messages(*[GENERATION_COMPLETE] * 500),
    "odd-flags": messages(content(generationComplete="yes"), content(interrupted=0), content(turnCompleteReason="?")),
    # Sound.
    "odd-sound": messages(sound("AAE"), sound("AAEC"), sound("%%%"), sound(""), sound(CONTROLS)),
    "odd-rates": messages(*(sound("AAA=", f"audio/pcm;rate={rate}") for rate in ("0", "-1", "9" * 30, "x", ""))),
    "odd-media": messages(*(sound("AAA=", f"image/{'x' * n}") for n in range(100)), sound("AAA=", 3)),
    "much-sound": messages(*[sound(SILENCE)] * 300),
    # Tools.
    "unknown-tool": messages(calls(call(1), call(2))),
    "nameless-call": messages(calls({"id": "a"}, {"name": "x"}, {}, {"id": "", "name": ""})),
    "same-id": messages(*[calls(call(3, id="same"))] * 50),
    "odd-args": messages(calls(call(4, args=[1]), call(5, args="x"), call(6, args=None), call(7, args={CONTROLS: 1}))),
    "odd-calls": messages(calls(3, None), {"toolCall": {"functionCalls": "x"}}, {"toolCall": {}}),
    "odd-names": messages(calls(call(8, name=CONTROLS), call(9, name="x" * 100_000), call(10, id="x" * 100_000))),
    "long-args": messages(calls(call(11, args={"text": "漢" * 300_000}))),
    "many-calls": messages(calls(*(call(number + 1000) for number in range(900)))),
    "calls-flood": messages(*(calls(call(number + 5000)) for number in range(500))),
    "cancellations": messages({"toolCallCancellation": {"ids": [f"call-{n}" for n in range(1000)]}}),
    "odd-cancellation": messages({"toolCallCancellation": {"ids": [3, None, CONTROLS]}}, {"toolCallCancellation": {}}),
    # The rest.
    "usage-odd": messages({"usageMetadata": {"totalTokenCount": -5, "promptTokenCount": 10**30}}),
    "usage-huge": messages({"usageMetadata": {"promptTokenCount": 10**400, "responseTokenCount": "9" * 20}}),
    "usage-flood": messages(*({"usageMetadata": {"promptTokenCount": n}} for n in range(1000))),
    "voice-flood": messages(*[{"voiceActivity": {"type": t}} for t in ("ACTIVITY_START", "ACTIVITY_END", "?")] * 100),
    "grounding": messages(content(groundingMetadata={"webSearchQueries": [CONTROLS], "chunks": [{}] * 100})),
}


def closes(code: int, reason: str = "", *, setup: bool = True) -> Behaviour:
    async def behave(socket: ServerConnection) -> None:
        if setup:
            await accept_setup(socket)
            await next_text(socket)
        else:
            await socket.recv()
        await socket.close(code, reason)

    return behave


def instead(*answers: str | bytes) -> Behaviour:
    """Answer the setup with something else, then hang up."""

    async def behave(socket: ServerConnection) -> None:
        await socket.recv()
        for answer in answers:
            await socket.send(answer)
        await socket.close()

    return behave


def then(mode: Mode) -> Behaviour:
    """Accept the setup, wait for a text, do something and hang up without a close."""

    async def behave(socket: ServerConnection) -> None:
        await accept_setup(socket)
        await next_text(socket)
        await mode(socket)
        await asyncio.sleep(0)
        socket.transport.abort()

    return behave


async def vanish(socket: ServerConnection) -> None:
    await accept_setup(socket)
    socket.transport.abort()


async def vanish_first(socket: ServerConnection) -> None:
    socket.transport.abort()


async def torn_frame(socket: ServerConnection) -> None:
    await accept_setup(socket)
    await next_text(socket)
    socket.transport.write(b"\x81\x7e\xff\xff{half")
    await asyncio.sleep(0)
    socket.transport.close()


async def bad_opcode(socket: ServerConnection) -> None:
    await accept_setup(socket)
    await next_text(socket)
    socket.transport.write(b"\x8f\x01x")
    await socket.wait_closed()


async def masked_frame(socket: ServerConnection) -> None:
    await accept_setup(socket)
    await next_text(socket)
    socket.transport.write(b"\x81\x82abcd\x1a\x1f")
    await socket.wait_closed()


async def text_that_is_no_utf8(socket: ServerConnection) -> None:
    await accept_setup(socket)
    await next_text(socket)
    socket.transport.write(b"\x81\x04\xff\xfe\xfd\xfc")
    await socket.wait_closed()


async def closed_and_left_open(socket: ServerConnection) -> None:
    await accept_setup(socket)
    await next_text(socket)
    socket.transport.write(b"\x88\x06\x03\xf3busy")
    await socket.wait_closed()


ENDING: dict[str, Behaviour] = {
    **{
        f"close-{code}-in-mid-call": closes(code, CONTROLS) for code in (1000, 1001, 1003, 1007, 1008, 1011, 3000, 4999)
    },
    **{f"close-{code}-at-setup": closes(code, "no", setup=False) for code in (1000, 1007, 1008, 1011, 1012, 4000)},
    "setup-answered-by-garbage": instead("{"),
    "setup-answered-by-noise": instead(b"\xff\x00"),
    "setup-answered-by-words": instead(json.dumps(says("hello"))),
    "setup-answered-by-an-error": instead(json.dumps({"error": {"code": 400, "message": CONTROLS}})),
    "garbage-only": then(frames(*["{"] * 20)),
    "too-long": then(frames('{"x": "' + "y" * (17 * 1024 * 1024) + '"}')),
    "vanishes": vanish,
    "vanishes-before-the-setup": vanish_first,
    "vanishes-after-an-error": then(messages({"error": {"code": 403, "message": CONTROLS}})),
    "vanishes-in-words": then(messages(says("half a "))),
    "vanishes-in-a-call": then(messages(calls(call(1)))),
    "torn-frame": torn_frame,
    "bad-opcode": bad_opcode,
    "masked-frame": masked_frame,
    "text-that-is-no-utf8": text_that_is_no_utf8,
    "closed-and-left-open": closed_and_left_open,
}

RAW: dict[str, bytes] = {
    "raw-page": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "raw-ssh": b"SSH-2.0-OpenSSH_9.6\r\n",
    "raw-noise": b"\x00\xff\x1b[2J\r\n\r\n",
    "raw-nothing": b"",
    "raw-half-an-answer": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n",
    "raw-wrong-key": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
    "raw-long-header": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    "raw-many-headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 2000 + b"\r\n",
    "raw-wrong-subprotocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: mqtt\r\nConnection: Upgrade\r\n\r\n",
    "raw-redirect": b"HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:1/\x1b[2J\r\nContent-Length: 0\r\n\r\n",
}


async def on_request(socket: ServerConnection) -> None:
    """Do each mode that the client names, then say its name and end the turn."""
    await accept_setup(socket)
    while True:
        message = await next_text(socket)
        if "toolResponse" in message:
            continue
        text = json.dumps(message)
        name = next((name for name in PASSING if f'mode {name}"' in text), "")
        if name:
            await PASSING[name](socket)
        await send(socket, says(f" Survived {name}."), GENERATION_COMPLETE, TURN_COMPLETE)
