"""Run a session in virtual time against a server that simulates faults."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TypeVar

from tests.unit.local.live_support import TestParts, voice
from tests.unit.session.session_support import Stage, stage

from gemini_live_runtime import Live, tool
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import AudioIO
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.audio.program_audio import ProgramAudio
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import Block, SessionView
from gemini_live_runtime.local.faults import Fault
from gemini_live_runtime.local.options import ServerOptions
from gemini_live_runtime.local.server import LocalServer
from gemini_live_runtime.wire.transport import Transport

P = TypeVar("P", bound=ev.Payload)

CHUNK = 640
"""Bytes of 20 ms of microphone sound."""


class LocalTalk:
    """Session under test and the embedded server."""

    def __init__(self, one: Stage, server: LocalServer, ran: list[str]) -> None:
        self.stage = one
        self.server = server
        self.ran = ran
        """Arguments of the tool's runs."""

    async def types(self, text: str) -> None:
        """Type `text` and wait until nothing goes on."""
        await self.stage.types(text)
        await self.quiet()

    async def quiet(self, seconds: float = 1.0) -> None:
        """Return once nothing has gone on for so long."""
        await self.stage.session.until_quiet(seconds)

    async def until_words(self, text: str) -> None:
        """Return once the model has begun to say `text`."""
        seen = len(self.stage.sink.events)
        while not any(text in getattr(event.payload, "text", "") for event in self.stage.sink.events[seen:]):
            await self.stage.sink.until(ev.TranscriptDelta, len(self.all(ev.TranscriptDelta)) + 1)

    async def speaks(self, seconds: float = 1.2) -> None:
        """Speak for so long, and pause."""
        pcm = voice(seconds) + bytes(32_000)
        for at in range(0, len(pcm), CHUNK):
            self.stage.session.handle.send_audio(pcm[at : at + CHUNK])
            await asyncio.sleep(0.02)

    @property
    def view(self) -> SessionView:
        """The screen's view of the session."""
        view = SessionView()
        for event in self.stage.sink.events:
            apply(view, event)
        return view

    def blocks(self, *kinds: str) -> list[Block]:
        """Return the rows of some kinds on the screen."""
        return [block for block in self.view.blocks if block.kind in kinds]

    @property
    def lines(self) -> list[str]:
        """Lines on the screen that tell of the fault."""
        return [f"{block.text} {block.detail}".strip() for block in self.blocks("notice")]

    @property
    def answers(self) -> list[str]:
        """Texts of the model's answers."""
        return [block.text.strip() for block in self.blocks("model")]

    def all(self, kind: type[P]) -> list[P]:
        """Return every event of a kind."""
        return self.stage.sink.all(kind)

    @property
    def contexts(self) -> list[str]:
        """Knowledge of the server at each connection."""
        return [ready.context for ready in self.all(ev.ConnectionReady)]


def agent(ran: list[str], seconds: float = 0.0) -> Live:
    """Return an agent with the tool `look`, which takes so long and notes that it ran."""

    @tool
    async def look(by: str) -> dict[str, str]:
        """Look.

        Args:
            by: Who asks.
        """
        ran.append(by)
        await asyncio.sleep(seconds)
        return {"answer": "found"}

    return Live.builder("test").instruction("Be brief.").model("local-parrot").tools(look)


@contextlib.asynccontextmanager
async def local_talk(
    faults: Mapping[Fault, int],
    *,
    seed: int | None = None,
    tool_s: float = 0.0,
    heard: tuple[str, ...] = (),
    change: Callable[[Live], Live] = lambda of: of,
    go_away_after: float | None = None,
    connected: bool = True,
) -> AsyncIterator[LocalTalk]:
    """Run a session beside the block, `connected` already; hang up at its end.

    `tool_s` is how long the tool takes; `heard` are the utterances that the server understands.
    """
    options = ServerOptions(faults=faults, fault_seed=seed, go_away_after=go_away_after)
    server = LocalServer(options, TestParts(*heard))
    ran: list[str] = []

    async def dial() -> Transport:
        return server.connect()

    audio: Callable[[], AudioIO] = ProgramAudio if heard else NoAudio
    of = change(agent(ran, tool_s))
    try:
        async with stage(agent=of, audio=audio, mode="voice" if heard else "text", dial=dial) as one:
            if connected:
                await one.sink.until(ev.ConnectionReady)
                await one.settled()
            yield LocalTalk(one, server, ran)
    finally:
        await server.stop()
