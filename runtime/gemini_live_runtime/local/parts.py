"""What the embedded server is made of: recogniser, dialogue and speech, each behind a small protocol.

A server needs none of them to be ours. All of them belong to one connection, are made by a factory, and are called on
the event loop; what is heavy goes to a thread or a process of its own, under `clock.hold_time` so that virtual time
waits for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from gemini_live_runtime.local.grammar import Grammar

RECOGNISER_RATE = 16_000
SPEECH_RATE = 24_000


@dataclass(frozen=True, slots=True)
class Recognition:
    """What a recogniser made of an utterance. `text` is "" when it was refused; `score` is 0 to 1."""

    text: str
    score: float


class Recogniser(Protocol):
    """Speech to text, over the phrases it was made for."""

    async def recognise(self, pcm: bytes) -> Recognition:
        """One whole utterance, s16le mono at 16 kHz. Refuses what is not one of its phrases."""
        ...

    async def close(self) -> None:
        """Let go of models."""
        ...


@dataclass(frozen=True, slots=True)
class SpeechChunk:
    """A stretch of speech: s16le mono at 24 kHz, with the text that begins in it (leading space included)."""

    pcm: bytes
    text: str


class Speech(Protocol):
    """Text to speech."""

    def speak(self, text: str, voice: str) -> AsyncIterator[SpeechChunk]:
        """`text` clause by clause, as soon as each is ready. `voice` is one of Gemini's names, or ""."""
        ...

    async def close(self) -> None:
        """Let go of processes."""
        ...


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call the dialogue wants the client to run."""

    name: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What the dialogue does next: say something, or run tools first (then `Dialogue.results` is asked)."""

    text: str = ""
    calls: tuple[ToolRequest, ...] = ()


class Dialogue(Protocol):
    """A conversation: what to say to what was said. Pure state, no I/O."""

    @property
    def grammar(self) -> Grammar:
        """What can be said at this point: what a recogniser listens for. Changes with `declare` and with `hear`."""
        ...

    @property
    def pronunciations(self) -> Mapping[str, tuple[str, ...]]:
        """Further ways to speak a word, in ARPAbet; a dictionary's own stay."""
        ...

    def declare(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        """The tools that the client declared: name to JSON schema of the parameters."""
        ...

    def instruct(self, text: str) -> None:
        """The system instruction from now on; "" for none. Called once before everything else."""
        ...

    def note(self, text: str) -> None:
        """Context that the client adds: something to know, not something that was said to the model."""
        ...

    def prompt(self) -> Reply:
        """What to say when the model is asked to speak without having been spoken to; no text for nothing."""
        ...

    def respond(self, text: str, *, typed: bool) -> Reply:
        """The answer to an utterance; "" is one that was not understood."""
        ...

    def results(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> Reply:
        """The answer once calls have their results, or with `more` to come a first part of them."""
        ...

    def snapshot(self) -> dict[str, Any]:
        """JSON state from which `restore` continues: pending slots, last answers."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from a `snapshot`."""
        ...


class Parts(Protocol):
    """Makes the parts of one connection. Raises `MissingExtraError` for one that is not installed."""

    def dialogue(self, model: str) -> Dialogue:
        """The dialogue for a model name (without `models/`); raises `KeyError` for an unknown `local-*`."""
        ...

    def recogniser(self, dialogue: Dialogue, tools: Collection[str]) -> Recogniser:
        """A recogniser for what the dialogue understands, and for the words of the client's tool names."""
        ...

    def speech(self) -> Speech:
        """A voice."""
        ...
