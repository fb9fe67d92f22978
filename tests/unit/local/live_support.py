"""Provide a Live client and deterministic model parts, on virtual time."""

from __future__ import annotations

import asyncio
import base64
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np

from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.errors import MissingExtraError
from gemini_live_runtime.local.dialogue.broken_answer import BrokenAnswer
from gemini_live_runtime.local.dialogue.lost_words import LostWords
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.parts import (
    SPEECH_RATE,
    Dialogue,
    Recogniser,
    Recognition,
    Reply,
    SpeechChunk,
    ToolRequest,
)
from gemini_live_runtime.local.scripts.grammar import Grammar, build_grammar
from gemini_live_runtime.local.scripts.sample_sentences import SampleSentences, sample_sentences
from gemini_live_runtime.local.scripts.script import bundled_script
from gemini_live_runtime.local.server import LocalServer
from gemini_live_runtime.wire.transport import Transport, TransportClosed

WORD_S = 0.25
"""Seconds of each word that `Tone` speaks."""

LONG = " ".join(f"word{i}" for i in range(80))
"""An answer of 20 s."""


def joined(*replies: Reply) -> Reply:
    """Return one reply with all texts and all calls."""
    text = " ".join(reply.text for reply in replies if reply.text)
    return Reply(text, tuple(call for reply in replies for call in reply.calls))


