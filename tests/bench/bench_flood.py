"""Measure how soon a console echoes keys while a server floods it.

The console is in a pseudo terminal, its engine in a process of its own. A hostile server floods the engine in mid-call
while keys are typed, one after the other; each is timed from the key to its echo.
"""

from __future__ import annotations

import os
import re
import select
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / part) for part in ("tui", "runtime", ".")]

from tests.faults.hostile_server import PASSING, calls, messages, on_request  # noqa: E402
from tests.faults.hostile_server import call as tool_call  # noqa: E402
from tests.support.fake_live_server import FakeLiveServer, says  # noqa: E402
from tests.support.pseudo_terminal import PseudoTerminal  # noqa: E402

TARGET_MS = 100.0
WATCH_S = 6.0
SERVE = "--serve"
KEYS = "жшщюяфэъыйцгзвлдкнмрпбтчсхёіїґђљњћџѓќўѣѳѵ"
FLOODS = {
    "5,000 calls in a frame": messages(calls(*(tool_call(number) for number in range(5000)))),
    "100,000 deltas": messages(*(says(f"{number} ") for number in range(100_000))),
    "2,000 goAways": PASSING["go-away-flood"],
    "405 unreadable frames": PASSING["unreadable-flood"],
    "500 unknown kinds": PASSING["unknown-kinds"],
}
CONSOLE = """
from gemini_live_tui.cli import main
main(["--no-sound", "--text", "--record", "text", "--backend", {url!r}])
"""


def measure(name: str) -> list[float]:
    """Return the milliseconds from key to echo during a flood."""
    # In a process of its own: what it costs to make a flood must not delay the clock.
    server = subprocess.Popen(
        [sys.executable, __file__, SERVE, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert server.stdin is not None
    assert server.stdout is not None
    with tempfile.TemporaryDirectory(prefix="glt") as folder, server:
        url = server.stdout.readline().strip()
        program = CONSOLE.format(url=url)
        with PseudoTerminal(program, XDG_RUNTIME_DIR=folder, XDG_DATA_HOME=folder, XDG_CONFIG_HOME=folder) as terminal:
            terminal.read_until(b" TEXT ")
            _watch(terminal, 1.0)
            terminal.type(b"mode flood\r")
            times: list[float] = []
            begin = time.monotonic()
            while time.monotonic() - begin < WATCH_S:
                times.append(_echo(terminal, KEYS[len(times) % len(KEYS)]))
                _watch(terminal, 0.03)
        server.stdin.close()
        return times


def serve(name: str) -> None:
    """Serve a flood until standard input is closed."""
    PASSING["flood"] = FLOODS[name]
    with FakeLiveServer(on_request) as server:
        print(server.url, flush=True)
        sys.stdin.read()


def _watch(terminal: PseudoTerminal, seconds: float) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([terminal.master], [], [], left)[0]:
            terminal.seen += os.read(terminal.master, 65536)


def _echo(terminal: PseudoTerminal, key: str) -> float:
    began = time.perf_counter()
    terminal.type(key.encode())
    terminal.read_until(key.encode())
    return 1000 * (time.perf_counter() - began)


def main() -> int:
    """Print each flood with its figures; 1 when a target is missed."""
    if sys.argv[1:2] == [SERVE]:
        serve(sys.argv[2])
        return 0
    chosen = [name for name in FLOODS if not sys.argv[1:] or re.search(sys.argv[1], name)]
    missed = 0
    for name in chosen:
        times = measure(name)
        worst = max(times)
        missed += worst > TARGET_MS
        verdict = "ok" if worst <= TARGET_MS else "MISSED"
        print(
            f"flood {name:<24} {len(times):4} keys  median {statistics.median(times):6.1f} ms  "
            f"worst {worst:7.1f} ms  target <= {TARGET_MS:g}  {verdict}",
            flush=True,
        )
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
