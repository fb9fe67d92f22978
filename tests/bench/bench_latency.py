"""Measure latency from microphone or prompt to the server, beside google-genai.

    .venv/bin/python tests/bench/bench_latency.py [CHUNKS]

A device thread stamps each 20 ms chunk with CLOCK_MONOTONIC, which all processes share; a bare WebSocket server in a
process of its own subtracts the stamp from the moment the message is there. Both clients run at once, in processes of
their own, google-genai's chunks 10 ms after ours: a disturbance of the machine affects both. Ours is the product's
whole way with recording on (relay, session, recorder, hub, journal); google-genai's is a queue and a task that sends,
as in Google's examples. Ratios are medians over blocks of 100 chunks.

Typed text takes the engine's door, in an engine process: the command is stamped as it is handed to the link. The last
rows begin with the enter key in a real console; they have no target, most of that time is Textual's.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]
SDK_PYTHON = ROOT / ".venv-sdk" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

CHUNKS = 1000
BLOCK = 100
TEXTS = 100
KEYS = 40
RATIO_AT_MOST = 0.7
TEXT_AT_MOST_MS = 5.0


# -- the clients, each a process of its own --------------------------------------------------------------------------


async def ours(url: str) -> None:
    """Run the product: print `ready`, then send chunks as a line `FIRST COUNT` says."""
    from tests.bench.device import DeviceThread
    from tests.bench.live import BenchAudio, make_hub, make_session

    from gemini_live_runtime.clock import LoopClock
    from gemini_live_runtime.wire.endpoints import local_endpoint
    from gemini_live_runtime.wire.websocket import open_websocket

    with tempfile.TemporaryDirectory() as name:
        clock, audio = LoopClock(), BenchAudio()
        hub = make_hub(clock, Path(name))
        session, opened = make_session(hub, audio, clock, local_endpoint(url), open_websocket)
        running = asyncio.create_task(session.run())
        await opened
        # As the engine does once its session has been made.
        gc.collect()
        gc.freeze()
        first, count = await told()
        DeviceThread(audio.deliver, first=first, count=count).start()
        await asyncio.sleep(max(0.0, first - time.monotonic()) + count * 0.02 + 0.5)
        session.hang_up("done")
        await running
        assert hub.journal is not None
        await asyncio.to_thread(hub.journal.close)


async def peer(url: str) -> None:
    """Run Google's client as in Google's examples: a queue, and a task that sends."""
    from google import genai
    from google.genai import types
    from tests.bench.device import DeviceThread

    client = genai.Client(api_key="no-key-needed")
    client._api_client._websocket_base_url = lambda *_: url
    client._api_client._websocket_ssl_ctx = {}
    config = types.LiveConnectConfig(response_modalities=["AUDIO"])
    async with client.aio.live.connect(model="peer", config=config) as session:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[bytes] = asyncio.Queue()

        async def send() -> None:
            while True:
                pcm = await queue.get()
                await session.send_realtime_input(audio=types.Blob(data=pcm, mime_type="audio/pcm;rate=16000"))

        sending = asyncio.create_task(send())
        gc.collect()
        gc.freeze()
        first, count = await told()
        thread = DeviceThread(lambda pcm: loop.call_soon_threadsafe(queue.put_nowait, pcm), first=first, count=count)
        thread.start()
        await asyncio.sleep(max(0.0, first - time.monotonic()) + count * 0.02 + 0.5)
        sending.cancel()


async def told() -> tuple[float, int]:
    """Print `ready`, then read when to begin and how many chunks to send."""
    print("ready", flush=True)
    line = await asyncio.to_thread(sys.stdin.readline)
    first, count = line.split()
    return float(first), int(count)


# -- the bench -------------------------------------------------------------------------------------------------------


class Child:
    """A process that is talked to in lines."""

    def __init__(self, python: str, *arguments: str) -> None:
        path = os.pathsep.join([str(ROOT), str(ROOT / "runtime")])
        environment = {**os.environ, "PYTHONPATH": path}
        self._process = subprocess.Popen(
            [python, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def say(self, line: str) -> None:
        """Send a line to the child."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def hear(self) -> str:
        """Return a line of the child's; end the benchmark when the child has ended."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChildProcessError(f"{self._process.args!r:.200} ended")
        return line

    def end(self) -> None:
        """Close its standard input and wait."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)


def microphone(url: str, server: Child, count: int) -> dict[str, list[float]]:
    """Microseconds of each chunk, by client."""
    here = str(Path(__file__).resolve())
    clients = {"bench": Child(sys.executable, here, "ours", url)}
    if SDK_PYTHON.exists():
        clients["peer"] = Child(str(SDK_PYTHON), here, "peer", url)
    for client in clients.values():
        assert client.hear() == "ready\n"
    first = time.monotonic() + 0.5
    # The first block warms everything up and is not counted.
    for number, client in enumerate(clients.values()):
        client.say(f"{first + 0.01 * number} {count + BLOCK}")
    for client in clients.values():
        client.end()
    server.say("report")
    found: dict[str, list[float]] = json.loads(server.hear())["audio_us"]
    return {name: values[BLOCK:] for name, values in found.items()}


