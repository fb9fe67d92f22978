"""Hold a session for simulated hours, and measure what it keeps.

    .venv/bin/python -m tests.faults.long_session --hours 24

A whole session in virtual time, with the microphone open, a console attached and its journal on disk: a turn of both
sides every ten seconds, a tool with every second one, an interruption with every tenth, a new connection every two
minutes, announced or lost. Each hour memory, tasks and descriptors are read, at rest. Prints a JSON object.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import sys
import tempfile
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.bench.bench_long_session import agent, frames
from tests.bench.live import Loudspeaker, make_hub, make_session
from tests.faults.fuzz_account import memory_kb

from gemini_live_runtime.audio.interface import MicChunk
from gemini_live_runtime.clock import LoopClock, run_virtual
from gemini_live_runtime.engine.console_outbox import ConsoleOutbox
from gemini_live_runtime.journal.recording.writer import JournalWriter
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint
from gemini_live_runtime.wire.transport import Transport, TransportClosed

TURN_S = 10.0
"""Virtual seconds of a turn."""

LINE_S = 120.0
"""Virtual seconds after which the server ends a connection."""

CHUNKS = 10
"""Microphone chunks of 20 ms that the device gives at once."""

SETUP = json.dumps({"setupComplete": {}}).encode()


@dataclass(slots=True)
class Reading:
    """Figures of the session at rest, after so many simulated hours."""

    hours: float
    rss_kb: int
    tasks: int
    descriptors: int
    objects: int
    """Objects that Python's garbage collector knows."""
    blocks: int
    """Blocks of the transcript in memory."""
    journal_kb: int


@dataclass(slots=True)
class Report:
    """Readings of a run, and what happened in it."""

    readings: list[Reading] = field(default_factory=list)
    turns: int = 0
    unanswered: int = 0
    """Tool calls without a result."""
    connections: int = 0
    chunks: int = 0
    """Microphone chunks that arrived."""
    captured: int = 0
    """Microphone chunks that the device gave."""
    exit_code: int = -1
    seconds: float = 0.0


