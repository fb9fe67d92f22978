"""Measure the console while a lively session streams, in a terminal of 120x36.

Its processor time and its bytes are measured against a floor: a bare Textual application that is given, frame by frame,
exactly the cells that the console's frames changed, and repaints those. Runs of both are interleaved and of the same
length. A third run has Textual's own painter in place of `painting/sparse_compositor.py`; `painter_gain` is its
processor time over the console's. Also: from a key's press to the engine's end of the link, and memory over an hour of
events at 60 times their pace. `python tests/bench/bench_streaming.py` prints target and measured.

The session is that of `tests/support/ten_minutes.py`.
"""

from __future__ import annotations

import json
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.targets import judged  # noqa: E402
from tests.bench.terminal import Terminal, private_environment  # noqa: E402

ROUNDS = 3
WARM_S = 3.0
WATCH_S = 10.0
KEYS = 40
HOUR_S = 3600.0

CAPTURE = """
import asyncio, pickle, sys
from pathlib import Path
from tests.support.ten_minutes_link import TenMinutesLink
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.settings import ConsoleSettings

class Still:
    def __init__(self): self.t = 0.0
    def now(self): return self.t
    def wall(self): return 1_795_000_000.0 + self.t

async def main(frames, path):
    link = TenMinutesLink(paced=False)
    clock = Still()
    async def source(): return link
    app = ConsoleApp(source, settings=ConsoleSettings(theme="ember", tmux=False), clock=clock)
    recorded, before = [], {}
    async with app.run_test(size=(120, 36)) as pilot:
        for number in range(frames + 20):
            if number >= 20:
                link.release()
            clock.t += 0.05
            for _ in range(200):
                await pilot.pause(0)
                if link.delivered and not app.store.queued:
                    break
            app.frames.flush()
            await pilot.pause(0)
            changed = []
            for y, strip in enumerate(app.screen._compositor.render_strips()):
                segments = [(s.text, s.style) for s in strip]
                if before.get(y) != segments:
                    changed.append((y, segments))
                    before[y] = segments
            if number >= 20:
                recorded.append(changed)
            elif number == 19:
                recorded.append([(y, segments) for y, segments in before.items()])
    Path(path).write_bytes(pickle.dumps(recorded))

asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
"""
"""Plays the session frame by frame and notes the rows that each frame changed."""

BARE = """
import asyncio, pickle, sys
from pathlib import Path
from rich.segment import Segment
from textual.app import App
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

FRAMES = pickle.loads(Path(sys.argv[1]).read_bytes())

class Cells(Widget):
    DEFAULT_CSS = "Cells { width: 1fr; height: 1fr; }"
    rows = {}
    def render_line(self, y):
        return self.rows.get(y) or Strip.blank(self.size.width)
    def take(self, frame):
        for y, start, end, segments in frame:
            self.rows[y] = Strip([Segment(*part) for part in segments])
            self.refresh(Region(start, y, end - start, 1))

class Bare(App):
    ENABLE_COMMAND_PALETTE = False
    def compose(self):
        yield Cells()
    def on_mount(self):
        self.run_worker(self.play())
    async def play(self):
        cells, loop = self.query_one(Cells), asyncio.get_running_loop()
        cells.take(FRAMES[0])
        due = loop.time()
        while True:
            for frame in FRAMES[1:]:
                due += 0.05
                await asyncio.sleep(max(0.0, due - loop.time()))
                if frame:
                    cells.take(frame)

Bare().run()
"""

CONSOLE = """
import sys
from pathlib import Path
from tests.support.ten_minutes_link import TenMinutesLink
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.settings import ConsoleSettings

async def source():
    return TenMinutesLink(arrivals=Path(sys.argv[1]))

if "own-painter" in sys.argv:
    from gemini_live_tui.painting import painter_guard
    painter_guard.install = lambda screen, report: None

ConsoleApp(source, settings=ConsoleSettings(theme="ember", tmux=False)).run()
"""

MEMORY = """
import asyncio, gc, json, statistics, sys
from tests.support.ten_minutes import TICK_S
from tests.support.ten_minutes_link import TenMinutesLink
from gemini_live_tui.app import ConsoleApp
from gemini_live_tui.settings import ConsoleSettings

class Still:
    def __init__(self): self.t = 0.0
    def now(self): return self.t
    def wall(self): return 1_795_000_000.0 + self.t

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 1e6

async def main(seconds):
    link, clock = TenMinutesLink(paced=False), Still()
    async def source(): return link
    app = ConsoleApp(source, settings=ConsoleSettings(theme="ember", tmux=False), clock=clock)
    figures = []
    async with app.run_test(size=(120, 36)) as pilot:
        # At 60 times its pace three seconds of the session pass between two frames.
        together = 60
        rounds = int(seconds / TICK_S / together)
        readings = []
        for number in range(rounds + 5):
            # A page of the history that is just being written is no growth: each figure is the median of five readings.
            if number % (rounds // 6) < 5:
                readings.append(resident())
            elif readings:
                figures.append(statistics.median(readings))
                readings = []
            for _ in range(together):
                link.release()
                clock.t += TICK_S
            while not link.delivered or app.store.queued:
                await pilot.pause(0)
                app.frames.flush()
            await pilot.pause(0)
    print(json.dumps([*figures, statistics.median(readings)]))

asyncio.run(main(float(sys.argv[1])))
"""


