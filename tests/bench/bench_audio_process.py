"""Measure the audio process: callback gaps, lost sound, CPU, and its end.

    .venv/bin/python tests/bench/bench_audio_process.py [ROUNDS]

The streams run on a PulseAudio loop of the bench's own. Each round measures, one after the other and under the same
load, a process whose callbacks only copy, the audio process, and the same devices inside this process. The load is a
thread of this process that never stops computing, as an agent's code may, and another process that computes a third of
the time, as a console does. The gap is the time between two callbacks of the loudspeaker; figures are medians.

Exit status: 0 when every target is met, 1 otherwise.
"""

from __future__ import annotations

import array
import asyncio
import atexit
import contextlib
import itertools
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

ROUNDS = 3
WINDOW_S = 8.0
GAP_RATIO = 1.2
TALKING_CPU, IDLE_CPU = 6.0, 2.0
END_MS = 100.0

CONSOLE = """
import time
while True:
    end = time.monotonic() + 0.01
    while time.monotonic() < end: pass
    time.sleep(0.02)
"""


# -- inside the processes --------------------------------------------------------------------------------------------


class Times:
    """Times of the callbacks, appended to a file, with a zero for each xrun."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115 - as long as the process
        self._times = array.array("d")
        atexit.register(self.flush)

    def note(self, status: Any) -> None:
        """Note a callback."""
        self._times.append(time.monotonic())
        if status:
            self._times.append(0.0)
        self.flush()

    def flush(self) -> None:
        """Write what was noted."""
        self._file.write(self._times.tobytes())
        del self._times[:]


def watch_callbacks(path: str) -> None:
    """Note each callback of the product's loudspeaker streams in `path`."""
    from gemini_live_runtime.audio.devices.streams import LoudspeakerStream

    noted, before = Times(path), LoudspeakerStream._callback

    def callback(self: LoudspeakerStream, data: Any, frames: int, times: Any, status: Any) -> None:
        noted.note(status)
        before(self, data, frames, times, status)

    LoudspeakerStream._callback = callback  # type: ignore[method-assign]


