"""A conversation with a bundled agent, typed or spoken, and what its journal tells of it.

Both go through the whole program and the embedded server in virtual time. Spoken, the words are in one microphone file,
said by a synthetic voice.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.command_line import run
from tests.support.synthetic_speech import RATE, say

from gemini_live_runtime import Live, State, paths
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.events import ContextSent, Event
from gemini_live_runtime.journal.catalog import list_entries
from gemini_live_runtime.journal.reader import read_journal

VOICE = "flite:slt"

LISTENING_S = 2.0
"""Seconds added to the pauses of the typed conversation: an end of speech shows only after a while."""


@dataclass(frozen=True)
class Happened:
    """What the journal tells of a conversation: each event as JSON, in order."""

    events: tuple[dict[str, Any], ...]

    def all(self, kind: str) -> list[dict[str, Any]]:
        """The data of every event of a type."""
        return [event["data"] for event in self.events if event["type"] == kind]

    @property
    def phases(self) -> list[str]:
        """The phases entered, in order."""
        return [data["phase"] for data in self.all("phase.entered")]

    @property
    def state(self) -> dict[str, Any]:
        """The state at the end."""
        values: dict[str, Any] = {}
        for data in self.all("state.changed"):
            if data["removed"]:
                values.pop(data["key"], None)
            else:
                values[data["key"]] = data["new"]
        return values

    def writer(self, key: str) -> str:
        """Who wrote a key last: kind and name."""
        last = next(data for data in reversed(self.all("state.changed")) if data["key"] == key)
        return f"{last['origin']} {last['by']}".strip()

    @property
    def heard(self) -> list[str]:
        """The user's turns, as they were transcribed."""
        turns: dict[int, str] = {}
        for event in self.events:
            if event["type"] == "transcript.delta" and event["data"]["side"] == "user":
                turns[event["turn"]] = turns.get(event["turn"], "") + event["data"]["text"]
        return [text.strip() for text in turns.values()]

    @property
    def said(self) -> str:
        """Everything the model said."""
        deltas = self.all("transcript.delta")
        return "".join(data["text"] for data in deltas if data["side"] == "model")


def typed(agent: str, *said: str) -> Happened:
    """The conversation when this is typed, each text once the answer to the one before is over."""
    return _talk(agent, *(option for text in said for option in ("--text", text)))


def spoken(agent: str, folder: Path, *said: str) -> Happened:
    """The conversation when this is spoken into one microphone file, with the pauses that typing it needed."""
    times = [event["t"] for event in typed(agent, *said).events if event["type"] == "text.sent"]
    ends = [*times[1:], times[-1]]
    sound = _silence(times[0] + LISTENING_S)
    for text, began, end in zip(said, times, ends, strict=True):
        sound += say(VOICE, text) + _silence(end - began + LISTENING_S)
    microphone = folder / "microphone.wav"
    with wave.open(str(microphone), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(sound)
    return _talk(agent, "--mic", str(microphone), "--speaker", str(folder / "speaker.wav"), "--until-idle")


def _silence(seconds: float) -> bytes:
    return b"\0\0" * round(seconds * RATE)


def _talk(agent: str, *options: str) -> Happened:
    before = {session.id for session in list_entries(paths.sessions_dir())}
    ended = run("talk", agent, "--backend", "local", "--fast", "--timeout", "600", "--record", "text", *options)
    assert ended.code == 0, ended.err
    (session,) = {session.id for session in list_entries(paths.sessions_dir())} - before
    return Happened(tuple(event.to_json() for event in read_journal(paths.sessions_dir() / session)))


@dataclass(frozen=True)
class Talked:
    """The mind of an agent after a conversation in this process."""

    state: State
    phases: list[str]
    events: list[Event]

    def origin(self, key: str) -> tuple[str, str]:
        """Who wrote a key last: kind and name."""
        last = self.state.evidence(key)
        assert last is not None, f"nobody wrote {key}"
        return last.origin.kind, last.origin.name

    @property
    def told(self) -> list[str]:
        """What the model was told as context, after the first greeting."""
        return [text for event in self.events if isinstance(event.payload, ContextSent) for text in event.payload.texts]


def talked(agent: Live, *said: str) -> Talked:
    """Type this to an agent, as a program that embeds it would, on the embedded server in virtual time."""

    async def main() -> Talked:
        async with agent.connect(backend="local", fast=True) as session:
            events = session.events()
            for text in said:
                await session.until_quiet()
                await session.send_text(text)
            await session.until_quiet()
            path = [step["to"] for step in session.explain()["path"]]
            state = session.state
        return Talked(state, path, [event async for event in events])

    return run_virtual(main())
