"""Measure for how long a frame of a hostile server blocks the event loop.

    .venv/bin/python tests/bench/bench_fuzzed_frames.py [FRAMES]

Fuzzed frames, and frames at the codec's limits and beyond, sent to whole sessions in virtual time. Each callback of the
event loop is timed by the CPU time of its thread, which waiting for a processor does not lengthen.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.faults.fuzz_account import Account  # noqa: E402
from tests.faults.fuzzed_session import fuzz, load  # noqa: E402

FRAMES = 20_000
AT_MOST_MS = 50


def told(name: str, account: Account) -> bool:
    """Print a line; return True when its target is met."""
    met = account.longest_step_ms <= AT_MOST_MS and not account.faults
    slowest = f"{account.longest_step_ms:6.1f} ms"
    print(f"{name:44} | <= {AT_MOST_MS} ms | {slowest}{'' if met else '  MISSED'}")
    for fault in account.faults:
        print(f"  {fault}")
    return met


def main() -> int:
    """Measure, print, judge."""
    gc.freeze()
    frames = int(sys.argv[1]) if len(sys.argv) > 1 else FRAMES
    print(f"CPython {sys.version.split()[0]}, CPU time of the longest step of the event loop\n")
    fuzzed = fuzz(1, frames)
    met = told(f"{frames:,} fuzzed frames", fuzzed)
    met &= told("frames at the codec's limits and beyond", load())
    print(f"\n{fuzzed.seconds / frames * 1e6:.0f} us a fuzzed frame, with the session's reactions")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
