"""Measure time to first paint and to a session, beside a minimal Textual app.

    .venv/bin/python tests/bench/bench_start.py [ROUNDS]

The command is what a person types, `gemini-live-tui demo --no-sound --record off`, engine and embedded server started
and all. Both programs run in the same kind of pseudo terminal, one after the other, round by round; ratios are medians
over rounds. Seconds are wall clock, on a machine that may have other things to do.

Exit status: 0 when the target is met, 1 otherwise.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.bench.terminal import Terminal, private_environment  # noqa: E402

ROUNDS = 11
AT_MOST = 1.5

MINIMAL = """
from textual.app import App
from textual.widgets import Static

class Minimal(App):
    def compose(self):
        yield Static("PAINTED " * 14)

Minimal().run()
"""

STARTER = "import sys; from gemini_live_tui.cli import main; sys.exit(main())"
"""Code of the installed script."""


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds from the command to the first paint, and to a running session."""

    first_paint: float
    ready: float = 0.0


def minimal(environment: dict[str, str]) -> Start:
    """Start a Textual application with one widget; return its times."""
    with Terminal([sys.executable, "-c", MINIMAL], environment) as terminal:
        painted = terminal.until(b"PAINTED")
        terminal.quit()
        return Start(painted)


def console(environment: dict[str, str], *arguments: str) -> Start:
    """Start the product; return its times."""
    command = [sys.executable, "-c", STARTER, "demo", "--no-sound", "--record", "off", *arguments]
    with Terminal(command, environment) as terminal:
        painted = terminal.until(b"Transcript")
        # The state word: without sound a session that listens is in text mode.
        ready = terminal.until(b" TEXT ")
        terminal.quit()
        return Start(painted, ready)


def main() -> int:
    """Measure, print, judge."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    small: list[Start] = []
    ours: list[Start] = []
    with tempfile.TemporaryDirectory(prefix="bs") as name:
        environment = private_environment(Path(name))
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        for number in range(rounds + 1):
            pair = (minimal(environment), console(environment))
            # The first round fills the page cache and writes byte code.
            if number:
                small.append(pair[0])
                ours.append(pair[1])
    ratio = statistics.median(a.first_paint / b.first_paint for a, b in zip(ours, small, strict=True))
    ready = statistics.median(a.ready / b.first_paint for a, b in zip(ours, small, strict=True))

    def milliseconds(values: list[float]) -> str:
        return f"{1000 * statistics.median(values):.0f} ms (best {1000 * min(values):.0f})"

    print(f"{'what':52} | {'target':>8} | measured")
    print(f"{'minimal Textual app: first paint':52} | {'':>8} | {milliseconds([s.first_paint for s in small])}")
    print(f"{'demo --no-sound --record off: first paint':52} | {'':>8} | {milliseconds([s.first_paint for s in ours])}")
    print(f"{'demo --no-sound --record off: ready to talk':52} | {'':>8} | {milliseconds([s.ready for s in ours])}")
    verdict = "ok" if ratio <= AT_MOST else "MISSED"
    print(f"{'first paint / minimal Textual app':52} | {f'<= {AT_MOST:g}x':>8} | {ratio:.2f}x  {verdict}")
    print(f"{'ready to talk / minimal first paint':52} | {'':>8} | {ready:.2f}x")
    return 0 if ratio <= AT_MOST else 1


if __name__ == "__main__":
    raise SystemExit(main())
