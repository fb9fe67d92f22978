"""Measure the console's processor time and output in a pseudo terminal.

`python tests/bench/bench_console.py` prints target and measured. Time to the first paint is measured by bench_start.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.targets import judged  # noqa: E402
from tests.bench.terminal import Terminal, private_environment  # noqa: E402

WARM_S = 2.5
"""Seconds after the first paint that do not count."""

WATCH_S = 6.0

PROGRAM = """
from gemini_live_tui.run_console import run_console
from gemini_live_tui.settings import ConsoleSettings
{imported}

async def source():
    {link}
    return link

run_console(source, settings=ConsoleSettings(theme="ember"))
"""

IDLE = PROGRAM.format(
    imported="from tests.support.scripted_link import ScriptedLink", link="link = ScriptedLink(); link.start()"
)
STREAMING = PROGRAM.format(
    imported="from tests.support.streaming_link import StreamingLink", link="link = StreamingLink(backlog=100).begin()"
)
NOISE = PROGRAM.format(imported="from tests.support.noisy_link import NoisyLink", link="link = NoisyLink().begin()")
"""Voice session without speech, whose microphone hears the room."""


@dataclass(frozen=True, slots=True)
class Load:
    """Share of a core and bytes a second that a console takes."""

    cpu_percent: float
    bytes_per_s: float


def load_of(program: str, environment: Mapping[str, str], watch_s: float = WATCH_S) -> Load:
    """Run a console for `WARM_S`, then measure `watch_s` seconds of it."""
    with Terminal([sys.executable, "-c", program], environment) as terminal:
        terminal.until(b"Transcript")
        terminal.read_for(WARM_S)
        cpu_s, began = terminal.cpu_s(), time.monotonic()
        sent = terminal.read_for(watch_s)
        span = time.monotonic() - began
        return Load(100 * (terminal.cpu_s() - cpu_s) / span, sent / span)


def measure() -> Iterator[tuple[str, float]]:
    """Yield every figure of this benchmark as soon as it is measured."""
    with tempfile.TemporaryDirectory(prefix="bc") as name:
        environment = private_environment(Path(name))
        streaming = load_of(STREAMING, environment)
        yield "streaming_cpu_percent", streaming.cpu_percent
        yield "streaming_kilobytes_per_s", streaming.bytes_per_s / 1000
        noise = load_of(NOISE, environment, 2 * WATCH_S)
        yield "soft_noise_cpu_percent", noise.cpu_percent
        yield "soft_noise_bytes_per_s", noise.bytes_per_s
        idle = load_of(IDLE, environment)
        yield "idle_cpu_percent", idle.cpu_percent
        yield "idle_bytes_per_s", idle.bytes_per_s


TARGETS = {
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
