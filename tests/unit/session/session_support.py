"""Run a whole session in virtual time against a server scripted frame by frame."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.agents.source import AgentSource
from gemini_live_runtime.api import Live
from gemini_live_runtime.audio.interface import AudioIO
from gemini_live_runtime.audio.no_audio import NoAudio
from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.conversation.text_model import TextModel
from gemini_live_runtime.errors import GeminiLiveError, UnreachableError
from gemini_live_runtime.harness.worker import HarnessWorker
from gemini_live_runtime.session.agent.autosave import OwnStore
from gemini_live_runtime.session.agent.tools.consent import ConsentOptions
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.definition.setup import setup_of
from gemini_live_runtime.session.io.agent import Agent
from gemini_live_runtime.session.io.live_session import LiveSession, Opening
from gemini_live_runtime.session.link.policy import LinkPolicy
from gemini_live_runtime.session.ports.capabilities import capabilities_of
from gemini_live_runtime.wire.codec import encode_server, from_json
from gemini_live_runtime.wire.connection import Connection
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint
from gemini_live_runtime.wire.messages import ServerMessage
from gemini_live_runtime.wire.observer import WireObserver
from gemini_live_runtime.wire.transport import MemoryTransport, Transport, TransportClosed

P = TypeVar("P", bound=ev.Payload)


class Sink:
    """Keeps events and track samples."""

    wall = 0.0

    def __init__(self) -> None:
        self.events: list[ev.Event] = []
        self.takes = True
        """False for a disk that refuses what it is given."""
        self.takes_s = 0.0
        """Seconds that the disk needs."""
        self.tracks: dict[str, bytes] = {"user": b"", "model": b""}
        self._arrived = asyncio.Event()

    def emit(self, payload: ev.Payload, *, turn: int, gen: int) -> ev.Event:
        event = ev.Event(len(self.events) + 1, 0.0, turn, gen, payload)
        self.events.append(event)
        self._arrived.set()
        return event

    async def written(self, within_s: float) -> bool:
        if self.takes_s:
            await asyncio.sleep(min(self.takes_s, within_s))
        return self.takes and self.takes_s <= within_s

    def audio(self, track: ev.Side, pcm: bytes) -> None:
        self.tracks[track] += pcm

    def all(self, kind: type[P]) -> list[P]:
        return [event.payload for event in self.events if isinstance(event.payload, kind)]

    async def until(self, kind: type[P], count: int = 1) -> P:
        while len(self.all(kind)) < count:
            self._arrived.clear()
            await self._arrived.wait()
        return self.all(kind)[count - 1]


class ScriptedServer:
    """The server's end of the wire."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self.frames: list[dict[str, Any]] = []
        self.heard = asyncio.Event()
        """Set with every frame; who waits for the next one clears it."""

    async def hears(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(await self._transport.recv())
        self.frames.append(frame)
        self.heard.set()
        return frame

    async def hears_a(self, kind: str) -> dict[str, Any]:
        """Return the next frame with top-level key `kind`, skipping others."""
        while kind not in (frame := await self.hears()):
            pass
        value: dict[str, Any] = frame[kind]
        return value

    async def accepts(self) -> dict[str, Any]:
        setup = await self.hears_a("setup")
        await self.says(setupComplete={"sessionId": "s-1"})
        return setup

    async def says(self, **fields: Any) -> None:
        message, _ = from_json(ServerMessage, fields)
        await self._transport.send(encode_server(message).encode())

    async def sends(self, frame: str | bytes) -> None:
        await self._transport.send(frame)

    async def closes(self, code: int, reason: str = "") -> None:
        await self._transport.close(code, reason)

    async def drinks(self) -> None:
        """Read on until the client closes."""
        try:
            while True:
                await self.hears()
        except TransportClosed:
            return


class Stage:
    """Session under test: `session`, its events (`sink`), the server's end (`server`).

    `server` is the end of the first connection; `next_server` waits for the one after it.
    """

    def __init__(
        self,
        agent: Agent | Live | AgentSource,
        audio: AudioIO,
        mode: ev.Mode,
        max_minutes: float | None,
        text_model: TextModel | None = None,
        dial: Callable[[], Awaitable[Transport]] | None = None,
        own_store: OwnStore | None = None,
        sink: Sink | None = None,
        link_policy: LinkPolicy | None = None,
        harness: HarnessWorker | None = None,
        dormant_after_s: float = 0.0,
        consent: ConsentOptions | None = None,
    ) -> None:
        self.sink = sink or Sink()
        source = agent if isinstance(agent, AgentSource) else None
        plan = agent.load() if isinstance(agent, AgentSource) else agent.plan()
        definition = plan.definition
        self._ends: list[Transport] = []
        self._opened: asyncio.Queue[ScriptedServer] = asyncio.Queue()
        self._refuses_until = 0.0
        self.unprepared: GeminiLiveError | None = None
        """Error with which preparing a connection fails after a moment."""
        client, server = MemoryTransport.pair()
        self._ends.append(client)
        self.server = ScriptedServer(server)
        clock = LoopClock()
        capabilities = capabilities_of(definition.model)
        self.core = SessionCore(
            CoreState(
                mode=mode,
                capabilities=capabilities,
                limits=Limits(None, max_minutes),
                price=None,
                started_at=clock.now(),
                rules=definition.turn_rules,
                turns=plan.turn_options,
                link_policy=link_policy,
            )
        )

        async def transport(_: Endpoint) -> Transport:
            if dial is not None:
                return await dial()
            if clock.now() < self._refuses_until:
                raise UnreachableError("The server cannot be reached")
            if self._ends:
                return self._ends.pop()
            mine, theirs = MemoryTransport.pair()
            self._opened.put_nowait(ScriptedServer(theirs))
            return mine

        async def opening() -> Opening:
            if self.unprepared is not None:
                await asyncio.sleep(0.01)
                raise self.unprepared

            def adapter(recorder: WireObserver, instruction: str, handle: str) -> Connection:
                current = self.session.orchestrator.agent.plan
                setup = setup_of(
                    current,
                    definition.model,
                    capabilities=capabilities,
                    instruction=instruction,
                    handle=handle,
                    voice=self.core.state.voice,
                    turns=self.core.state.turn_options.detection,
                )
                return Connection(
                    local_endpoint("ws://localhost"),
                    setup,
                    observer=recorder,
                    transport_factory=transport,
                )

            return Opening(url="ws://localhost", adapter=adapter)

        self.closed = False
        self.exit_code = -1

        async def closing() -> None:
            self.closed = True

        self.session = LiveSession(
            started=ev.SessionStarted(
                session_id="s",
                agent=plan.name,
                model=definition.model,
                backend="local",
                wall=0.0,
                record="off",
                mode=mode,
                program="test",
            ),
            plan=plan,
            core=self.core,
            capabilities=capabilities,
            sink=self.sink,
            audio=audio,
            opening=opening,
            closing=closing,
            clock=clock,
            text_model=text_model,
            source=source,
            own_store=own_store,
            harness=harness,
            dormant_after_s=dormant_after_s,
            consent=consent,
        )
        self.orchestrator = self.session.orchestrator
        self.agent = self.orchestrator.agent
        self.state = self.agent.state

    def refuses_until(self, seconds: float) -> None:
        """Let no connection be made for so many seconds from now."""
        self._refuses_until = asyncio.get_running_loop().time() + seconds

    async def begins(self) -> None:
        """Accept the first connection and wait until the session has worked through it."""
        await self.server.accepts()
        await self.sink.until(ev.ConnectionReady)
        await self.settled()

    async def next_server(self) -> ScriptedServer:
        """Wait for the next connection and return the server's end of it."""
        return await self._opened.get()

    async def settled(self) -> None:
        """Return once the control lane has nothing left to do."""
        for _ in range(3):
            await asyncio.sleep(0)
            await self.agent.queue.drained()

    async def types(self, text: str) -> None:
        await self.session.command(cmd.Command("c", cmd.SendText(text=text)))


@contextlib.asynccontextmanager
async def stage(
    *,
    agent: Agent | Live | AgentSource | None = None,
    audio: Callable[[], AudioIO] = NoAudio,
    mode: ev.Mode = "voice",
    max_minutes: float | None = None,
    hang_up: bool = True,
    text_model: TextModel | None = None,
    dial: Callable[[], Awaitable[Transport]] | None = None,
    own_store: OwnStore | None = None,
    sink: Sink | None = None,
    link_policy: LinkPolicy | None = None,
    harness: HarnessWorker | None = None,
    dormant_after_s: float = 0.0,
    consent: ConsentOptions | None = None,
) -> AsyncIterator[Stage]:
    """Run a session beside the block and wait for its exit code.

    At the end of the block the session is hung up, unless `hang_up` is False. `dial` makes connections to another
    server than the scripted one.
    """
    of = agent or Agent(name="test", instruction="Test.")
    one = Stage(
        of,
        audio(),
        mode,
        max_minutes,
        text_model,
        dial,
        own_store,
        sink,
        link_policy,
        harness,
        dormant_after_s,
        consent,
    )
    running = asyncio.create_task(one.session.run())
    async with asyncio.timeout(100_000):
        yield one
        if hang_up:
            one.session.hang_up("the test is over")
        one.exit_code = await running
