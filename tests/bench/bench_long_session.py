"""Measure time and memory of a session of 10,000 turns beside one of 100.

    .venv/bin/python tests/bench/bench_long_session.py [TURNS]

Whole sessions in virtual time, over the engine's hub and against a server that says its frames at once: words of both
sides, sound that is played, a tool with every second turn, usage, resumption, an interruption now and then; the agent
has phases that it leaves again and again, watchers, computed values, a pattern and an extractor. The old session has
gone through its turns before. Then both go on, in turns, and the time of each stretch is divided by its events. Memory
is what Python's allocator has handed out, traced over another session, once it has filled what is bounded and 1,500
turns later, without the hub: its view keeps up to 20,000 blocks of transcript.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import statistics
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.bench.live import Loudspeaker, make_hub, make_session  # noqa: E402

from gemini_live_runtime import events as ev  # noqa: E402
from gemini_live_runtime import tool  # noqa: E402
from gemini_live_runtime.api import Live  # noqa: E402
from gemini_live_runtime.clock import LoopClock, run_virtual  # noqa: E402
from gemini_live_runtime.conversation.extraction import EVERY_TURN  # noqa: E402
from gemini_live_runtime.conversation.phases import Phase, Transition  # noqa: E402
from gemini_live_runtime.conversation.text_model import TextModel  # noqa: E402
from gemini_live_runtime.conversation.transcript import TranscriptWindow  # noqa: E402
from gemini_live_runtime.engine.hub import Hub  # noqa: E402
from gemini_live_runtime.session.definition.plan import SessionPlan  # noqa: E402
from gemini_live_runtime.state.computed import ComputedVar  # noqa: E402
from gemini_live_runtime.state.detectors import TurnCountDetector  # noqa: E402
from gemini_live_runtime.state.temporal import TemporalPattern  # noqa: E402
from gemini_live_runtime.state.terms import key  # noqa: E402
from gemini_live_runtime.state.watchers import Watcher  # noqa: E402
from gemini_live_runtime.tools.context import ToolContext  # noqa: E402
from gemini_live_runtime.wire.endpoints import Endpoint, local_endpoint  # noqa: E402
from gemini_live_runtime.wire.transport import Transport, TransportClosed  # noqa: E402

TURNS = 10_000
YOUNG = 100
STRETCH = 10
ROUNDS = 41
AT_MOST = 1.2

TRACED_FROM, TRACED_TO = 2_200, 3_700
"""Turns; by the first, the 1,024 call ids that a session remembers are there."""
AT_MOST_KEPT = 16
"""Bytes that a turn may leave behind: less than any record of it would need."""

Frames = list[dict[str, Any]]

PCM = base64.b64encode(bytes(1920)).decode()
SOUND = {"modelTurn": {"parts": [{"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": PCM}}]}}
USAGE = {
    "promptTokenCount": 120,
    "responseTokenCount": 30,
    "totalTokenCount": 150,
    "promptTokensDetails": [{"modality": "AUDIO", "tokenCount": 120}],
    "responseTokensDetails": [{"modality": "AUDIO", "tokenCount": 30}],
}


class Feed(Transport):
    """The server's frames on one connection, given when they are wanted.

    A setup is answered; of what else is sent only results of tools are counted.
    """

    def __init__(self) -> None:
        self._frames: asyncio.Queue[bytes | None] = asyncio.Queue()
        self.answers = 0

    def says(self, *frames: dict[str, Any]) -> None:
        for frame in frames:
            self._frames.put_nowait(json.dumps(frame).encode())

    async def send(self, frame: str | bytes) -> None:
        sent = frame if isinstance(frame, bytes) else frame.encode()
        self.answers += b"toolResponse" in sent
        if sent.startswith(b'{"setup"'):
            self.says({"setupComplete": {}})

    async def recv(self) -> str | bytes:
        frame = await self._frames.get()
        if frame is None:
            raise TransportClosed(1000)
        return frame

    async def close(self, code: int = 1000, reason: str = "") -> None:
        self._frames.put_nowait(None)


class Counted:
    """A sink that keeps nothing."""

    wall = 0.0

    def __init__(self) -> None:
        self.seq = 0

    def emit(self, payload: ev.Payload, *, turn: int, gen: int) -> ev.Event:
        self.seq += 1
        return ev.Event(self.seq, 0.0, turn, gen, payload)

    async def written(self, within_s: float) -> bool:
        return True

    def audio(self, track: ev.Side, pcm: bytes) -> None:
        return None


class Length:
    """An extractor that needs no model: how much the user has said."""

    name = "length"
    window = 3
    trigger = EVERY_TURN
    promotions = ()
    deadline_s = 1.0

    def should_extract(self, window: TranscriptWindow, /) -> bool:
        return True

    async def extract(self, window: TranscriptWindow, model: TextModel | None, /) -> dict[str, Any]:
        await asyncio.sleep(0.01)
        return {"words": len(window.last_user.split())}


@tool
def note(text: str, context: ToolContext) -> dict[str, str]:
    """Keep a note."""
    assert context.state is not None
    context.state.set("app:note", text)
    context.state.modify("app:notes", 0, lambda count: count + 1)
    context.state.set(f"turn:note{len(text)}", True)
    return {"kept": text}


def nothing() -> None:
    """Do nothing, as a watcher's action."""