class Parrot:
    """Dialogue that repeats utterances.

    "call A and B" calls tools, "long" gives a long answer, "before" recalls the last utterance.
    """

    def __init__(self) -> None:
        self.said: list[str] = []
        self.is_asking = False
        self.broken = BrokenAnswer()
        self.lost = LostWords()
        self.owed = self.unsaid = Reply()
        self.labels: dict[str, str] = {}
        self.tools: dict[str, Mapping[str, Any]] = {}
        self.results_seen: list[tuple[str, Mapping[str, Any]]] = []

    @property
    def grammar(self) -> Grammar:
        return build_grammar([], {}, {})

    @property
    def pronunciations(self) -> Mapping[str, tuple[str, ...]]:
        return {}

    @property
    def samples(self) -> SampleSentences:
        return sample_sentences(bundled_script("neutral"))

    def declare(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        self.tools = dict(tools)

    def label(self, labels: Mapping[str, str]) -> None:
        self.labels = dict(labels)

    def instruct(self, text: str) -> None:
        pass

    def note(self, text: str) -> None:
        _ = self.broken.take(text) or self.lost.take(text)

    def prompt(self) -> Reply:
        if lost := self.lost.pop():
            *self.lost.texts, last = lost
            return self.respond(last, typed=True)
        if self.broken.is_wanted:
            self.broken.forget()
            return Reply(self.broken.rest_of((f"You typed {self.broken.asked}.",)))
        return Reply("Welcome.")

    def respond(self, text: str, *, typed: bool, is_doubtful: bool = False) -> Reply:
        owed = [self.unsaid, *(self.reply_to(lost, typed=True) for lost in self.lost.pop())]
        whole = joined(*owed, self.reply_to(text, typed=typed))
        self.owed, self.unsaid = whole if typed else joined(*owed), Reply()
        return whole

    def reply_to(self, text: str, *, typed: bool) -> Reply:
        before = self.said[-1] if self.said else "nothing"
        if text:
            self.said.append(text)
        if text.startswith("call "):
            return Reply(calls=tuple(ToolRequest(name, {"by": "parrot"}) for name in text[5:].split(" and ")))
        if text == "long":
            return Reply(LONG)
        if text == "before":
            return Reply(f"Before that: {before}.")
        if text == "tools":
            return Reply(f"Tools: {' '.join(sorted(self.tools)) or 'none'}.")
        return Reply(f"You {'typed' if typed else 'said'} {text}." if text else "I didn't catch that.")

    def on_unsaid(self) -> None:
        self.unsaid = self.owed

    def preview(self, text: str) -> Reply | None:
        return None

    def keeps_numbers(self, text: str) -> bool:
        return True

    def results(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> Reply:
        self.results_seen += [(request.name, result) for request, result in results]
        told = [
            f"{request.name} did not answer" if result.get("timeout") else f"{request.name} says {result.get('answer')}"
            for request, result in results
        ]
        return Reply("; ".join(told) + ".")

    def learn(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> None:
        self.results_seen += [(request.name, result) for request, result in results]

    def remember(self, text: str) -> None:
        self.said.append(text)

    def snapshot(self) -> dict[str, Any]:
        return {"said": list(self.said)}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.said = list(state["said"])


class Ear:
    """Hears what a test says it hears, one text an utterance."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self.heard: list[bytes] = []

    async def recognise(self, pcm: bytes) -> Recognition:
        self.heard.append(pcm)
        await asyncio.sleep(0.1)
        text = self._texts.pop(0)
        return Recognition(text, 1.0 if text else 0.0)

    async def close(self) -> None:
        pass


class Tone:
    """Speaks a steady level for each word."""

    async def speak(self, text: str, voice: str) -> AsyncIterator[SpeechChunk]:
        for index, word in enumerate(text.split()):
            pcm = np.full(int(SPEECH_RATE * WORD_S), 1000 + index, dtype="<i2").tobytes()
            yield SpeechChunk(pcm, word if index == 0 else f" {word}")

    async def close(self) -> None:
        pass


class TestParts:
    """Fake parts: parrot, recogniser and tone.

    `heard` are the utterances to recognise; `ear=False` and `voice=None` leave a part out.
    """

    __test__ = False

    def __init__(self, *heard: str, ear: bool = True, voice: Callable[[], Tone] | None = Tone) -> None:
        self.ear = Ear(list(heard))
        self._has_ear = ear
        self._voice = voice
        self.parrots: list[Parrot] = []

    def dialogue(self, model: str) -> Dialogue:
        if model.startswith("local-") and model != "local-parrot":
            raise KeyError(model)
        self.parrots.append(Parrot())
        return self.parrots[-1]

    def recogniser(self, dialogue: Dialogue, tools: Collection[str]) -> Recogniser:
        if not self._has_ear:
            raise MissingExtraError("No recogniser", remedy="Install the extra local")
        return self.ear

    def speech(self) -> Tone:
        if self._voice is None:
            raise MissingExtraError("No voice", remedy="Install the extra local")
        return self._voice()


class Client:
    """A client's end. `log` is every message so far with the virtual time it came at."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.log: list[tuple[float, dict[str, Any]]] = []

    async def send(self, message: Mapping[str, Any]) -> None:
        await self.transport.send(json.dumps(message))

    async def text(self, text: str) -> None:
        await self.send({"realtimeInput": {"text": text}})

    async def audio(self, pcm: bytes, mime_type: str = "audio/pcm;rate=16000", chunk_ms: int = 20) -> None:
        """Send audio in real time."""
        rate = int(mime_type.partition("rate=")[2] or 16000)
        size = rate * chunk_ms // 1000 * 2
        for start in range(0, len(pcm), size):
            data = base64.b64encode(pcm[start : start + size]).decode()
            await self.send({"realtimeInput": {"audio": {"data": data, "mimeType": mime_type}}})
            await asyncio.sleep(chunk_ms / 1000)

    async def next(self) -> dict[str, Any]:
        frame = await self.transport.recv()
        assert isinstance(frame, bytes), "the server answers in binary frames"
        message = json.loads(frame)
        self.log.append((asyncio.get_running_loop().time(), message))
        return message

    async def until(self, kind: str) -> dict[str, Any]:
        """Return the next message that has `kind`, itself or inside serverContent."""
        while True:
            message = await self.next()
            if kind in message or kind in message.get("serverContent", {}):
                return message

    async def turn(self) -> Turn:
        """Everything up to the next `turnComplete`."""
        start = len(self.log)
        await self.until("turnComplete")
        return Turn([message for _, message in self.log[start:]])

    async def closed(self) -> tuple[int, str]:
        """Read until the server closes."""
        try:
            while True:
                await self.next()
        except TransportClosed as end:
            return end.code, end.reason

    async def handle(self) -> str:
        """Return the next resumption handle."""
        while True:
            update = (await self.until("sessionResumptionUpdate"))["sessionResumptionUpdate"]
            if update.get("resumable"):
                return str(update["newHandle"])


class Turn:
    """The messages of one turn."""

    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.messages = messages

    def contents(self, key: str) -> list[Any]:
        return [m["serverContent"][key] for m in self.messages if key in m.get("serverContent", {})]

    @property
    def output(self) -> str:
        return "".join(item["text"] for item in self.contents("outputTranscription"))

    @property
    def input(self) -> str:
        return "".join(item["text"] for item in self.contents("inputTranscription"))

    @property
    def written(self) -> str:
        return "".join(part.get("text", "") for turn in self.contents("modelTurn") for part in turn["parts"])

    @property
    def pcm(self) -> bytes:
        blobs = [p["inlineData"] for turn in self.contents("modelTurn") for p in turn["parts"] if "inlineData" in p]
        return b"".join(base64.b64decode(blob["data"]) for blob in blobs)

    @property
    def usage(self) -> dict[str, Any]:
        return next(m["usageMetadata"] for m in self.messages if "usageMetadata" in m)

    @property
    def marks(self) -> list[str]:
        """Return the kinds of messages in order, runs once; content by its first field."""
        names: list[str] = []
        for message in self.messages:
            for kind in [*message.get("serverContent", {}), *(k for k in message if k != "serverContent")]:
                if not names or names[-1] != kind:
                    names.append(kind)
        return names


def setup(**fields: Any) -> dict[str, Any]:
    """Return a setup message, with both transcriptions unless a field turns them off."""
    base = {"model": "models/local-parrot", "inputAudioTranscription": {}, "outputAudioTranscription": {}}
    return {"setup": {key: value for key, value in {**base, **fields}.items() if value is not None}}


def tools(*names: str, behavior: str | None = None) -> list[dict[str, Any]]:
    """Function declarations."""
    extra = {"behavior": behavior} if behavior else {}
    return [{"functionDeclarations": [{"name": name, **extra} for name in names]}]


def answer(call: Mapping[str, Any], value: str = "42", **fields: Any) -> dict[str, Any]:
    """Return a tool response to one function call."""
    response = {"id": call["id"], "name": call["name"], "response": {"answer": value}, **fields}
    return {"toolResponse": {"functionResponses": [response]}}


@asynccontextmanager
async def server(parts: TestParts | None = None, **options: Any) -> AsyncIterator[LocalServer]:
    """Run a server; stop it at the end."""
    running = LocalServer(ServerOptions(**options), parts or TestParts())
    try:
        yield running
    finally:
        await running.stop()


@asynccontextmanager
async def session(parts: TestParts | None = None, **fields: Any) -> AsyncIterator[Client]:
    """Connect a client whose setup is accepted; `options` go to the server."""
    options = fields.pop("options", {})
    async with server(parts, **options) as running:
        yield await join(running, **fields)


async def join(running: LocalServer, **fields: Any) -> Client:
    """Connect and set up."""
    client = Client(running.connect())
    await client.send(setup(**fields))
    assert "setupComplete" in await client.next()
    return client


async def refused(message: Mapping[str, Any] | str | bytes, **options: Any) -> tuple[int, str]:
    """Return how the server closes after this first message."""
    async with server(**options) as running:
        client = Client(running.connect())
        await client.transport.send(message if isinstance(message, str | bytes) else json.dumps(message))
        return await client.closed()


def virtual(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test on virtual time."""
    import functools
    import inspect

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        async def main() -> None:
            await test(*args, **kwargs)

        run_virtual(main())

    run.__signature__ = inspect.signature(test)  # type: ignore[attr-defined]
    return run


def voice(seconds: float, rate: int = 16_000, level: float = 0.2) -> bytes:
    """Return sound that a detector takes for speech: a vowel modulated at 4 Hz."""
    t = np.arange(int(rate * seconds)) / rate
    phase = 2 * np.pi * np.cumsum(120 + 20 * np.sin(2 * np.pi * 1.3 * t)) / rate
    sound = np.zeros(len(t))
    for k in range(1, 30):
        formants = ((500, 150, 1.0), (1500, 200, 0.6), (2500, 300, 0.3))
        gain = 0.02 + sum(g * math.exp(-(((120 * k - centre) / width) ** 2)) for centre, width, g in formants)
        sound += gain * np.sin(k * phase)
    sound *= 0.6 + 0.4 * np.sin(2 * np.pi * 4 * t)
    return bytes((sound / np.abs(sound).max() * level * 32767).astype("<i2").tobytes())


def hiss(seconds: float, level: float = 0.001, rate: int = 16_000) -> bytes:
    """Return the noise of a quiet room."""
    noise = np.random.default_rng(2).normal(0, level, int(rate * seconds))
    return bytes((noise * 32767).astype("<i2").tobytes())
