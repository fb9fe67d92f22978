"""Measure how soon a session is back: after its connection, and after its engine.

    .venv/bin/python tests/bench/bench_recovery.py [ROUNDS]

- A connection: an engine talks to a server on loopback that closes with 1011; from the close to the next
  `connection.ready`, by the session's own clock, beside the first connection to the same server.
- An engine: it is killed, and another one is started with its recording; from the kill to the console's view of the
  session, and to the next `connection.ready`, beside an engine that begins a new session.
- A recording: reading it, beside `json.loads` of its lines.
- The intent of a typed text: from the question to the writer's answer, while the event loop is watched.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.support.fake_live_server import FakeLiveServer, accept_setup  # noqa: E402
from websockets.asyncio.server import ServerConnection  # noqa: E402

from gemini_live_runtime import events as ev  # noqa: E402
from gemini_live_runtime.clock import LoopClock  # noqa: E402
from gemini_live_runtime.engine import launch  # noqa: E402
from gemini_live_runtime.engine.hub import Hub  # noqa: E402
from gemini_live_runtime.engine.link import Link, Snapshot  # noqa: E402
from gemini_live_runtime.engine.registry import list_engines  # noqa: E402
from gemini_live_runtime.engine.resume import resume_engine  # noqa: E402
from gemini_live_runtime.engine.spec import EngineSpec, new_session_id  # noqa: E402
from gemini_live_runtime.journal.recording.kept_journal import read_kept  # noqa: E402
from gemini_live_runtime.journal.recording.reader import read_journal  # noqa: E402
from gemini_live_runtime.journal.recording.writer import JournalWriter  # noqa: E402

ROUNDS = 5
RECORDS = 5000
TEXTS = 300
CONNECTION_AT_MOST_MS = 150.0
ENGINE_AT_MOST_MS = 2000.0
RECORDS_AT_MOST_MS = 100.0
LAG_AT_MOST_MS = 1.0


async def until(link: Link, kind: type[ev.Payload]) -> ev.Event:
    """Read the link up to the next event of a kind."""
    while True:
        message = await link.receive()
        if isinstance(message, ev.Event) and isinstance(message.payload, kind):
            return message


async def until_ready(link: Link) -> None:
    """Read the link until its session has a connection."""
    while True:
        message = await link.receive()
        if isinstance(message, Snapshot) and message.view.connected_ms is not None:
            return
        if isinstance(message, ev.Event) and isinstance(message.payload, ev.ConnectionReady):
            return


async def connections(rounds: int) -> tuple[float, float]:
    """Return the median ms from a close to the next connection, and of a first setup."""

    async def closes_soon(socket: ServerConnection) -> None:
        await accept_setup(socket)
        await asyncio.sleep(0.2)
        await socket.close(1011, "bench")

    again, first = [], []
    for _ in range(rounds):
        with FakeLiveServer(closes_soon) as server, tempfile.TemporaryDirectory() as name:
            spec = _spec(name, backend=server.url)
            engine = launch.start_engine(spec, root=Path(name) / "run")
            link = await launch.connect(spec.session_id, engine=engine, root=Path(name) / "run")
            ready = await until(link, ev.ConnectionReady)
            assert isinstance(ready.payload, ev.ConnectionReady)
            first.append(ready.payload.ms)
            closed = await until(link, ev.ConnectionClosed)
            again.append(((await until(link, ev.ConnectionReady)).t - closed.t) * 1000)
            engine.process.kill()
            await asyncio.to_thread(engine.process.wait)
    return statistics.median(again), statistics.median(first)


async def engines(rounds: int) -> tuple[float, float, float]:
    """Return the median ms from a kill to the view and the connection, and of a start."""
    views, ready, fresh = [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
            root = Path(name) / "run"
            spec = _spec(name)
            began = time.perf_counter()
            engine = launch.start_engine(spec, root=root)
            await until_ready(await launch.connect(spec.session_id, engine=engine, root=root))
            fresh.append(time.perf_counter() - began)
            began = time.perf_counter()
            engine.process.kill()
            await asyncio.to_thread(engine.process.wait)
            link = await resume_engine(Path(name) / "sessions" / spec.session_id, asked=False, root=root)
            views.append(time.perf_counter() - began)
            await until_ready(link)
            ready.append(time.perf_counter() - began)
            (running,) = list_engines(root)
            os.kill(running.pid, signal.SIGKILL)
    return statistics.median(views) * 1000, statistics.median(ready) * 1000, statistics.median(fresh) * 1000


def _spec(folder: str, backend: str = "local") -> EngineSpec:
    session_id = new_session_id(time.time())
    return EngineSpec(session_id=session_id, backend=backend, audio="none", mode="text", record="text", data_dir=folder)


def recordings(rounds: int) -> tuple[float, float]:
    """Return the median ms for 1,000 records, and of `json.loads` of their lines."""
    with tempfile.TemporaryDirectory() as name:
        hub = Hub("bench", LoopClock(), program="bench", pid=0)
        hub.journal = journal = JournalWriter(Path(name), "bench", audio=False, report=hub.report)
        hub.emit(_started(), turn=0, gen=0)
        for turn in range(1, RECORDS // 10):
            hub.emit(ev.TurnStarted(by="typed"), turn=turn, gen=turn)
            hub.emit(ev.TextSent(text="How is the weather?", command_id=f"c{turn}"), turn=turn, gen=turn)
            for word in ["It", "rains", "in", "Lisbon", "today."]:
                hub.emit(ev.TranscriptDelta(side="model", text=f"{word} "), turn=turn, gen=turn)
            for number in range(2):
                hub.emit(_changed(f"app:key{number}", turn), turn=turn, gen=turn)
            hub.emit(ev.TurnCompleted(outcome="complete"), turn=turn, gen=turn)
        count = hub.view.seq
        journal.close()
        folder = Path(name) / "bench"
        lines = read_journal(folder).path.read_bytes().splitlines()
        ours = _median(rounds, lambda: read_kept(folder))
        floor = _median(rounds, lambda: [json.loads(line) for line in lines])
    return ours * 1e6 / count, floor * 1e6 / count


def _median(rounds: int, work: Callable[[], object]) -> float:
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def _started() -> ev.SessionStarted:
    return ev.SessionStarted(
        session_id="bench", agent="bench", model="m", backend="local", wall=0.0, record="text", mode="text", program=""
    )


def _changed(key: str, value: int) -> ev.StateChanged:
    return ev.StateChanged(key=key, old=value - 1, new=value, mutation=value, origin="tool")


async def intents() -> tuple[float, float, float]:
    """Return median and p99 ms of a text's intent, and the p99 ms of the loop's lag."""
    with tempfile.TemporaryDirectory() as name:
        hub = Hub("bench", LoopClock(), program="bench", pid=0)
        hub.journal = JournalWriter(Path(name), "bench", audio=False, report=hub.report)
        hub.emit(_started(), turn=0, gen=0)
        lags: list[float] = []
        watching = asyncio.create_task(_watch(lags))
        taken = []
        for number in range(TEXTS):
            began = time.perf_counter()
            hub.emit(ev.SendIntended(kind="text", ref=f"c{number}", text="hello"), turn=0, gen=0)
            assert await hub.written(1.0)
            taken.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.002)
        watching.cancel()
        await asyncio.to_thread(hub.journal.close)
    return statistics.median(taken), _p99(taken), _p99(lags)


async def _watch(lags: list[float]) -> None:
    while True:
        began = time.perf_counter()
        await asyncio.sleep(0)
        lags.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(0.001)


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


def _row(name: str, measured: float, limit: float, floor: str) -> bool:
    met = measured <= limit
    print(f"{name:<44} {measured:9.2f} ms   at most {limit:7.1f}   {floor:<44} {'ok' if met else 'MISSED'}", flush=True)
    return met


async def main(rounds: int) -> bool:
    """Measure, print, judge."""
    again, first = await connections(rounds)
    met = [_row("connection lost -> ready", again, CONNECTION_AT_MOST_MS, f"{again / first:.2f}x a first connection")]
    view, ready, fresh = await engines(rounds)
    print(f"{'engine killed -> view of the session':<44} {view:9.2f} ms", flush=True)
    met.append(_row("engine killed -> connected", ready, ENGINE_AT_MOST_MS, f"{ready / fresh:.2f}x a new session"))
    ours, floor = recordings(rounds)
    met.append(_row("1,000 records read back", ours, RECORDS_AT_MOST_MS, f"{ours / floor:.1f}x json.loads"))
    middle, slowest, lag = await intents()
    print(f"{'intent of a text on the disk':<44} {middle:9.2f} ms   p99 {slowest:.2f} ms", flush=True)
    met.append(_row("p99 of the loop's lag meanwhile", lag, LAG_AT_MOST_MS, ""))
    return all(met)


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS)) else 1)