def copy_only(path: str) -> None:
    """Run streams whose callbacks only copy until standard input ends.

    They have the priority of the audio process.
    """
    import numpy as np
    import sounddevice

    from gemini_live_runtime.audio.devices.priority import raise_priority

    raise_priority()
    times = Times(path)
    rate = int(sounddevice.query_devices(kind="output")["default_samplerate"])
    sound = np.zeros((rate // 100, 1), np.float32)

    def play(data: Any, frames: int, moment: Any, status: Any) -> None:
        times.note(status)
        data[:] = sound

    def record(data: Any, frames: int, moment: Any, status: Any) -> None:
        sound[:] = data

    options = {"samplerate": rate, "blocksize": rate // 100, "channels": 1, "dtype": "float32", "latency": "low"}
    with sounddevice.OutputStream(callback=play, **options), sounddevice.InputStream(callback=record, **options):
        sys.stdin.read()


# -- the bench -------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def sound_loop(folder: Path) -> Iterator[None]:
    """Run a PulseAudio loop and use its environment in this process."""
    if not all(map(shutil.which, ("pulseaudio", "pactl"))):
        raise SystemExit("It needs pulseaudio and pactl.")
    script = [str(ROOT / "tests" / "audio" / "pulse_loop.sh")]
    os.environ["GLT_PULSE_DIR"] = str(folder / "pulse")
    started = subprocess.run(["sh", *script, "start"], capture_output=True, text=True, check=True)
    for word in started.stdout.removeprefix("export ").split():
        name, _, value = word.partition("=")
        os.environ[name] = value.strip("'")
    try:
        yield
    finally:
        subprocess.run(["sh", *script, "stop"], capture_output=True, check=False)


@contextlib.contextmanager
def load() -> Iterator[None]:
    """Keep a thread of this process and another process busy."""
    done = threading.Event()

    def burn() -> None:
        while not done.is_set():
            sum(range(1_000))

    threading.Thread(target=burn, daemon=True).start()
    console = subprocess.Popen([sys.executable, "-c", CONSOLE])
    try:
        yield
    finally:
        done.set()
        console.kill()
        console.wait()


def program(path: Path) -> tuple[str, ...]:
    """Return the audio process that notes its callbacks in `path`."""
    return (sys.executable, "-P", str(Path(__file__).resolve()), "host", str(path))


def read_times(path: Path, since: float, until: float) -> tuple[list[float], int]:
    """Return the gaps (ms) between callbacks in a span of time, and all xruns."""
    found = array.array("d")
    found.frombytes(path.read_bytes())
    moments = [moment for moment in found if since <= moment < until]
    gaps = [1000 * (b - a) for a, b in itertools.pairwise(moments)]
    return gaps, sum(moment == 0 for moment in found)


def p99(values: list[float]) -> float:
    """Return the value below which 99 % lie."""
    return sorted(values)[int(0.99 * len(values))]


def cpu_seconds(process: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def copying(folder: Path, number: int) -> tuple[list[float], int, float]:
    """Measure the process that only copies: gaps, xruns, and percent of a core."""
    path = folder / f"copy.{number}"
    child = subprocess.Popen([sys.executable, str(Path(__file__).resolve()), "copy", str(path)], stdin=subprocess.PIPE)
    time.sleep(2)
    since, before = time.monotonic(), cpu_seconds(child.pid)
    time.sleep(WINDOW_S)
    until, used = time.monotonic(), cpu_seconds(child.pid) - before
    child.communicate()
    return *read_times(path, since, until), 100 * used / (until - since)


async def product(audio: Any, path: Path) -> tuple[list[float], int, float]:
    """Measure an `AudioIO`: gaps, xruns, and the seconds of microphone lost."""
    import numpy as np
    from tests.unit.audio.audio_support import Recorder

    recorder = Recorder()
    opened = await audio.open(recorder)
    if opened.problems:
        raise RuntimeError(f"The devices did not open: {opened.problems}")
    await asyncio.sleep(2)
    since, first = time.monotonic(), len(recorder.chunks)
    audio.play(1, (8000 * np.sin(np.arange(24_000 * 6) / 20)).astype("<i2").tobytes())
    audio.end_of_turn(1)
    await asyncio.sleep(WINDOW_S)
    until = time.monotonic()
    await audio.close()
    gaps, xruns = read_times(path, since, until)
    for _, direction, reason in recorder.of("lost"):
        print(f"lost its {direction}: {reason}", flush=True)
    return gaps, xruns, max(0.0, until - since - 0.1 - 0.02 * (len(recorder.chunks) - first))


async def costs(folder: Path) -> tuple[float, float, float]:
    """Return the percent of a core used while talking and idle, and `death`."""
    import numpy as np
    from tests.unit.audio.audio_support import Recorder

    from gemini_live_runtime.audio.process.process_audio import ProcessAudio

    recorder = Recorder()
    audio = ProcessAudio({}, program=program(folder / "costs"))
    await audio.open(recorder)
    assert audio.process_id is not None
    shares = []
    for speaking in (True, False):
        if speaking:
            audio.play(1, (8000 * np.sin(np.arange(24_000 * 10) / 20)).astype("<i2").tobytes())
            audio.end_of_turn(1)
        else:
            await asyncio.sleep(5)
        await asyncio.sleep(1)
        before, began = cpu_seconds(audio.process_id), time.monotonic()
        await asyncio.sleep(WINDOW_S)
        shares.append(100 * (cpu_seconds(audio.process_id) - before) / (time.monotonic() - began))
    await audio.close()
    return shares[0], shares[1], death(folder / "death")


def death(path: Path) -> float:
    """Return the ms from the kill of an engine to the last callback."""
    engine = subprocess.Popen(
        [sys.executable, str(Path(__file__).resolve()), "engine", str(path)], stdout=subprocess.PIPE
    )
    assert engine.stdout is not None
    engine.stdout.readline()
    time.sleep(1)
    killed = time.monotonic()
    engine.kill()
    engine.wait()
    time.sleep(1)
    found = array.array("d")
    found.frombytes(path.read_bytes())
    return max(0.0, 1000 * (max(found) - killed))


async def engine(path: str) -> None:
    """Hold the devices open until the bench kills this process."""
    from tests.unit.audio.audio_support import Recorder

    from gemini_live_runtime.audio.process.process_audio import ProcessAudio

    await ProcessAudio({}, program=program(Path(path))).open(Recorder())
    print("open", flush=True)
    await asyncio.sleep(60)


def row(what: str, target: str, measured: str) -> None:
    """Print one line of the table."""
    print(f"{what:66} | {target:>8} | {measured}", flush=True)


def main() -> int:
    """Measure, print, judge."""
    match sys.argv[1:2]:
        case ["host"]:
            from gemini_live_runtime.audio.process import process_host

            watch_callbacks(sys.argv[2])
            del sys.argv[1:3]
            process_host.main()
        case ["copy"]:
            copy_only(sys.argv[2])
            return 0
        case ["engine"]:
            asyncio.run(engine(sys.argv[2]))
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory(prefix="bap") as name, sound_loop(Path(name)):
        return measure(Path(name), rounds)


def measure(folder: Path, rounds: int) -> int:
    """Run the rounds and print the table."""
    from gemini_live_runtime.audio.device_audio import DeviceAudio
    from gemini_live_runtime.audio.process.process_audio import ProcessAudio

    inside_path = folder / "inside"
    watch_callbacks(str(inside_path))
    kinds = ("only copies", "audio process", "inside the engine")
    gaps: dict[str, list[float]] = {kind: [] for kind in kinds}
    xruns = dict.fromkeys(kinds, 0)
    lost = dict.fromkeys(kinds[1:], 0.0)
    with load():
        for number in range(rounds):
            found, count, _ = copying(folder, number)
            gaps["only copies"].append(p99(found))
            xruns["only copies"] += count
            path = folder / f"process.{number}"
            for kind, audio, file in (
                ("audio process", ProcessAudio({}, program=program(path)), path),
                ("inside the engine", DeviceAudio(), inside_path),
            ):
                inside_path.write_bytes(b"")
                found, count, missing = asyncio.run(product(audio, file))
                gaps[kind].append(p99(found))
                xruns[kind] += count
                lost[kind] += missing
    _, _, floor = copying(folder, rounds)
    talking, idle, end = asyncio.run(costs(folder))
    row("what", "target", "measured")
    for kind in kinds:
        missing_text = f", {lost[kind]:.2f} s of microphone lost" if kind in lost else ""
        row(
            f"callback gap p99, {kind}",
            "",
            f"{statistics.median(gaps[kind]):.1f} ms, {xruns[kind]} xruns{missing_text}",
        )
    ratio = statistics.median(a / b for a, b in zip(gaps["audio process"], gaps["only copies"], strict=True))
    results = (
        ("gap p99, audio process / process that only copies", ratio, GAP_RATIO, "x"),
        ("microphone lost by the audio process", lost["audio process"], 0.1, " s"),
        ("audio process in a conversation", talking, TALKING_CPU, " % of a core"),
        ("audio process idle", idle, IDLE_CPU, " % of a core"),
        ("kill of the engine -> last callback", end, END_MS, " ms"),
    )
    shares = f"conversation {talking / floor:.2f}x, idle {idle / floor:.2f}x"
    row("CPU of the process that only copies", "", f"{floor:.1f} % of a core ({shares})")
    good = True
    for what, value, target, unit in results:
        good &= value <= target
        row(what, f"<= {target:g}", f"{value:.2f}{unit}  {'ok' if value <= target else 'MISSED'}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