async def through_the_door(url: str, server: Child) -> list[float]:
    """Return milliseconds from a command on the link to its text at the server."""
    from gemini_live_runtime.commands import Command, SendText
    from gemini_live_runtime.engine import launch
    from gemini_live_runtime.engine.spec import EngineSpec, new_session_id
    from gemini_live_runtime.events import ConnectionReady, Event

    spec = EngineSpec(session_id=new_session_id(time.time()), backend=url, mode="text", audio="none")
    engine = launch.start_engine(spec)
    try:
        link = await launch.connect(spec.session_id, engine=engine)
        ready = asyncio.Event()

        async def read() -> None:
            while True:
                message = await link.receive()
                if isinstance(message, Event) and isinstance(message.payload, ConnectionReady):
                    ready.set()

        reading = asyncio.create_task(read())
        await ready.wait()
        for number in range(TEXTS + 5):
            await asyncio.sleep(0.04)
            await link.send(Command(f"b{number}", SendText(text=f"{number} {time.monotonic_ns()}")))
        await asyncio.sleep(0.3)
        reading.cancel()
        await link.close()
    finally:
        engine.process.terminate()
        await asyncio.to_thread(engine.process.wait)
    server.say("report")
    texts = json.loads(server.hear())["texts"]
    return [(arrived - int(text.split()[1])) / 1e6 for text, arrived in texts][5:]


def from_the_key(url: str, folder: Path, server: Child) -> list[float]:
    """Milliseconds from the enter key of a real console to the text at the server."""
    from tests.bench.terminal import Terminal, private_environment

    starter = "import sys; from gemini_live_tui.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", starter, "--backend", url, "--no-sound"]
    stamps: dict[str, int] = {}
    with Terminal(command, private_environment(folder)) as terminal:
        terminal.until(b" TEXT ")
        terminal.read_for(1.0)
        for number in range(KEYS + 3):
            text = f"typed {number}"
            terminal.type(text.encode())
            terminal.read_for(0.25)
            stamps[text] = time.monotonic_ns()
            terminal.type(b"\r")
            terminal.read_for(0.25)
        terminal.quit()
    server.say("report")
    texts = json.loads(server.hear())["texts"]
    return [(arrived - stamps[text]) / 1e6 for text, arrived in texts][3:]


def percentile(values: list[float], share: float) -> float:
    """Return the value below which `share` of `values` lie."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def row(what: str, target: str, measured: str) -> None:
    """Print one line of the table."""
    print(f"{what:58} | {target:>8} | {measured}")


def report_microphone(found: dict[str, list[float]]) -> bool:
    """Print; whether the target is met."""
    for name, label in (("bench", "ours, recording"), ("peer", "google-genai")):
        if name in found:
            values = found[name]
            p50, p99 = percentile(values, 0.5), percentile(values, 0.99)
            row(
                f"microphone to whole message, {label}", "", f"p50 {p50:.0f} us, p99 {p99:.0f} us, {len(values)} chunks"
            )
    if "peer" not in found:
        row("microphone to whole message / google-genai", f"<= {RATIO_AT_MOST}x", "not measured: there is no .venv-sdk")
        return True
    blocks = range(0, min(len(values) for values in found.values()), BLOCK)
    pairs = [(found["bench"][at : at + BLOCK], found["peer"][at : at + BLOCK]) for at in blocks]
    p50 = statistics.median(statistics.median(a) / statistics.median(b) for a, b in pairs)
    p99 = percentile(found["bench"], 0.99) / percentile(found["peer"], 0.99)
    good = p50 <= RATIO_AT_MOST
    row("microphone to whole message p50 / google-genai", f"<= {RATIO_AT_MOST}x", f"{p50:.2f}x  {verdict(good)}")
    row("microphone to whole message p99 / google-genai", "", f"{p99:.2f}x")
    return good


def verdict(good: bool) -> str:
    """Return the outcome in one word."""
    return "ok" if good else "MISSED"


def main() -> int:
    """Measure, print, judge."""
    if sys.argv[1:2] == ["ours"]:
        asyncio.run(ours(sys.argv[2]))
        return 0
    if sys.argv[1:2] == ["peer"]:
        asyncio.run(peer(sys.argv[2]))
        return 0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CHUNKS
    server = Child(sys.executable, str(Path(__file__).with_name("wire_server.py")))
    url: str = json.loads(server.hear())["url"]
    with tempfile.TemporaryDirectory(prefix="bl") as name:
        from tests.bench.terminal import private_environment

        os.environ.update(private_environment(Path(name)))
        found: dict[str, Any] = microphone(url, server, count)
        door = asyncio.run(through_the_door(url, server))
        keys = from_the_key(url, Path(name), server)
    server.end()
    row("what", "target", "measured")
    good = report_microphone(found)
    p50, fine = percentile(door, 0.5), percentile(door, 0.5) <= TEXT_AT_MOST_MS
    row("command to text on the wire, p50", f"<= {TEXT_AT_MOST_MS:g} ms", f"{p50:.1f} ms  {verdict(fine)}")
    row("command to text on the wire, p99", "", f"{percentile(door, 0.99):.1f} ms, {len(door)} times")
    row("enter key to text on the wire, p50", "", f"{percentile(keys, 0.5):.1f} ms")
    row("enter key to text on the wire, p99", "", f"{percentile(keys, 0.99):.1f} ms, {len(keys)} times")
    return 0 if good and fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
