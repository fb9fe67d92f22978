"""Measure the console in a pseudo terminal: first paint, CPU and bytes sent.

`python tests/bench/bench_console.py` prints target and measured. Times are medians of interleaved runs of the console
and of Textual applications of one and of five widgets, so that a busy machine slows all of them.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import statistics
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.targets import judged  # noqa: E402

SIZE = (120, 36)

MINIMAL = """
from textual.app import App
from textual.widgets import Static

class Minimal(App):
    def compose(self):
        yield Static("PAINTED " * 14)

Minimal().run()
"""

CONSOLE = """
import sys
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.settings import ConsoleSettings

async def source():
    from tests.support.scripted_link import ScriptedLink
    from tests.support.streaming_link import StreamingLink
    if {streaming}:
        return StreamingLink(backlog={backlog}).begin()
    link = ScriptedLink()
    link.start()
    return link

ConsoleApp(source, settings=ConsoleSettings(theme="ember")).run()
"""


@dataclass(frozen=True, slots=True)
class Run:
    """Costs of one process in a pty: time to first paint, then CPU and bytes."""

    first_paint_s: float
    cpu_percent: float = 0.0
    bytes_per_s: float = 0.0


NOISE = """
from gemini_live_tui.run_console import run_console
from gemini_live_tui.settings import ConsoleSettings

async def source():
    from tests.support.noisy_link import NoisyLink
    return NoisyLink().begin()

run_console(source, settings=ConsoleSettings(theme="ember"))
"""
"""Voice session without speech, whose microphone hears the room."""

FIVE = """
from textual.app import App
from textual.widgets import Footer, Header, Input, RichLog, Static

class Five(App):
    def compose(self):
        yield Header()
        yield Static("PAINTED " * 14)
        yield RichLog()
        yield Input()
        yield Footer()

Five().run()
"""


def run_in_pty(code: str, marker: bytes, *, warm_s: float = 0.0, watch_s: float = 0.0) -> Run:
    """Start Python `code`, wait for `marker`, then measure.

    Measures `watch_s` seconds, after `warm_s` seconds.
    """
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", SIZE[1], SIZE[0], 0, 0))
    path = os.pathsep.join(str(ROOT / part) for part in ("", "tui", "runtime"))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONPATH": path}
    environment.pop("TMUX", None)
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=slave, stdout=slave, stderr=slave, env=environment, start_new_session=True, cwd=ROOT,
    )  # fmt: skip
    os.close(slave)
    try:
        first = _read_until(master, marker, started)
        if not watch_s:
            return Run(first)
        _count(master, warm_s)
        cpu, clock = _cpu_seconds(process.pid), time.perf_counter()
        sent = _count(master, watch_s)
        span = time.perf_counter() - clock
        return Run(first, 100 * (_cpu_seconds(process.pid) - cpu) / span, sent / span)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(master)


def _read_until(master: int, marker: bytes, started: float) -> float:
    seen = b""
    while marker not in seen:
        ready, _, _ = select.select([master], [], [], 20)
        if not ready:
            raise TimeoutError(f"nothing painted within 20 s: {seen[-2000:]!r}")
        chunk = os.read(master, 65536)
        seen += chunk
    return time.perf_counter() - started


def _count(master: int, seconds: float) -> int:
    end = time.perf_counter() + seconds
    total = 0
    while (left := end - time.perf_counter()) > 0:
        ready, _, _ = select.select([master], [], [], left)
        if ready:
            total += len(os.read(master, 65536))
    return total


def _cpu_seconds(pid: int) -> float:
    parts = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")


def first_paints(rounds: int) -> dict[str, float]:
    """Measure the times to first paint, in turns."""
    markers = {MINIMAL: b"PAINTED", FIVE: b"PAINTED", CONSOLE.format(streaming=False, backlog=0): b"Transcript"}
    times = [[run_in_pty(code, marker).first_paint_s for code, marker in markers.items()] for _ in range(rounds + 1)]
    one, five, console = zip(*times[1:], strict=True)  # the first round writes byte code
    return {
        "minimal_first_paint_ms": 1000 * statistics.median(one),
        "five_widgets_first_paint_ms": 1000 * statistics.median(five),
        "console_first_paint_ms": 1000 * statistics.median(console),
        "first_paint_ratio": statistics.median(c / m for c, m in zip(console, one, strict=True)),
        "first_paint_ratio_to_five": statistics.median(c / m for c, m in zip(console, five, strict=True)),
    }


def loads(watch_s: float) -> Iterator[tuple[str, float]]:
    """Yield the console's processor time and output in four situations."""
    streaming = run_in_pty(CONSOLE.format(streaming=True, backlog=100), b"Transcript", warm_s=2.0, watch_s=watch_s)
    yield "streaming_cpu_percent", streaming.cpu_percent
    yield "streaming_kilobytes_per_s", streaming.bytes_per_s / 1000
    noise = run_in_pty(NOISE, b"Transcript", warm_s=2.5, watch_s=2 * watch_s)
    yield "soft_noise_cpu_percent", noise.cpu_percent
    yield "soft_noise_bytes_per_s", noise.bytes_per_s
    idle = run_in_pty(CONSOLE.format(streaming=False, backlog=0), b"Transcript", warm_s=2.0, watch_s=watch_s)
    yield "idle_cpu_percent", idle.cpu_percent
    yield "idle_bytes_per_s", idle.bytes_per_s


def measure(rounds: int = 7, watch_s: float = 6.0) -> Iterator[tuple[str, float]]:
    """Yield every figure of this benchmark as soon as it is measured."""
    yield from first_paints(rounds).items()
    yield from loads(watch_s)


TARGETS = {
    "first_paint_ratio": 1.4,
    "first_paint_ratio_to_five": 1.25,
    "streaming_cpu_percent": 12.0,
    "streaming_kilobytes_per_s": 80.0,
    "soft_noise_cpu_percent": 1.0,
    "idle_cpu_percent": 1.0,
}


def main() -> int:
    """Print each figure with its target; 1 when a target is missed."""
    return judged("console", measure(), TARGETS)


if __name__ == "__main__":
    raise SystemExit(main())
