"""Hold sessions with a server that sends fuzzed frames.

    .venv/bin/python -m tests.faults.fuzzed_session --frames N

A whole session in virtual time: decoder, core, agent and recorder are the product's; the socket, the loudspeaker and
the disk are not. One frame in ten is sent to a recorded session, with the hub's redaction, fold and journal lines,
which are read back; that takes twice the time. After each batch a text is typed and answered in order, on whichever
connection there is by then. The frames at the codec's limits come last: they take memory where they are made.

Prints a JSON object: what happened, and the work that the costliest frame caused.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import Any

from tests.bench.live import Loudspeaker, make_session
from tests.faults.fuzz_account import SHORT, Account, StepClock, memory_kb
from tests.faults.fuzzed_server import FuzzedServer
from tests.support.fuzzed_frames import LARGE, Frame, Fuzzer

from gemini_live_runtime import Live, Phase, ToolContext, Transition, Watcher, key, tool
from gemini_live_runtime import commands as cmd
from gemini_live_runtime import events as ev
from gemini_live_runtime.audio.resample import PcmConverter
from gemini_live_runtime.clock import LoopClock, VirtualTimeLoop
from gemini_live_runtime.engine.hub import Hub
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.vocabulary import event_from_line
from gemini_live_runtime.wire.endpoints import local_endpoint

BATCH = 250
"""Number of frames between two typed texts."""

RECORDED = 10
"""Number of frames for each frame in the recorded session."""

PATIENCE_S = 240.0
"""Virtual seconds in which a typed text has to be answered."""


class Disk:
    """Stands in for the journal: counts, and keeps the newest lines."""

    def __init__(self) -> None:
        self.chars = 0
        self.lines: list[str] = []

    def append(self, line: str) -> None:
        self.chars += len(line)
        self.lines.append(line)

    def call_when_written(self, callback: Callable[[bool], None]) -> None:
        callback(True)

    def keep_value(self, name: str, data: bytes) -> bool:
        return True

    def audio(self, track: ev.Side, pcm: bytes) -> None:
        return None


class Sink:
    """Event sink that counts, in front of the hub of a recorded session."""

    def __init__(self, hub: Hub, account: Account, *, recorded: bool) -> None:
        self._hub = hub
        self._account = account
        self._recorded = recorded
        self.wall = hub.wall
        self.events = 0
        self.answers: list[str] = []
        """Words of the model since they were looked at."""

    def emit(self, payload: ev.Payload, *, turn: int, gen: int) -> ev.Event:
        self.events += 1
        self._account.take(payload)
        if isinstance(payload, ev.TranscriptDelta) and payload.side == "model":
            self.answers.append(payload.text)
        if self._recorded:
            return self._hub.emit(payload, turn=turn, gen=gen)
        return ev.Event(self.events, 0.0, turn, gen, payload)

    async def written(self, within_s: float) -> bool:
        return True

    def audio(self, track: ev.Side, pcm: bytes) -> None:
        return None


@tool
def note(text: str, context: ToolContext) -> dict[str, str]:
    """Keep a note.

    Args:
        text: The note.
    """
    assert context.state is not None
    context.state.set("app:note", text)
    return {"kept": text}


@tool(background=True)
async def look_up(text: str, count: int = 1) -> dict[str, Any]:
    """Look something up for a while.

    Args:
        text: The words.
        count: How many to find.
    """
    await asyncio.sleep(0.5)
    return {"found": [text] * min(max(count, 0), 3)}


@tool
async def wait_for(text: str) -> str:
    """Wait for ever.

    Args:
        text: The thing to wait for.
    """
    await asyncio.sleep(3600)
    return text


TOOLS = ("note", "note", "look_up", "wait_for", "set_timer", "n", "")


def _nothing() -> None:
    """Do nothing, as a watcher's action."""


def plan() -> SessionPlan:
    """Return an agent with phases, watchers and tools."""
    return (
        Live.builder("fuzzed")
        .instruction("You are tested.")
        .tools(note, look_up, wait_for)
        .phase(
            Phase("one", "Be brief.", transitions=Transition("two", key("app:note").is_set())),
            Phase("two", "Be briefer.", transitions=Transition("one", key("app:note") == "")),
        )
        .watch(Watcher(key("app:note").changed(), _nothing))
        .plan()
    )


