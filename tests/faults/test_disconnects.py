"""Connections that end anywhere lose and double no text and no effect of a tool.

A session talks to the embedded server over real sockets, through a proxy that ends connections at random points.
`make soak` makes a thousand disconnects.
"""

from __future__ import annotations

import asyncio
import os
import random

import pytest
from tests.support.descriptors import descriptors_before, open_descriptors
from tests.support.fault_proxy import FaultProxy
from tests.unit.local.live_support import Parrot, TestParts
from tests.unit.session.session_support import Stage, stage

from gemini_live_runtime import Live, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.parts import Dialogue, Reply, ToolRequest
from gemini_live_runtime.local.server import LocalServer
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.wire.endpoints import local_endpoint
from gemini_live_runtime.wire.transport import Transport
from gemini_live_runtime.wire.websocket import open_websocket

DISCONNECTS = 1000 if os.environ.get("SOAK") else 100

SPOKEN_DISCONNECTS = DISCONNECTS // 5

CHUNK = 640
"""Bytes of 20 ms of microphone sound."""

SEED = 7

POLICY = LinkPolicy(first_delay_s=0.001, longest_delay_s=0.002, stable_s=0.0, dead_after_s=0.3)
"""Policy with which a thousand outages take a minute."""

ENOUGH_FOR_SETUP = 3000
"""Bytes within which a session is set up."""


class Clerk(Parrot):
    """Dialogue that calls `book(number=7)` for "book 7", and repeats anything else."""

    def respond(self, text: str, *, typed: bool, is_doubtful: bool = False) -> Reply:
        if text.startswith("book "):
            self.said.append(text)
            return Reply(calls=(ToolRequest("book", {"number": int(text[5:])}),))
        return super().respond(text, typed=typed)


class ClerksParts(TestParts):
    """Parts of a server without a voice, and its dialogues."""

    def __init__(self) -> None:
        super().__init__(voice=None)

    def dialogue(self, model: str) -> Dialogue:
        self.parrots.append(Clerk())
        return self.parrots[-1]


def agent(booked: list[int]) -> Live:
    @tool
    async def book(number: int) -> dict[str, str]:
        """Book.

        Args:
            number: What to book.
        """
        booked.append(number)
        await asyncio.sleep(0.002)
        return {"answer": f"booked {number}"}

    return Live.builder("test").instruction("Be brief.").model("local-parrot").tools(book)


async def type_text(one: Stage, number: int, text: str) -> None:
    await one.session.command(cmd.Command(f"t{number}", cmd.SendText(text=text)))


async def talk(one: Stage, server: LocalServer, proxy: FaultProxy, chance: random.Random) -> list[str]:
    """Type texts until there were enough disconnects; the texts."""
    texts: list[str] = []
    while proxy.endings.total() < DISCONNECTS:
        number = len(texts) + 1
        texts.append(f"book {number}" if number % 2 else f"say {number}")
        await type_text(one, number, texts[-1])
        await one.session.until_quiet(0)
        if chance.random() < 0.05:
            server.handles.clear()
    proxy.is_calm = True
    texts.append("the last")
    await type_text(one, len(texts), texts[-1])
    await one.session.until_quiet(0.2)
    return texts


