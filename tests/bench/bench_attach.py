"""Measure how soon a killed console is back with the whole conversation.

`python tests/bench/bench_attach.py` prints target and measured: medians of runs interleaved with a minimal Textual
application's first paint, which is the floor for any of them.
"""

from __future__ import annotations

import os
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.targets import judged  # noqa: E402
from tests.bench.terminal import Terminal, private_environment  # noqa: E402

ROUNDS = 5
PROGRAM = [sys.executable, "-m", "gemini_live_tui"]
SAID = "What can you do?"

MINIMAL = """
from textual.app import App
from textual.widgets import Static

class Minimal(App):
    def compose(self):
        yield Static("PAINTED " * 14)

Minimal().run()
"""

TARGETS = {"attach_s": 1.0}


def measure() -> dict[str, float]:
    """Measure and return every figure of this benchmark."""
    minimal, attach = [], []
    with tempfile.TemporaryDirectory() as name:
        environment = private_environment(Path(name))
        first = Terminal([*PROGRAM, "demo", "concierge", "--text", "--no-sound", "--record", "off"], environment)
        try:
            with first:
                first.until(b"Try writing")
                first.type(f"{SAID}\r".encode())
                first.until(b"model")
                os.kill(first.process.pid, signal.SIGKILL)
            for _ in range(ROUNDS):
                with Terminal([sys.executable, "-c", MINIMAL], environment) as floor:
                    minimal.append(floor.until(b"PAINTED"))
                with Terminal([*PROGRAM, "attach"], environment) as console:
                    attach.append(console.until(SAID.encode()))
                    os.kill(console.process.pid, signal.SIGKILL)
        finally:
            subprocess.run([*PROGRAM, "stop"], env=environment, cwd=ROOT, capture_output=True, check=False)
    return {
        "attach_s": statistics.median(attach),
        "minimal_s": statistics.median(minimal),
        "attach_ratio": statistics.median(ours / floor for ours, floor in zip(attach, minimal, strict=True)),
    }


def main() -> int:
    """Print each figure with its target; 1 when a target is missed."""
    return judged("attach", measure().items(), TARGETS)


if __name__ == "__main__":
    raise SystemExit(main())
