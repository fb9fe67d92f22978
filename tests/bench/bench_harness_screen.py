"""Measure how the console reads records: 10,000 tasks, notifications and memories.

    .venv/bin/python tests/bench/bench_harness_screen.py [ROUNDS]

- A first look, beside reading the files of tasks and notifications and parsing their JSON.
- A look when nothing has changed, every five seconds while the screen is open, beside the status of the same files.
- A search among the names and words of the memories.

All in processor time of the thread that does it, which is not the one that draws. Medians of interleaved rounds. Exit
status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from tests.support.manual_clock import ManualClock

from gemini_live_runtime.harness.store import Harness
from gemini_live_tui.harness.records import Records

ROUNDS = 3
COUNT = 10_000
FIRST_AT_MOST = 4.0
AGAIN_AT_MOST = 4.0
SEARCH_AT_MOST_MS = 100.0


def fill(root: Path) -> None:
    """Write records without waiting for the disk."""
    Harness.open(root).close()
    now = round(time.time() * 1000)
    for number in range(COUNT):
        at = {"createdAtMs": now - number * 1000, "updatedAtMs": now - number * 1000}
        folder = root / "tasks" / f"task_{number:06}"
        folder.mkdir()
        task = {"id": folder.name, "title": "report", "status": "succeeded", "summary": "12 pages", **at}
        (folder / "task.json").write_text(json.dumps(task))
        name = f"notification_{number:06}"
        one = {"id": name, "kind": "generic", "status": "acknowledged", "title": f"note {number}", **at}
        (root / "notifications" / f"{name}.json").write_text(json.dumps(one))
        scope = root / "memory" / f"scope{number % 10}"
        scope.mkdir(exist_ok=True)
        memory = {"scope": scope.name, "key": f"key{number:06}", "value": f"value {number}", **at}
        (scope / f"key{number:06}.json").write_text(json.dumps(memory))


def files(root: Path) -> list[str]:
    """Return the files of tasks and notifications."""
    tasks = [f"{entry.path}/task.json" for entry in os.scandir(root / "tasks")]
    return [*tasks, *(entry.path for entry in os.scandir(root / "notifications"))]


def parse(root: Path) -> None:
    """Read the same files as JSON."""
    for path in files(root):
        with open(path, "rb") as file:
            json.loads(file.read())


def status(root: Path) -> None:
    """Read the status of the same files."""
    for path in files(root):
        os.stat(path)


def timed(work: Callable[[], object]) -> float:
    """Return the milliseconds of this thread for `work`."""
    begun = time.thread_time()
    work()
    return (time.thread_time() - begun) * 1e3


def main() -> int:
    """Run the rounds; return the exit status."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    times: dict[str, list[float]] = {name: [] for name in ("first", "parse", "again", "status", "search")}
    with tempfile.TemporaryDirectory() as name:
        root = Path(name) / "root"
        fill(root)
        Records(str(root), ManualClock()).search("value")  # makes the index
        for _ in range(rounds):
            records = Records(str(root), ManualClock())
            times["first"].append(timed(records.look))
            times["parse"].append(timed(lambda: parse(root)))
            times["again"].append(timed(records.look))
            times["status"].append(timed(lambda: status(root)))
            times["search"].append(timed(partial(records.search, "value 77")))
            records.close()
    middle = {name: statistics.median(found) for name, found in times.items()}
    met = True
    for label, part, floor, words, at_most in (
        ("a first look", "first", "parse", "parsing the same files", FIRST_AT_MOST),
        ("a look again", "again", "status", "their status", AGAIN_AT_MOST),
    ):
        ratio = middle[part] / middle[floor]
        met &= ratio <= at_most
        verdict = "ok" if ratio <= at_most else "MISSED"
        beside = f"{ratio:.2f}x {words} ({middle[floor]:.1f} ms), at most {at_most:g}x"
        print(f"{label:14} {middle[part]:8.1f} ms  {beside}  {verdict}")
    found = middle["search"] <= SEARCH_AT_MOST_MS
    verdict = "ok" if found else "MISSED"
    print(f"{'a search':14} {middle['search']:8.1f} ms  at most {SEARCH_AT_MOST_MS:g} ms  {verdict}")
    return 0 if met and found else 1


if __name__ == "__main__":
    raise SystemExit(main())