def agent() -> SessionPlan:
    even = ComputedVar("even", lambda state: state.get("app:notes", 0) % 2 == 0, depends_on="app:notes")
    return (
        Live.builder("bench")
        .instruction("You are a bench.")
        .tools(note)
        .state(values={"app:notes": 0})
        .computed(even)
        .phase(
            Phase("even", "Talk about even things.", transitions=Transition("odd", ~key("derived:even").is_true())),
            Phase("odd", "Talk about odd things.", transitions=Transition("even", key("derived:even").is_true())),
        )
        .watch(Watcher(key("app:note").changed(), nothing), Watcher(key("app:words").crossed_above(100), nothing))
        .pattern(TemporalPattern("many", TurnCountDetector(key("app:notes") > 3, 5), nothing))
        .extract(Length())
        .on("turn_complete", lambda turn: None)
        .on("audio", lambda pcm: None)
        .plan()
    )


def frames(number: int) -> tuple[Frames, Frames]:
    """Return the server's messages of a turn, before and after a tool's answer."""
    first: Frames = [
        {"serverContent": {"inputTranscription": {"text": f"This is what I say in turn {number}."}}},
        {"serverContent": {"outputTranscription": {"text": "And this is "}}},
        *[{"serverContent": SOUND}] * 5,
        {"serverContent": {"outputTranscription": {"text": "my answer."}}},
    ]
    rest: Frames = [{"usageMetadata": USAGE}]
    if number % 2:
        call = {"id": f"call{number}", "name": "note", "args": {"text": f"note {number}"}}
        first.append({"toolCall": {"functionCalls": [call]}})
        rest += [{"serverContent": SOUND}, {"serverContent": {"outputTranscription": {"text": " It is noted."}}}]
    if number % 10 == 0:
        rest += [{"serverContent": {"interrupted": True}}, {"serverContent": {"turnComplete": True}}]
    else:
        rest += [{"serverContent": {"generationComplete": True}}, {"serverContent": {"turnComplete": True}}]
    rest.append({"sessionResumptionUpdate": {"newHandle": f"handle{number}", "resumable": True}})
    return first, rest


