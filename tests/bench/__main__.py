"""Run the benchmarks, all or those named, one after the other.

`make bench`, `python -m tests.bench [NAME ...]`: runs each bench_NAME.py of this folder, then prints a line for each.

A bench prints its own table of targets and figures, each as soon as it is measured. It exits with 0 when all targets
are met and with 1 when one is missed, and raises SystemExit with a sentence when what it needs is not installed here.
This program prints missed targets and exits with 0 all the same: figures of one machine on one day are to be read, not
asserted. It fails when a bench crashes, and a product that ends or hangs crashes a bench: both are errors, never
SystemExit.
"""

from __future__ import annotations

import contextlib
import os
import runpy
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PREFIX = "bench_"
TIMEOUT_S = 900

MET, MISSED, CANNOT, CRASHED = 0, 1, 75, 70
VERDICTS = {MET: "all targets met", MISSED: "A TARGET WAS MISSED", CANNOT: "could not run here, see above"}


def main(arguments: Sequence[str], folder: Path = HERE) -> int:
    """Run the benches named, or all; 1 when one crashed, 2 for a name that is none."""
    benches = {path.stem.removeprefix(PREFIX): path for path in sorted(folder.glob(f"{PREFIX}*.py"))}
    if unknown := [name for name in arguments if name not in benches]:
        print(f"There is no bench {unknown[0]!r}; there are {', '.join(benches)}", file=sys.stderr)
        return 2
    lines = []
    crashed = False
    for name in arguments or benches:
        print(f"== {name} ".ljust(100, "="), flush=True)
        began = time.monotonic()
        status = _run(benches[name])
        print(flush=True)
        crashed |= status not in VERDICTS
        lines.append(f"{name:<12} {time.monotonic() - began:6.0f} s  {VERDICTS.get(status, f'CRASHED ({status})')}")
    print("\n".join(lines))
    return 1 if crashed else 0


def _run(bench: Path) -> int:
    path = os.pathsep.join(str(ROOT / name) for name in (".", "tui", "runtime"))
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, str(Path(__file__).resolve()), "--child", str(bench)]
    with subprocess.Popen(command, env=environment, cwd=ROOT, start_new_session=True) as process:
        try:
            return process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            print(f"{bench.name} was not done after {TIMEOUT_S} s", file=sys.stderr)
            return CRASHED
        finally:
            # With what it has started: workers of a pool go on otherwise.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _child(bench: str) -> int:
    """Run one bench in this process, telling a crash from a missed target."""
    sys.argv = [bench]
    sys.path[0] = str(Path(bench).parent)
    try:
        runpy.run_path(bench, run_name="__main__")
    except SystemExit as end:
        if not isinstance(end.code, str):
            return end.code or MET
        print(end.code, file=sys.stderr)
        return CANNOT
    except Exception:
        traceback.print_exc()
        return CRASHED
    return MET


if __name__ == "__main__":
    sys.exit(_child(sys.argv[2]) if sys.argv[1:2] == ["--child"] else main(sys.argv[1:]))