class Line(Transport):
    """Connection of the server; what it says are frames of the session's turn."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._frames: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._end: tuple[int, str] | None = None

    def says(self, *messages: dict[str, Any]) -> None:
        self._frames.extend(json.dumps(message).encode() for message in messages)
        self._wake.set()

    def ends(self, code: int) -> None:
        self._end = (code, "")
        self._wake.set()

    async def send(self, frame: str | bytes) -> None:
        if not self.send_now(frame):
            raise TransportClosed(*(self._end or (1006, "")))

    def send_now(self, frame: str | bytes) -> bool:
        if self._end is not None:
            return False
        text = frame if isinstance(frame, str) else frame.decode()
        if text.startswith('{"setup"'):
            self._frames.append(SETUP)
            self._wake.set()
        self._server.hears(text)
        return True

    async def recv(self) -> str | bytes:
        while not self._frames:
            if self._end is not None:
                raise TransportClosed(*self._end)
            self._wake.clear()
            await self._wake.wait()
        return self._frames.popleft()

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self.ends(code)


class Server:
    """Server of one session, over its connections."""

    def __init__(self) -> None:
        self.line: Line | None = None
        self.lines = self.answers = self.chunks = 0

    async def transport(self, _: Endpoint) -> Transport:
        self.lines += 1
        self.line = Line(self)
        return self.line

    def hears(self, text: str) -> None:
        self.answers += '"toolResponse"' in text
        if '"audio"' in text[:40]:
            # Sound that waited comes in larger pieces.
            self.chunks += round((len(text) - 75) * 3 / 4 / 640)


class Microphone(Loudspeaker):
    """Loudspeaker with a microphone that is always open."""

    def __init__(self) -> None:
        super().__init__()
        self.captured = 0

    def hear(self, chunks: int) -> None:
        """Give chunks of silence."""
        assert self.listener is not None
        now = asyncio.get_running_loop().time()
        for _ in range(chunks):
            self.captured += 1
            self.listener.on_mic_chunk(MicChunk(bytes(640), now))


class LongSession:
    """Session that is run turn by turn."""

    def __init__(self, folder: Path) -> None:
        clock = LoopClock()
        self._folder = folder
        self.hub = make_hub(clock, None)
        self.hub.journal = JournalWriter(folder, "long", audio=False, report=self.hub.report)
        self.server = Server()
        self.audio = Microphone()
        self.session, _ = make_session(
            self.hub, self.audio, clock, local_endpoint("ws://localhost"), self.server.transport, agent()
        )
        self.hub.sample_source = self.session.sample
        self.turns = self.calls = 0

    async def run(self, hours: float, readings: int) -> Report:
        """Talk for so long, and read the figures so many times on the way."""
        report, began = Report(), time.perf_counter()
        running = asyncio.create_task(self.session.run())
        console = asyncio.create_task(self._console(self.hub.attach()))
        self.session.on_console_attached(True)
        await asyncio.sleep(1)
        loop = asyncio.get_running_loop()
        start = loop.time()
        leave_at = start + LINE_S
        report.readings.append(self._reading(0.0))
        for number in range(1, readings + 1):
            while loop.time() - start < hours * 3600 * number / readings:
                await self._turn()
                if loop.time() >= leave_at:
                    leave_at += LINE_S
                    await self._leave()
            report.readings.append(self._reading(hours * number / readings))
            print(report.readings[-1], file=sys.stderr, flush=True)
        report.turns, report.unanswered = self.turns, self.calls - self.server.answers
        self.session.hang_up("done")
        report.exit_code = await running
        self.hub.bye("done", 0)
        await console
        assert self.hub.journal is not None
        self.hub.journal.close()
        report.connections, report.chunks, report.captured = self.server.lines, self.server.chunks, self.audio.captured
        report.seconds = round(time.perf_counter() - began, 1)
        return report

    async def _console(self, outbox: ConsoleOutbox) -> None:
        while await outbox.take():
            pass

    async def _turn(self) -> None:
        self.turns += 1
        first, rest = frames(self.turns)
        self.calls += self.turns % 2
        assert self.server.line is not None
        self.server.line.says(*first)
        await self._passes(1.0)
        self.server.line.says(*rest)
        await self._passes(TURN_S - 1.0)

    async def _passes(self, seconds: float) -> None:
        for _ in range(round(seconds / (CHUNKS * 0.02))):
            self.audio.hear(CHUNKS)
            await asyncio.sleep(CHUNKS * 0.02)

    async def _leave(self) -> None:
        """End the connection in a pause: announced, or lost."""
        line = self.server.line
        assert line is not None
        if self.server.lines % 2:
            line.says({"goAway": {"timeLeft": "3s"}})
        else:
            line.ends(1006)
        await self._passes(10.0)

    def _reading(self, hours: float) -> Reading:
        gc.collect()
        assert self.hub.journal is not None
        self.hub.journal.flush()
        descriptors = Path("/proc/self/fd")
        return Reading(
            hours=round(hours, 3),
            rss_kb=memory_kb("VmRSS"),
            tasks=len(asyncio.all_tasks()),
            descriptors=len(os.listdir(descriptors)) if descriptors.exists() else 0,
            objects=len(gc.get_objects()),
            blocks=len(self.hub.view.blocks),
            journal_kb=sum(path.stat().st_size for path in self._folder.rglob("*") if path.is_file()) // 1024,
        )


async def soak(hours: float, readings: int) -> Report:
    """Hold one session for so many simulated hours."""
    with tempfile.TemporaryDirectory() as folder:
        return await LongSession(Path(folder)).run(hours, readings)


def main() -> None:
    """Print the report of a run."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.long_session", description=__doc__)
    parser.add_argument("--hours", type=float, default=24.0)
    parser.add_argument("--readings", type=int, default=24)
    chosen = parser.parse_args()
    print(json.dumps(asdict(run_virtual(soak(chosen.hours, chosen.readings))), indent=2))


if __name__ == "__main__":
    main()
