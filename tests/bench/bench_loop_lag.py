"""Measure the engine's loop lag while a console redraws, beside an idle engine.

    .venv/bin/python tests/bench/bench_loop_lag.py [ROUNDS]

The engine is the product's process with its whole sound layer (echo canceller, worker thread, recording) on a device
double whose callbacks come every 10 ms, and a server in a process of its own that streams model speech and transcript.
A timer on the engine's loop measures by how much it fires late, every 5 ms. One engine goes through three states, round
by round: idle (session open, microphone on, silence, no console), streaming without a console, and streaming with
a console attached in a 120x36 pseudo terminal, its own process as a person has it. Ratios are medians over rounds.
Last, for comparison, console and engine in one process.

Exit status: 0 when the target is met, 1 otherwise.
"""

from __future__ import annotations

import array
import asyncio
import atexit
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime"), str(ROOT / "tui")]

ROUNDS = 6
WINDOW_S = 4.0
WARM_S = 1.5
TICK_S = 0.005
WRITTEN = 200
"""Values that are written at once, half a second of them, so that each round can be printed when it is done."""
AT_MOST = 8.0


# -- inside the engine -----------------------------------------------------------------------------------------------


class LagProbe:
    """Probe of how late a timer fires.

    It writes pairs of CLOCK_MONOTONIC and lateness (s) to `path`, some at a time and the rest at the end.
    """

    def __init__(self, path: Path) -> None:
        self._loop = asyncio.get_running_loop()
        self._found = array.array("d")
        self._due = self._loop.time() + TICK_S
        self._path = path
        atexit.register(self._write)
        self._loop.call_at(self._due, self._tick)

    def _tick(self) -> None:
        now = self._loop.time()
        self._found.extend((now, now - self._due))
        if len(self._found) >= WRITTEN:
            self._write()
        self._due = now + TICK_S
        self._loop.call_at(self._due, self._tick)

    def _write(self) -> None:
        with self._path.open("ab") as file:
            file.write(self._found.tobytes())
        del self._found[:]


def device_double() -> Any:
    """Return the product's device audio on doubles that call back every 10 ms.

    The microphone has soft noise.
    """
    import numpy as np
    from tests.unit.audio.audio_support import FakePortAudio

    from gemini_live_runtime.audio.device_audio import DeviceAudio

    fake = FakePortAudio()
    noise = np.random.default_rng(1).normal(0, 0.003, 480).astype(np.float32)

    def device() -> None:
        while len(fake.streams) < 2 or not all(stream.active for stream in fake.streams):
            time.sleep(0.01)
        microphone, speaker = fake.stream("input"), fake.stream("output")
        due = time.monotonic()
        while speaker.active and microphone.active:
            due += 0.01
            time.sleep(max(0.0, due - time.monotonic()))
            speaker.call()
            microphone.call(noise)

    threading.Thread(target=device, name="device", daemon=True).start()
    return DeviceAudio(load=lambda: fake, probe=fake.found)


def session_with_probe(path: Path) -> Any:
    """Return the engine's session factory with device doubles and a loop probe."""

    def factory(spec: Any, hub: Any, clock: Any) -> Any:
        from gemini_live_runtime.engine import assemble

        assemble.make_audio = lambda _: device_double()  # type: ignore[attr-defined, assignment]
        LagProbe(path)
        return make_session(spec, hub, clock)

    from gemini_live_runtime.engine.assemble import make_session

    return factory


def engine(lag: str, spec: str) -> int:
    """Run the engine's process."""
    from gemini_live_runtime.engine.process import main as run

    return run(Path(spec), session_with_probe(Path(lag)))


def single(lag: str, url: str) -> int:
    """Console and engine in one process, as `--single-process` makes them."""
    from gemini_live_runtime.engine import assemble
    from gemini_live_runtime.engine.spec import EngineSpec
    from gemini_live_tui.cli.console_start import EngineStarter, open_console
    from gemini_live_tui.cli.engine_specs import Sound

    assemble.make_session = session_with_probe(Path(lag))
    spec = EngineSpec(session_id="single", backend=url)
    return open_console(spec, EngineStarter({}, Sound()), single_process=True)


# -- the bench -------------------------------------------------------------------------------------------------------


