"""Run a simulated session again: `python -m tests.simulation --seed N`."""

from __future__ import annotations

import argparse
import re
import sys
import time

from tests.simulation.coverage import Coverage
from tests.simulation.judging import judged
from tests.simulation.running import run, shrunk

NOISE = {"state.changed", "session.state", "telemetry.reported", "log", "turn.measured", "promotion.decided"}


def main() -> int:
    """Run seeds; 1 when one of them breaks a promise."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, help="one session, shown whole")
    parser.add_argument("--shrink", action="store_true", help="leave out every action that the fault can do without")
    parser.add_argument("--seeds", default="", metavar="FROM:TO", help="many sessions, faults only")
    parser.add_argument("--brief", action="store_true", help="without the events that there are many of")
    parser.add_argument("--quiet", action="store_true", help="without the timeline")
    chosen = parser.parse_args()
    if chosen.seed is None:
        first, _, last = (chosen.seeds or "0:250").partition(":")
        return many(int(first), int(last))
    found = run(chosen.seed)
    fault = judged(found)
    if chosen.shrink and fault:
        found = shrunk(found, lambda tried: _kind(judged(tried)) == _kind(fault))
        fault = judged(found)
    if not chosen.quiet:
        for entry in found.timeline.entries:
            if not (chosen.brief and entry.kind == "event" and entry.data["type"] in NOISE):
                print(entry)
    print(f"seed {found.seed}: {' '.join(step.name for step in found.steps)}")
    print(f"BROKEN: {fault}" if fault else "all promises kept")
    return 1 if fault else 0


def _kind(fault: str) -> str:
    """Return the text of a fault without its numbers."""
    return re.sub(r"[0-9.]+|'[^']*'|\{[^}]*\}", "#", fault)[:90]


def many(first: int, last: int) -> int:
    """Run seeds `first` to `last` - 1."""
    began = time.perf_counter()
    broken, coverage = 0, Coverage()
    for seed in range(first, last):
        found = run(seed)
        coverage.add([step.name for step in found.steps], found.event_types)
        fault = judged(found)
        if fault:
            broken += 1
            print(f"seed {seed}: {fault}")
    print("\n".join(coverage.report()))
    seconds = time.perf_counter() - began
    print(f"{last - first} sessions in {seconds:.1f} s ({(last - first) / seconds:.0f} a second), {broken} broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
