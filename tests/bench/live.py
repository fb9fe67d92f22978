"""Make real sessions for the benchmarks, with a microphone and any server."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.interface import (
    AudioListener,
    AudioOpened,
    MicChunk,
    OpenDevice,
)
from gemini_live_runtime.audio.processing.loop_listener import LoopListener
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.samples import MeterSample
from gemini_live_runtime.session.core.core import SessionCore
from gemini_live_runtime.session.core.limits import Limits
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.definition.setup import setup_of
from gemini_live_runtime.session.io.agent import Agent
from gemini_live_runtime.session.io.live_session import LiveSession, Opening
from gemini_live_runtime.session.ports.capabilities import capabilities_of
from gemini_live_runtime.wire.connection import Connection
from gemini_live_runtime.wire.endpoints import Endpoint
from gemini_live_runtime.wire.observer import WireObserver
from gemini_live_runtime.wire.transport import Transport

AGENT = Agent(name="bench", instruction="You are a bench.", model="bench")


class BenchAudio:
    """`AudioIO` with an open microphone and a loudspeaker that counts.

    The microphone delivers through the product's relay.
    """

    def __init__(self) -> None:
        self.relay: LoopListener | None = None
        self.listener: AudioListener | None = None
        self.played = 0

    async def open(self, listener: AudioListener) -> AudioOpened:
        self.listener = listener
        self.relay = LoopListener(asyncio.get_running_loop(), listener)
        return AudioOpened(
            OpenDevice("input", "bench", 16_000, 10.0), OpenDevice("output", "bench", 24_000, 10.0), (), ""
        )

    def deliver(self, pcm: bytes) -> None:
        """20 ms of microphone, from the audio worker's thread."""
        assert self.relay is not None
        self.relay.on_mic_chunk(MicChunk(pcm, time.monotonic()))
        self.relay.flush()

    async def close(self) -> None:
        return None

    def play(self, gen: int, pcm: bytes) -> None:
        self.played += 1

    def end_of_turn(self, gen: int) -> None:
        return None

    def cut(self, cut_below: int) -> None:
        return None

    def played_samples(self, gen: int) -> int:
        return 0

    def set_microphone(self, on: bool) -> None:
        return None

    def set_speaker(self, on: bool) -> None:
        return None

    def set_paused(self, paused: bool) -> None:
        return None

    def levels(self) -> MeterSample:
        return MeterSample()

    finished = False
    playing = False


class _Announced(Connection):
    """Connection that resolves a future with itself once it is made."""

    def __init__(self, opened: asyncio.Future[Connection], *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self._opened = opened

    async def connect(self) -> str:
        try:
            session_id = await super().connect()
        except Exception as error:
            # The session reports it as its own fault and goes on: the bench would wait for ever.
            if not self._opened.done():
                self._opened.set_exception(error)
            raise
        if not self._opened.done():
            self._opened.set_result(self)
        return session_id


class Loudspeaker(BenchAudio):
    """Plays each answer to its end, in virtual time, unless it is cut."""

    def __init__(self) -> None:
        super().__init__()
        self._gen = 0

    def play(self, gen: int, pcm: bytes) -> None:
        super().play(gen, pcm)
        assert self.listener is not None
        if gen != self._gen:
            self._gen = gen
            self.listener.on_playback_started(gen)
        self.listener.on_playback_heard(gen, 0, len(pcm) // 2)

    def end_of_turn(self, gen: int) -> None:
        assert self.listener is not None
        asyncio.get_running_loop().call_later(0.2, self.listener.on_playback_drained, gen)

    def played_samples(self, gen: int) -> int:
        return 480


def make_hub(clock: Clock, journal_root: Path | None) -> Hub:
    """Return the engine's hub; with a folder, its journal records sound."""
    hub = Hub("bench", clock, program="bench", pid=os.getpid())
    if journal_root is not None:
        hub.journal = JournalWriter(journal_root, "bench", audio=True, report=hub.report)
    return hub


def make_session(
    hub: Hub,
    audio: BenchAudio,
    clock: Clock,
    endpoint: Endpoint,
    transport_factory: Callable[[Endpoint], Awaitable[Transport]],
    plan: SessionPlan | None = None,
) -> tuple[LiveSession, asyncio.Future[Connection]]:
    """Return the product's session as `engine.assemble` makes it, and a future.

    The future is its first connection once that is open.

    `plan` is the agent's; without one it is an agent that only talks.
    """
    plan = plan or AGENT.plan()
    opened: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
    capabilities = capabilities_of(AGENT.model)
    core = SessionCore(
        CoreState(mode="voice", capabilities=capabilities, limits=Limits(), price=None, started_at=clock.now())
    )

    async def opening() -> Opening:
        def adapter(recorder: WireObserver, instruction: str, handle: str) -> Connection:
            setup = setup_of(plan, AGENT.model, capabilities=capabilities, instruction=instruction, handle=handle)
            return _Announced(opened, endpoint, setup, observer=recorder, transport_factory=transport_factory)

        return Opening(url="bench", adapter=adapter)

    async def closing() -> None:
        return None

    started = ev.SessionStarted(
        session_id="bench",
        agent=AGENT.name,
        model=AGENT.model,
        backend="bench",
        wall=hub.wall,
        record="off",
        mode="voice",
        program="bench",
    )
    session = LiveSession(
        started=started,
        plan=plan,
        core=core,
        capabilities=capabilities,
        sink=hub,
        audio=audio,
        opening=opening,
        closing=closing,
        clock=clock,
    )
    return session, opened
