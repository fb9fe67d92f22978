"""Hold a conversation with a bundled agent, typed or spoken, and read its journal.

Both go through the whole program and the embedded server in virtual time. Spoken texts are in one microphone file,
said by a synthetic voice.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.command_line import run
from tests.support.synthetic_speech import RATE, say

from gemini_live_runtime import Live, State, paths
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.events import ContextSent, Event, TranscriptDelta
from gemini_live_runtime.journal.recording.reader import read_journal
from gemini_live_runtime.journal.sessions.catalog import list_entries

VOICE = "flite:slt"

LISTENING_S = 2.0
"""Seconds added to the pauses of the typed conversation: an end of speech shows only after a while."""


@dataclass(frozen=True)
class ConversationJournal:
    """The events of a conversation as JSON, in order."""

    events: tuple[dict[str, Any], ...]

    def all(self, kind: str) -> list[dict[str, Any]]:
        """Return the data of every event of a type."""
        return [event["data"] for event in self.events if event["type"] == kind]

    @property
    def phases(self) -> list[str]:
        """Names of the phases entered, in order."""
        return [data["phase"] for data in self.all("phase.entered")]

    @property
    def state(self) -> dict[str, Any]:
        """State at the end."""
        values: dict[str, Any] = {}
        for data in self.all("state.changed"):
            if data["removed"]:
                values.pop(data["key"], None)
            else:
                values[data["key"]] = data["new"]
        return values

    def writer(self, key: str) -> str:
        """Return the kind and the name of the last writer of a key."""
        last = next(data for data in reversed(self.all("state.changed")) if data["key"] == key)
        return f"{last['origin']} {last['by']}".strip()

    @property
    def user_texts(self) -> list[str]:
        """Transcripts of the user's turns."""
        turns: dict[int, str] = {}
        for event in self.events:
            if event["type"] == "transcript.delta" and event["data"]["side"] == "user":
                turns[event["turn"]] = turns.get(event["turn"], "") + event["data"]["text"]
        return [text.strip() for text in turns.values()]

    @property
    def model_text(self) -> str:
        """All text of the model."""
        deltas = self.all("transcript.delta")
        return "".join(data["text"] for data in deltas if data["side"] == "model")


@cache
def talk_by_text(agent: str, *texts: str) -> ConversationJournal:
    """Type texts, each once the answer to the one before has ended.

    The same conversation, which the spoken one takes its pauses from, is held once.
    """
    return _talk(agent, *(option for text in texts for option in ("--text", text)))


def talk_by_voice(agent: str, folder: Path, *texts: str) -> ConversationJournal:
    """Speak texts from one microphone file, with the pauses that typing them needs."""
    times = [event["t"] for event in talk_by_text(agent, *texts).events if event["type"] == "text.sent"]
    ends = [*times[1:], times[-1]]
    sound = _silence(times[0] + LISTENING_S)
    for text, began, end in zip(texts, times, ends, strict=True):
        sound += say(VOICE, text) + _silence(end - began + LISTENING_S)
    microphone = folder / "microphone.wav"
    with wave.open(str(microphone), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(sound)
    return _talk(agent, "--mic", str(microphone), "--speaker", str(folder / "speaker.wav"), "--until-idle")


def _silence(seconds: float) -> bytes:
    return b"\0\0" * round(seconds * RATE)


def _talk(agent: str, *options: str) -> ConversationJournal:
    before = {session.id for session in list_entries(paths.sessions_dir())}
    ended = run("talk", agent, "--backend", "local", "--fast", "--timeout", "600", "--record", "text", *options)
    assert ended.code == 0, ended.err
    (session,) = {session.id for session in list_entries(paths.sessions_dir())} - before
    return ConversationJournal(tuple(event.to_json() for event in read_journal(paths.sessions_dir() / session)))


# Without a text: asyncio makes that of a task, with its result, whenever a runner ends.
@dataclass(frozen=True, repr=False)
class ConversationOutcome:
    """State, phases and events of an agent after a conversation in this process."""

    state: State
    phases: list[str]
    events: list[Event]

    def origin(self, key: str) -> tuple[str, str]:
        """Return the kind and the name of the last writer of a key."""
        last = self.state.evidence(key)
        assert last is not None, f"{key} was never written"
        return last.origin.kind, last.origin.name

    @property
    def said(self) -> str:
        """All that the model has said."""
        deltas = [event.payload for event in self.events if isinstance(event.payload, TranscriptDelta)]
        return "".join(delta.text for delta in deltas if delta.side == "model")

    @property
    def context_sent(self) -> list[str]:
        """Texts of context that the model got after the first greeting."""
        return [text for event in self.events if isinstance(event.payload, ContextSent) for text in event.payload.texts]


def talk_to(agent: Live, *texts: str) -> ConversationOutcome:
    """Type texts to an agent in this process, on the embedded server in virtual time."""

    async def main() -> ConversationOutcome:
        async with agent.connect(backend="local", fast=True) as session:
            events = session.events()
            for text in texts:
                await session.until_quiet()
                await session.send_text(text)
            await session.until_quiet()
            # An agent without phases may be speaking at the end.
            path = [step["to"] for step in session.explain().get("path", ())]
            state = session.state
        return ConversationOutcome(state, path, [event async for event in events])

    return run_virtual(main())