class Conversation:
    """A session that is run turn by turn."""

    def __init__(self, *, kept: bool = True) -> None:
        """Without `kept`, events go nowhere."""
        self._feed = Feed()
        clock = LoopClock()
        hub = make_hub(clock, None)
        self._sink = hub if kept else Counted()
        self.session, self._opened = make_session(
            hub, Loudspeaker(), clock, local_endpoint("ws://localhost"), self._transport, agent()
        )
        self.session.bus._sink = self._sink
        self.turns = 0

    @property
    def events(self) -> int:
        """Events so far."""
        return self._sink.view.seq if isinstance(self._sink, Hub) else self._sink.seq

    async def _transport(self, _: Endpoint) -> Transport:
        # A session that has waited for the other one to talk takes a new connection before the old one's age ends it.
        self._feed = Feed()
        return self._feed

    async def start(self) -> None:
        """Connect."""
        self._running = asyncio.create_task(self.session.run())
        await self._opened
        await asyncio.sleep(1)

    async def talk(self, turns: int) -> float:
        """So many more turns; microseconds for each event."""
        events, began = self.events, time.perf_counter()
        for _ in range(turns):
            self.turns += 1
            answers = self._feed.answers
            first, rest = frames(self.turns)
            self._feed.says(*first)
            await asyncio.sleep(0.5)
            assert self._feed.answers == answers + self.turns % 2
            self._feed.says(*rest)
            await asyncio.sleep(2)
        took = time.perf_counter() - began
        assert self.session.is_quiet
        assert self.session.orchestrator.agent.turn_count == self.turns
        return took / (self.events - events) * 1e6

    async def stop(self) -> None:
        """Hang up."""
        self.session.hang_up("done")
        await self._running


async def cost(turns: int) -> bool:
    """Measure, print, judge."""
    old, young = Conversation(), Conversation()
    await old.start()
    began = time.perf_counter()
    await old.talk(turns)
    seconds = time.perf_counter() - began
    print(f"{turns:,} turns of {old.events / turns:.0f} events took {seconds:.1f} s of computing")
    await young.start()
    await young.talk(YOUNG)
    samples: dict[str, list[float]] = {"old": [], "young": []}
    gc.collect()
    for _ in range(ROUNDS):
        samples["old"].append(await old.talk(STRETCH))
        samples["young"].append(await young.talk(STRETCH))
    await old.stop()
    await young.stop()
    ratio = statistics.median(a / b for a, b in zip(samples["old"], samples["young"], strict=True))
    then, now = (statistics.median(samples[name]) for name in ("young", "old"))
    print(f"an event after {YOUNG} turns {then:.1f} us, after {turns:,} turns {now:.1f} us")
    return told("cost of an event, old session / young one", f"<= {AT_MOST:g}x", f"{ratio:.2f}x", ratio <= AT_MOST)


async def memory() -> bool:
    """Measure, print, judge."""
    one = Conversation(kept=False)
    await one.start()
    tracemalloc.start()
    await one.talk(TRACED_FROM)
    gc.collect()
    before = tracemalloc.take_snapshot()
    await one.talk(TRACED_TO - TRACED_FROM)
    gc.collect()
    after = tracemalloc.take_snapshot()
    tracemalloc.stop()
    await one.stop()
    differences = after.compare_to(before, "lineno")
    kept = sum(item.size_diff for item in differences) / (TRACED_TO - TRACED_FROM)
    for item in differences[:5]:
        place = item.traceback[0]
        print(f"  {item.size_diff:+9,} bytes  {Path(place.filename).name}:{place.lineno}")
    name = f"bytes kept of a turn, {TRACED_FROM:,} to {TRACED_TO:,} turns"
    return told(name, f"<= {AT_MOST_KEPT}", f"{kept:.0f}", kept <= AT_MOST_KEPT)


def told(name: str, target: str, measured: str, met: bool) -> bool:
    """Print a line; whether its target is met."""
    print(f"{name:44} | {target:>8} | {measured:>8}{'' if met else '  MISSED'}")
    return met


async def main() -> int:
    """Measure, print, judge."""
    print(f"CPython {sys.version.split()[0]}\n")
    met = await cost(int(sys.argv[1]) if len(sys.argv) > 1 else TURNS)
    print()
    met &= await memory()
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(run_virtual(main()))