class Windows:
    """Spans of time by state, in CLOCK_MONOTONIC."""

    def __init__(self) -> None:
        self.spans: dict[str, list[tuple[float, float]]] = {}

    def note(self, state: str, start: float) -> None:
        """Record that a span of `state`, begun at `start`, ends now."""
        self.spans.setdefault(state, []).append((start, time.monotonic()))

    def lateness(self, lag: Path) -> dict[str, list[list[float]]]:
        """Milliseconds by state, one list a span."""
        found = array.array("d")
        whole = lag.read_bytes()
        found.frombytes(whole[: len(whole) // 16 * 16])
        pairs = list(zip(found[::2], found[1::2], strict=True))
        return {
            state: [[1000 * late for at, late in pairs if start <= at < end] for start, end in spans]
            for state, spans in self.spans.items()
        }


def order(server: subprocess.Popen[str], line: str) -> None:
    """Tell the server to stream or to be quiet."""
    assert server.stdin is not None
    server.stdin.write(f"{line}\n")
    server.stdin.flush()


def two_processes(url: str, server: subprocess.Popen[str], folder: Path, rounds: int) -> dict[str, list[list[float]]]:
    """Run one engine through its states."""
    from tests.bench.terminal import Terminal

    from gemini_live_runtime.engine import launch
    from gemini_live_runtime.engine.spec import EngineSpec

    lag, windows = folder / "engine.lag", Windows()
    program = (sys.executable, str(Path(__file__).resolve()), "engine", str(lag))
    running = launch.start_engine(EngineSpec(session_id="lag", backend=url), program=program)
    attach = [sys.executable, "-c", "import sys; from gemini_live_tui.cli import main; sys.exit(main())", "attach"]
    try:
        time.sleep(4)
        for number in range(rounds):
            start = time.monotonic()
            time.sleep(WINDOW_S)
            windows.note("idle", start)
            order(server, "stream")
            time.sleep(WARM_S)
            start = time.monotonic()
            time.sleep(WINDOW_S)
            windows.note("streaming", start)
            with Terminal([*attach, "lag"], os.environ) as terminal:
                terminal.until(b"SPEAKING")
                terminal.read_for(WARM_S)
                start = time.monotonic()
                count = terminal.read_for(WINDOW_S)
                windows.note("console", start)
                assert count > 10_000, f"the console sent only {count} bytes: it does not redraw"
                terminal.quit()
            order(server, "quiet")
            time.sleep(WARM_S)
            latest = ", ".join(f"{state} {p99(spans[-1]):.2f}" for state, spans in windows.lateness(lag).items())
            print(f"round {number + 1} of {rounds}: p99 {latest} ms", flush=True)
    finally:
        running.process.terminate()
        running.process.wait(20)
    return windows.lateness(lag)


def one_process(url: str, server: subprocess.Popen[str], folder: Path) -> list[list[float]]:
    """Console and engine together."""
    from tests.bench.terminal import Terminal

    lag, windows = folder / "single.lag", Windows()
    with Terminal([sys.executable, str(Path(__file__).resolve()), "single", str(lag), url], os.environ) as terminal:
        terminal.until(b"LISTENING")
        order(server, "stream")
        terminal.until(b"SPEAKING")
        terminal.read_for(WARM_S)
        start = time.monotonic()
        count = terminal.read_for(2 * WINDOW_S)
        windows.note("single", start)
        assert count > 20_000, f"the console sent only {count} bytes: it does not redraw"
        order(server, "quiet")
        terminal.quit()
    return windows.lateness(lag)["single"]


def p99(values: list[float]) -> float:
    """Return the value below which 99 % lie."""
    return sorted(values)[int(0.99 * len(values))]


def row(what: str, target: str, measured: str) -> None:
    """Print one line of the table."""
    print(f"{what:58} | {target:>8} | {measured}", flush=True)


def main() -> int:
    """Measure, print, judge."""
    if sys.argv[1:2] == ["engine"]:
        return engine(*sys.argv[2:])
    if sys.argv[1:2] == ["single"]:
        return single(*sys.argv[2:])
    from tests.bench.terminal import private_environment

    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory(prefix="bg") as name:
        folder = Path(name)
        os.environ.update(private_environment(folder))
        server = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("wire_server.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert server.stdout is not None
        url: str = json.loads(server.stdout.readline())["url"]
        try:
            row("what", "target", "measured")
            found = two_processes(url, server, folder, rounds)
            good = report_two_processes(found)
            report_one_process(one_process(url, server, folder), found["idle"])
        finally:
            assert server.stdin is not None
            server.stdin.close()
            server.wait(20)
    return 0 if good else 1


def report_two_processes(found: dict[str, list[list[float]]]) -> bool:
    """Print the engine's lag by state; return True when the target is met."""
    labels = {
        "idle": "engine's loop lag: idle, no console",
        "streaming": "streaming, no console",
        "console": "streaming, console redraws in its own process",
    }
    for state, label in labels.items():
        lag_row(label, found[state])
    ratio = statistics.median(p99(a) / p99(b) for a, b in zip(found["console"], found["idle"], strict=True))
    beside = statistics.median(p99(a) / p99(b) for a, b in zip(found["console"], found["streaming"], strict=True))
    good = ratio <= AT_MOST
    row("p99 with the console redrawing / idle", f"<= {AT_MOST:g}x", f"{ratio:.2f}x  {'ok' if good else 'MISSED'}")
    row("p99 with the console redrawing / streaming without", "", f"{beside:.2f}x")
    return good


def report_one_process(spans: list[list[float]], idle: list[list[float]]) -> None:
    """Print the lag of an engine that has the console in its own process."""
    lag_row("streaming, console in the same process", spans)
    row("p99 in one process / idle", "", f"{p99(spans[0]) / statistics.median(p99(span) for span in idle):.2f}x")


def lag_row(label: str, spans: list[list[float]]) -> None:
    """Print one line of lags."""
    half = statistics.median(statistics.median(span) for span in spans)
    tail, worst = statistics.median(p99(span) for span in spans), max(max(span) for span in spans)
    row(label, "", f"p50 {half:.2f} ms, p99 {tail:.2f} ms, max {worst:.1f} ms")


if __name__ == "__main__":
    raise SystemExit(main())