async def speak(one: Stage, proxy: FaultProxy) -> int:
    """Send numbered chunks until there were enough disconnects; their number."""
    link, number = one.core.state.link, 0
    while proxy.endings.total() < SPOKEN_DISCONNECTS:
        number += 1
        one.session.handle.send_audio(number.to_bytes(4, "little") * (CHUNK // 4))
        if number % 100 == 0:
            one.session.audio_input.on_voice(number % 200 == 0)
        await asyncio.sleep(0)
    proxy.is_calm = True
    await one.session._changes.until(lambda: link.is_open and not len(link.outbox.audio))
    return number


def answers(one: Stage) -> dict[int, str]:
    """Return what the model said, by turn."""
    said: dict[int, str] = {}
    for event in one.sink.events:
        if isinstance(event.payload, ev.TranscriptDelta) and event.payload.side == "model":
            said[event.turn] = said.get(event.turn, "") + event.payload.text
    return said


async def test_disconnects_at_random_points_lose_and_double_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_live_runtime.session.link.watchdog.PING_EVERY_S", 0.1)
    monkeypatch.setattr("gemini_live_runtime.wire.websocket.CLOSE_TIMEOUT", 0.05)
    monkeypatch.setattr("gemini_live_runtime.local.protocol.utterance.TEXT_INTERVAL_S", 0.001)
    monkeypatch.setattr("gemini_live_runtime.local.protocol.turns.NO_SPEECH", "")
    tasks, descriptors = len(asyncio.all_tasks()), descriptors_before()
    parts = ClerksParts()
    server = LocalServer(ServerOptions(), parts)
    proxy = FaultProxy(int((await server.start()).rpartition(":")[2]), SEED, spared=ENOUGH_FOR_SETUP)
    endpoint = local_endpoint(f"ws://127.0.0.1:{await proxy.start()}")
    booked: list[int] = []

    async def dial() -> Transport:
        return await open_websocket(endpoint, open_timeout=0.5)

    try:
        async with stage(agent=agent(booked), mode="text", dial=dial, link_policy=POLICY) as one:
            await one.sink.until(ev.ConnectionReady)
            texts = await talk(one, server, proxy, random.Random(SEED))
    finally:
        await proxy.stop()
        await server.stop()
    sent = [event.text for event in one.sink.all(ev.TextSent)]
    assert sent == texts
    check_answers(one, texts)
    # What the screen left to the user may not have arrived.
    missing = {f"t{number}" for number in range(1, len(texts), 2)} - {f"t{number}" for number in booked}
    assert missing <= told_unknown(one)
    assert len(booked) == len(set(booked)), "a number was booked twice"
    assert doubled(parts) == []
    assert len(proxy.endings) == 3, "each way of ending occurred"
    assert (len(asyncio.all_tasks()), open_descriptors()) == (tasks, descriptors)


async def test_sound_over_disconnects_is_sent_or_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gemini_live_runtime.session.link.watchdog.PING_EVERY_S", 0.1)
    monkeypatch.setattr("gemini_live_runtime.wire.websocket.CLOSE_TIMEOUT", 0.05)
    server = LocalServer(ServerOptions(), ClerksParts())
    proxy = FaultProxy(int((await server.start()).rpartition(":")[2]), SEED, spared=ENOUGH_FOR_SETUP)
    endpoint = local_endpoint(f"ws://127.0.0.1:{await proxy.start()}")

    async def dial() -> Transport:
        return await open_websocket(endpoint, open_timeout=0.5)

    try:
        async with stage(agent=agent([]), mode="voice", audio=ProgramAudio, dial=dial, link_policy=POLICY) as one:
            await one.sink.until(ev.ConnectionReady)
            captured = await speak(one, proxy)
            dropped = one.core.state.link.outbox.audio.dropped
    finally:
        await proxy.stop()
        await server.stop()
    track = one.sink.tracks["user"]
    pieces = [track[at : at + CHUNK] for at in range(0, len(track), CHUNK)]
    assert all(piece == piece[:4] * (CHUNK // 4) for piece in pieces), "a chunk was torn"
    sent = {int.from_bytes(piece[:4], "little") for piece in pieces}
    assert len(set(range(1, captured + 1)) - sent) == dropped


def told_unknown(one: Stage) -> set[str]:
    """Return the ids of texts of which the screen says that they may not have arrived."""
    return {event.ref for event in one.sink.all(ev.SendSettled) if event.outcome == "unknown"}


def check_answers(one: Stage, texts: list[str]) -> None:
    """Check that each text has one answer, or that the screen tells of its loss."""
    said = answers(one)
    told = told_unknown(one)
    # The rest of an answer has a turn of its own, so turns are not numbered as texts are.
    turns = {event.payload.text: event.turn for event in one.sink.events if isinstance(event.payload, ev.TextSent)}
    for number, text in enumerate(texts, 1):
        answer = said.get(turns[text], "")
        assert answer or f"t{number}" in told, f"{text} has no answer"
        assert answer.count("You typed") <= 1, f"{text} was answered twice: {answer}"


def doubled(parts: ClerksParts) -> list[str]:
    """Return the texts that a server's session got more than once."""
    return [text for parrot in parts.parrots for text in {*parrot.said} if parrot.said.count(text) > 1]
