"""Measure the console in a pseudo terminal: first paint, CPU and bytes sent.

`python tests/bench/bench_console.py` prints target and measured. Times are medians of interleaved runs of the console
and of a minimal Textual application, so that a busy machine slows both.
"""

from __future__ import annotations

import fcntl
import json
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
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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


def measure(rounds: int = 7, watch_s: float = 6.0) -> dict[str, float]:
    """Measure and return every figure of this benchmark."""
    idle_code = CONSOLE.format(streaming=False, backlog=0)
    minimal, console = [], []
    for _ in range(rounds):
        minimal.append(run_in_pty(MINIMAL, b"PAINTED").first_paint_s)
        console.append(run_in_pty(idle_code, b"Transcript").first_paint_s)
    streaming = run_in_pty(CONSOLE.format(streaming=True, backlog=100), b"Transcript", warm_s=2.0, watch_s=watch_s)
    idle = run_in_pty(idle_code, b"Transcript", warm_s=2.0, watch_s=watch_s)
    return {
        "minimal_first_paint_ms": 1000 * statistics.median(minimal),
        "console_first_paint_ms": 1000 * statistics.median(console),
        "first_paint_ratio": statistics.median(c / m for c, m in zip(console, minimal, strict=True)),
        "streaming_cpu_percent": streaming.cpu_percent,
        "streaming_kilobytes_per_s": streaming.bytes_per_s / 1000,
        "idle_cpu_percent": idle.cpu_percent,
        "idle_bytes_per_s": idle.bytes_per_s,
    }


TARGETS = {
    "first_paint_ratio": 1.5,
    "streaming_cpu_percent": 12.0,
    "streaming_kilobytes_per_s": 80.0,
    "idle_cpu_percent": 1.0,
}


def main() -> int:
    """Print each figure with its target; 1 when a target is missed."""
    figures = measure()
    if "--json" in sys.argv:
        print(json.dumps(figures))
    missed = 0
    for name, value in figures.items():
        target = TARGETS.get(name)
        verdict = "" if target is None else f"target <= {target:g}  {'ok' if value <= target else 'MISSED'}"
        missed += target is not None and value > target
        if "--json" not in sys.argv:
            print(f"console {name:<28} {value:9.2f}  {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