def _changed_cells(
    recorded: list[list[tuple[int, list[tuple[str, object]]]]],
) -> list[list[tuple[int, int, int, list[tuple[str, object]]]]]:
    """Return the columns that differ from before, for each frame and row.

    A perfect painter would repaint just these.
    """
    cells: dict[int, list[tuple[str, object]]] = {}
    frames = []
    for frame in recorded:
        spans = []
        for y, segments in frame:
            row = [(character, style) for text, style in segments for character in text]
            old = cells.get(y, [])
            differing = [x for x, cell in enumerate(row) if x >= len(old) or old[x] != cell]
            cells[y] = row
            if differing:
                spans.append((y, differing[0], differing[-1] + 1, segments))
        frames.append(spans)
    return frames


def _watched(command: list[str], environment: dict[str, str], marker: bytes) -> tuple[float, float]:
    """Percent of a core and kilobytes a second."""
    with Terminal(command, environment) as terminal:
        terminal.until(marker)
        terminal.read_for(WARM_S)
        cpu, clock = terminal.cpu_s(), time.monotonic()
        sent = terminal.read_for(WATCH_S)
        span = time.monotonic() - clock
        return 100 * (terminal.cpu_s() - cpu) / span, sent / span / 1000


def _key_delays(environment: dict[str, str], arrivals: Path) -> list[float]:
    """Return the milliseconds from a key's bytes in the terminal to its command."""
    arrivals.write_text("")
    pressed = []
    with Terminal([sys.executable, "-c", CONSOLE, str(arrivals)], environment) as terminal:
        terminal.until(b"Transcript")
        terminal.read_for(WARM_S)
        for number in range(KEYS):
            # Not in step with the frames, which come every 50 ms.
            terminal.read_for(0.21 + 0.0137 * (number % 7))
            pressed.append(time.monotonic())
            terminal.type(b" ")
        terminal.read_for(0.5)
    came = [float(line) for line in arrivals.read_text().split()]
    return [1000 * (there - here) for here, there in zip(pressed, came, strict=True)]


def _memory(environment: dict[str, str]) -> list[float]:
    run = subprocess.run(
        [sys.executable, "-c", MEMORY, str(HOUR_S)],
        env=environment, cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        raise ChildProcessError(f"the memory run failed: {run.stderr[-2000:]}")
    figures: list[float] = json.loads(run.stdout)
    return figures


def measure() -> dict[str, float]:
    """Return the figures of this bench."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = private_environment(folder)
        raw, frames = folder / "raw.pickle", folder / "frames.pickle"
        count = int((WARM_S + WATCH_S + 5) * 20)
        subprocess.run([sys.executable, "-c", CAPTURE, str(count), str(raw)], env=environment, cwd=ROOT, check=True)
        frames.write_bytes(pickle.dumps(_changed_cells(pickle.loads(raw.read_bytes()))))
        console, bare, textual = [], [], []
        for _ in range(ROUNDS):
            bare.append(_watched([sys.executable, "-c", BARE, str(frames)], environment, b"Transcript"))
            run = [sys.executable, "-c", CONSOLE, os.devnull]
            console.append(_watched(run, environment, b"Transcript"))
            textual.append(_watched([*run, "own-painter"], environment, b"Transcript"))
        delays = _key_delays(environment, folder / "arrivals")
        memory = _memory(environment)
    return {
        "cpu_percent": statistics.median(cpu for cpu, _ in console),
        "bare_cpu_percent": statistics.median(cpu for cpu, _ in bare),
        "cpu_ratio": statistics.median(ours[0] / floor[0] for ours, floor in zip(console, bare, strict=True)),
        "textual_cpu_percent": statistics.median(cpu for cpu, _ in textual),
        "painter_gain": statistics.median(own[0] / ours[0] for own, ours in zip(textual, console, strict=True)),
        "kilobytes_per_s": statistics.median(sent for _, sent in console),
        "textual_kilobytes_per_s": statistics.median(sent for _, sent in textual),
        "bare_kilobytes_per_s": statistics.median(sent for _, sent in bare),
        "bytes_ratio": statistics.median(ours[1] / floor[1] for ours, floor in zip(console, bare, strict=True)),
        "key_to_engine_p50_ms": statistics.median(delays),
        "memory_growth_mb": memory[-1] - memory[1],
    }


TARGETS = {
    "cpu_percent": 12.0,
    "cpu_ratio": 1.5,
    "kilobytes_per_s": 80.0,
    "bytes_ratio": 1.3,
    "key_to_engine_p50_ms": 5.0,
    "memory_growth_mb": 5.0,
}


def main() -> int:
    """Print each figure with its target; 1 when a target is missed."""
    return judged("streaming", measure().items(), TARGETS)


if __name__ == "__main__":
    raise SystemExit(main())
