"""Define the embedded server's parts: recogniser, dialogue and speech protocols.

Each part belongs to one connection, is created by `Parts`, and is called on the event loop. Heavy work goes to a thread
or process of its own, under `clock.hold_time`, so that virtual time waits for it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Any, Protocol

from gemini_live_runtime.local.scripts.grammar import Grammar
from gemini_live_runtime.local.scripts.sample_sentences import SampleSentences
from gemini_live_runtime.records import record

RECOGNISER_RATE = 16_000
SPEECH_RATE = 24_000


@record
class Recognition:
    """Recognised utterance: `text` is "" when rejected, `score` is 0 to 1.

    A doubtful one is asked about before it is acted on.
    """

    text: str
    score: float
    is_doubtful: bool = False


class Recogniser(Protocol):
    """Recogniser of a dialogue's phrases."""

    async def recognise(self, pcm: bytes) -> Recognition:
        """Recognise a whole utterance, s16le mono at 16 kHz; reject other phrases."""
        ...

    async def close(self) -> None:
        """Free the models."""
        ...


@record
class SpeechChunk:
    """Piece of speech: s16le mono at 24 kHz, and the text that begins in it.

    The text includes its leading space.
    """

    pcm: bytes
    text: str


class Speech(Protocol):
    """Speech synthesis."""

    def speak(self, text: str, voice: str) -> AsyncIterator[SpeechChunk]:
        """Yield `text` as speech, as soon as each clause is ready.

        `voice` is one of Gemini's names, or "".
        """
        ...

    async def close(self) -> None:
        """End child processes."""
        ...


@record
class ToolRequest:
    """Tool call that the dialogue requests from the client."""

    name: str
    args: Mapping[str, Any]


@record
class Reply:
    """Reply of a dialogue: text, or calls whose results go to `Dialogue.results`."""

    text: str = ""
    calls: tuple[ToolRequest, ...] = ()


class Dialogue(Protocol):
    """Dialogue of one conversation. Pure state, no I/O."""

    @property
    def grammar(self) -> Grammar:
        """Grammar of the phrases to recognise now; `declare` and `respond` change it."""
        ...

    @property
    def samples(self) -> SampleSentences:
        """Sentences like those that it understands, to dictate others by."""
        ...

    @property
    def pronunciations(self) -> Mapping[str, tuple[str, ...]]:
        """Additional pronunciations of words, in ARPAbet."""
        ...

    @property
    def is_asking(self) -> bool:
        """True while an answer is expected: a short sound is replied to then."""
        ...

    def declare(self, tools: Mapping[str, Mapping[str, Any]]) -> None:
        """Set the client's tools: name to JSON schema of the parameters."""
        ...

    def label(self, labels: Mapping[str, str]) -> None:
        """Set the labels of the client's setup, such as the agent's name."""
        ...

    def instruct(self, text: str) -> None:
        """Set the system instruction, "" for none; called before all other methods."""
        ...

    def note(self, text: str) -> None:
        """Add context from the client, as opposed to words of the user."""
        ...

    def prompt(self) -> Reply:
        """Return what to say unasked; no text for nothing."""
        ...

    def respond(self, text: str, *, typed: bool, is_doubtful: bool = False) -> Reply:
        """Answer an utterance; "" was not understood, and a doubtful one is asked about."""
        ...

    def on_unsaid(self) -> None:
        """Note that nothing of the last reply of `prompt` or `respond` was said or called.

        The next one includes the answer to what was typed.
        """
        ...

    def preview(self, text: str, *, is_exact: bool = False) -> Reply | None:
        """Return what a dictated `text` would be answered; nothing changes.

        None when it is not understood, or not surely enough; exact words need less to be sure of.
        """
        ...

    def keeps_numbers(self, text: str) -> bool:
        """Return True when the numbers of `text` would matter to what follows."""
        ...

    def results(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> Reply:
        """Answer the results of calls; with `more` further results follow."""
        ...

    def learn(self, results: Sequence[tuple[ToolRequest, Mapping[str, Any]]], *, more: bool = False) -> None:
        """Take results of calls that get no answer; with `more` further results follow."""
        ...

    def remember(self, text: str) -> None:
        """Add an utterance that gets no answer."""
        ...

    def snapshot(self) -> dict[str, Any]:
        """Return the state as JSON for `restore`."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the state of a `snapshot`."""
        ...


class Parts(Protocol):
    """Factory of a connection's parts; raises `MissingExtraError` for a missing one."""

    def dialogue(self, model: str) -> Dialogue:
        """Return the dialogue of a model; raise `KeyError` for an unknown `local-*`."""
        ...

    def recogniser(self, dialogue: Dialogue, tools: Collection[str]) -> Recogniser:
        """Return a recogniser for the dialogue's phrases and the tools' names."""
        ...

    def speech(self) -> Speech:
        """Return a speech synthesis."""
        ...
