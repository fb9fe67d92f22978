"""Provide a talk with a tool whose consent is asked for aloud, in a room."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from tests.session.talking import SECOND_OF_SPEECH, Talk, agent, talk
from tests.simulation.device import ScriptedDevice
from tests.simulation.timeline import Timeline

from gemini_live_runtime import Tool, ToolContext, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import AudioListener, AudioOpened
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.wire.audio_frame import encode_model_audio

ORDERED: list[str] = []


QUESTION = "Shall I order a taxi to the harbor?"


@tool(consent="ask", side_effects=True, voice_consent="Shall I order a taxi to {place}?")
def taxi(place: str, context: ToolContext) -> str:
    """Order a taxi."""
    ORDERED.append(place)
    return "ordered"


class Room(ScriptedDevice):
    """Devices in a room: their canceller and its state can be set."""

    def __init__(self, canceller: str = "none needed", echo_filter: str = "") -> None:
        super().__init__(Timeline(), microphone=True)
        self.canceller = canceller
        self.sample = MeterSample(echo_filter=echo_filter)
        self.listener: AudioListener | None = None

    async def open(self, listener: AudioListener) -> AudioOpened:
        self.listener = listener
        return replace(await super().open(listener), echo_canceller=self.canceller)

    def levels(self) -> MeterSample:
        return self.sample


class Conversation(Talk):
    """Talk with a room, in which model and user are heard."""

    room: Room

    async def model(self, text: str, seconds: float = 2.0, *, drains: bool = True) -> None:
        """Let the model say something, and play all of it or half."""
        await self.server.sends(encode_model_audio(bytes(round(seconds * SECOND_OF_SPEECH))))
        await self.says(text)
        await self.ends()
        await self.passes(0.1)
        self.room.consume(seconds if drains else seconds / 2)
        await self.rests()

    async def user(self, text: str, seconds: float = 0.6) -> None:
        """Let the user say something; its words come at the end."""
        self.room.voice(True)
        await self.passes(seconds)
        self.room.voice(False)
        await self.rests()
        await self.hears(text)

    async def asks(self, place: str = "the harbor", name: str = "taxi") -> None:
        """Let the model call the tool, and have it end its turn."""
        await self.calls(name, place=place)
        await self.ends()
        await self.rests()

    async def is_answered(self, said: str) -> None:
        """Let the model call and ask aloud, and the user say `said` a second later."""
        await self.asks()
        await self.model(QUESTION)
        await self.passes(1.0)
        await self.user(said)
        await self.settles()

    async def settles(self) -> None:
        """Let the time pass after which an utterance is complete."""
        await self.passes(1.1)

    @property
    def asked(self) -> ev.ConsentAsked:
        return self.all(ev.ConsentAsked)[-1]

    @property
    def given(self) -> list[tuple[bool, str, str]]:
        return [(one.yes, one.by, one.said) for one in self.all(ev.ConsentGiven)]

    @property
    def voice_states(self) -> list[tuple[str, str]]:
        return [(one.state, one.reason) for one in self.all(ev.ConsentVoice)]

    @property
    def prompts(self) -> int:
        return len(self.sent("prompt"))


@asynccontextmanager
async def conversation(
    room: Room | None = None, *tools: Tool, memory: tuple[str, ...] = (), **options: Any
) -> AsyncIterator[Conversation]:
    """Talk in `room`; nothing is ordered yet."""
    ORDERED.clear()
    room = room or Room()
    asking = agent().tools(*(tools or (taxi,)))
    async with talk(asking.memory(*memory) if memory else asking, audio=lambda: room, **options) as t:
        t.__class__ = Conversation
        assert isinstance(t, Conversation)
        t.room = room
        await t.rests()
        yield t