class FuzzedSession:
    """Session with a fuzzed server, batch by batch."""

    def __init__(self, source: Iterator[Frame], account: Account, *, recorded: bool) -> None:
        self._account = account
        self._disk = Disk()
        clock = LoopClock()
        self._hub = Hub("fuzzed", clock, program="fuzz", pid=1)
        self._hub.journal = self._disk  # type: ignore[assignment]
        self._sink = Sink(self._hub, account, recorded=recorded)
        self._server = FuzzedServer(source, account, lambda: self._sink.events)
        self._session, _ = make_session(
            self._hub, Loudspeaker(), clock, local_endpoint("ws://localhost"), self._server.transport, plan()
        )
        self._session.bus._sink = self._sink
        self._session.on_console_attached(True)

    async def run(self, frames: int) -> None:
        """Send frames, and type a text after each batch."""
        running = asyncio.create_task(self._session.run())
        await self._is_answered()
        self._account.idle_kb = self._account.idle_kb or memory_kb("VmRSS")
        left = frames
        while left > 0 and not running.done() and len(self._account.faults) < 20:
            frames, left = min(left, BATCH), max(0, left - BATCH)
            told, sent = self._disk.chars, self._server.chars
            self._server.fuzz(frames)
            await self._until(lambda: not self._server.left, "no further frame is read")
            await self._is_answered()
            told, sent = self._disk.chars - told, self._server.chars - sent
            self._account.chars_a_char = max(self._account.chars_a_char, told / (sent + SHORT * frames))
            self._read_back()
        if running.done():
            self._account.fault("the session ended")
        self._session.hang_up("done")
        if code := await running:
            self._account.fault(f"the exit code is {code}")
        self._hub.bye("done", 0)

    def _read_back(self) -> None:
        """Read the lines of a batch, as a reader of the journal does."""
        for line in self._disk.lines:
            event_from_line(line)
        self._disk.lines.clear()
        # This step of the event loop is the test's own.
        self._account.is_paused = True

    async def _is_answered(self) -> None:
        """Type a text, which has to arrive, and answer it, which has to make an event."""
        account, server = self._account, self._server
        account.probes += 1
        question, answer = f"Is this probe {account.probes}?", f" It is probe {account.probes}."
        server.says({"serverContent": {"turnComplete": True}})
        await self._session.command(cmd.Command(f"p{account.probes}", cmd.SendText(text=question)))
        await self._until(lambda: any(question in text for text in server.texts), "a typed text does not arrive")
        server.texts.clear()
        self._sink.answers.clear()
        server.says({"serverContent": {"outputTranscription": {"text": answer}}})
        await self._until(lambda: answer in self._sink.answers, "an answer is not told")
        server.says({"serverContent": {"generationComplete": True}}, {"serverContent": {"turnComplete": True}})

    async def _until(self, holds: Callable[[], bool], otherwise: str) -> None:
        """Return once it holds, or note a fault.

        Connects again meanwhile where the session has given up, as a user would.
        """
        for _ in range(round(PATIENCE_S / 0.1)):
            if holds():
                return
            if self._session._core.state.facts.status == "error":
                await self._session.command(cmd.Command("connect", cmd.Connect()))
            await asyncio.sleep(0.1)
        self._account.fault(otherwise)


def frames_of(seed: int) -> Iterator[Frame]:
    """Yield the frames of a seed, without end."""
    fuzzer = Fuzzer(seed, TOOLS)
    while True:
        yield fuzzer.frame()


def fuzz(seed: int, frames: int) -> Account:
    """Send so many frames of a seed to two sessions, of which one is recorded."""
    # An idle session has it after the first sound at another rate.
    PcmConverter(8_000, 24_000).convert(bytes(2))
    source, recorded = frames_of(seed), frames // RECORDED
    account = Account()
    _run(source, account, recorded, recorded=True)
    _run(source, account, frames - recorded, recorded=False)
    account.peak_kb = memory_kb("VmHWM")
    return account


def load() -> Account:
    """Send the frames of `LARGE` to a recorded session."""
    large = [make() for make in LARGE.values()]
    account = Account()
    _run(iter(large), account, len(large), recorded=True)
    return account


def _run(source: Iterator[Frame], account: Account, frames: int, *, recorded: bool) -> None:
    def loop_factory() -> VirtualTimeLoop:
        loop = VirtualTimeLoop()
        loop.set_exception_handler(lambda _, context: account.fault(str(context.get("exception") or context)))
        return loop

    async def main() -> None:
        await FuzzedSession(source, account, recorded=recorded).run(frames)

    began = time.perf_counter()
    with asyncio.Runner(loop_factory=loop_factory) as runner, StepClock(account):
        runner.run(main())
    account.seconds = round(account.seconds + time.perf_counter() - began, 2)


def main() -> None:
    """Print the accounts of a run, of fuzzed and of large frames."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.fuzzed_session", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--frames", type=int, default=10_000)
    chosen = parser.parse_args()
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)
    fuzzed = asdict(fuzz(chosen.seed, chosen.frames))
    # What the fuzzed sessions have left is no work of the large frames: to collect it takes 0.1 s.
    gc.collect()
    print(json.dumps({"fuzzed": fuzzed, "large": asdict(load())}, indent=2))


if __name__ == "__main__":
    main()
