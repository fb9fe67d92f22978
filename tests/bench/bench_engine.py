"""Measure an engine without sound: start-up processor time, and memory.

    .venv/bin/python tests/bench/bench_engine.py [ROUNDS]

The engine is the process that `demo --no-sound` starts, with the bundled concierge and the embedded server. Its floor
is a process that imports the libraries it cannot do without. Memory is read from /proc, so that this needs Linux:
resident (RSS), and what no other process shares (USS).

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime"), str(ROOT / "tui")]

from tests.bench.terminal import private_environment  # noqa: E402

from gemini_live_runtime import events as ev  # noqa: E402
from gemini_live_runtime.engine import launch  # noqa: E402
from gemini_live_runtime.engine.link import Link  # noqa: E402
from gemini_live_runtime.engine.spec import EngineSpec  # noqa: E402

ROUNDS = 7
MOST_RSS_MB = 42.0
MOST_CPU_S = 0.35
READY_WITHIN_S = 30.0

FLOOR = "import sys, asyncio, websockets.asyncio.client; sys.stdin.read()"


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds and megabytes of a process."""

    cpu_s: float
    rss_mb: float
    uss_mb: float
    ready_s: float = 0.0


def cost_of(pid: int, ready_s: float = 0.0) -> Cost:
    """Read what a process has used so far."""
    process = Path(f"/proc/{pid}")
    cpu_s = int((process / "schedstat").read_text().split()[0]) / 1e9
    sizes: dict[str, float] = {}
    for line in (process / "smaps_rollup").read_text().splitlines()[1:]:
        name, size = line.split()[:2]
        sizes[name.rstrip(":")] = int(size) / 1024
    return Cost(cpu_s, sizes["Rss"], sizes["Private_Clean"] + sizes["Private_Dirty"], ready_s)


def floor() -> Cost:
    """Measure a process with the libraries alone."""
    process = subprocess.Popen([sys.executable, "-c", FLOOR], stdin=subprocess.PIPE)
    try:
        while not _sleeps(process.pid):
            pass
        return cost_of(process.pid)
    finally:
        process.communicate(b"")


def _sleeps(pid: int) -> bool:
    """Return True when a process has done nothing for a moment."""
    before = cost_of(pid).cpu_s
    time.sleep(0.1)
    return cost_of(pid).cpu_s - before < 0.001


async def engine(number: int) -> Cost:
    """Start an engine and measure it when its session listens."""
    began = time.monotonic()
    spec = EngineSpec(session_id=f"bench{number}", backend="local", agent="concierge", audio="none", mode="text")
    running = launch.start_engine(spec)
    try:
        link = await launch.connect(spec.session_id, engine=running)
        try:
            await asyncio.wait_for(_until_ready(link), READY_WITHIN_S)
            return cost_of(running.process.pid, time.monotonic() - began)
        finally:
            await link.close()
    finally:
        running.process.terminate()
        await asyncio.to_thread(running.process.wait, 20)


async def _until_ready(link: Link) -> None:
    while True:
        message = await link.receive()
        if isinstance(message, ev.Event) and isinstance(message.payload, ev.SessionState):
            if message.payload.word == "text":
                return
        elif getattr(getattr(message, "view", None), "word", "") == "text":
            return


def row(what: str, target: str, measured: str, met: bool = True) -> bool:
    """Print one line of the table; return whether its target is met."""
    print(f"{what:58} | {target:>10} | {measured}{'' if met else '  MISSED'}", flush=True)
    return met


def main() -> int:
    """Measure, print, judge."""
    if not Path("/proc/self/smaps_rollup").exists():
        raise SystemExit("It needs Linux: memory is read from /proc.")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory(prefix="be") as name:
        os.environ.update(private_environment(Path(name)))
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        pairs = [(asyncio.run(engine(number)), floor()) for number in range(rounds + 1)][1:]
    engines, floors = zip(*pairs, strict=True)

    def median(values: list[float]) -> float:
        return statistics.median(values)

    rss, cpu = median([one.rss_mb for one in engines]), median([one.cpu_s for one in engines])
    uss, ready = median([one.uss_mb for one in engines]), median([one.ready_s for one in engines])
    row("libraries alone: RSS, USS", "", f"{floors[0].rss_mb:.1f} MB, {median([one.uss_mb for one in floors]):.1f} MB")
    met = row("engine without sound: RSS", f"<= {MOST_RSS_MB:g} MB", f"{rss:.1f} MB", rss <= MOST_RSS_MB)
    row("engine without sound: USS", "", f"{uss:.1f} MB")
    met &= row("engine to ready: processor time", f"<= {MOST_CPU_S:g} s", f"{cpu:.2f} s", cpu <= MOST_CPU_S)
    over = median([one.cpu_s / base.cpu_s for one, base in pairs])
    row("the same / importing its libraries", "", f"{over:.2f}x")
    row("engine to ready", "", f"{ready:.2f} s")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
