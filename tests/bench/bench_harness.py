"""Measure the harness: an event of a task, and the list of 10,000 tasks.

    .venv/bin/python tests/bench/bench_harness.py [ROUNDS]

- An event: a task's progress appended to its file, beside a bare append of the same line to an open file, both brought
  to the disk.
- The list: 10,000 tasks, beside reading the same files and parsing their JSON.

Medians of interleaved rounds. Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from gemini_live_runtime.harness.event_log import TaskEventLog  # noqa: E402
from gemini_live_runtime.harness.record_files import RecordFiles, line_of  # noqa: E402
from gemini_live_runtime.harness.store import Harness  # noqa: E402
from gemini_live_runtime.harness.tasks import NewRunningTask, TaskEvent, TaskEventKind  # noqa: E402

ROUNDS = 7
APPENDS = 200
TASKS = 10_000
APPEND_AT_MOST = 2.0
LIST_AT_MOST_MS = 200.0

EVENT = TaskEvent(sequence=1, recorded_at_ms=1, type=TaskEventKind.PROGRESS, message="page 12 of 100", fraction=0.12)


def appended(folder: Path) -> float:
    """Return microseconds for an event of a task."""
    log = TaskEventLog(RecordFiles(), folder / f"events-{time.monotonic_ns()}.jsonl")
    log.append(EVENT)
    begun = time.perf_counter()
    for _ in range(APPENDS):
        log.append(EVENT)
    return (time.perf_counter() - begun) / APPENDS * 1e6


def bare(folder: Path) -> float:
    """Return microseconds for the bare append of such a line."""
    line = line_of(EVENT, folder / "x")
    fd = os.open(folder / f"bare-{time.monotonic_ns()}.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    sync = getattr(os, "fdatasync", os.fsync)
    os.write(fd, line)
    begun = time.perf_counter()
    for _ in range(APPENDS):
        os.write(fd, line)
        sync(fd)
    took = time.perf_counter() - begun
    os.close(fd)
    return took / APPENDS * 1e6


def fill(harness: Harness) -> None:
    """Write the records of many tasks, without waiting for the disk."""
    metadata = {"toolCallId": "c1", "toolName": "write_report", "toolArgs": {"pages": 12, "title": "The year so far"}}
    task = harness.tasks.start(NewRunningTask(title="Background tool: write_report", metadata=metadata))
    text = harness.paths.task_file(task.id).read_text()
    for number in range(TASKS - 1):
        folder = harness.paths.tasks / f"task_{number:016d}_{number:012x}"
        folder.mkdir()
        (folder / "task.json").write_text(text.replace(task.id, folder.name))


def listed(harness: Harness) -> float:
    """Return milliseconds for the list of all tasks."""
    begun = time.perf_counter()
    assert len(harness.tasks.find().records) == TASKS
    return (time.perf_counter() - begun) * 1e3


def floor(harness: Harness) -> float:
    """Return milliseconds for reading the same files as JSON."""
    begun = time.perf_counter()
    for entry in os.scandir(harness.paths.tasks):
        with open(f"{entry.path}/task.json", "rb") as file:
            json.loads(file.read())
    return (time.perf_counter() - begun) * 1e3


def main() -> int:
    """Run the rounds; return the exit status."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory(dir=ROOT) as name, Harness.open(Path(name) / "root") as harness:
        fill(harness)
        times: dict[str, list[float]] = {"event": [], "bare": [], "list": [], "floor": []}
        for _ in range(rounds):
            times["event"].append(appended(Path(name)))
            times["bare"].append(bare(Path(name)))
            times["list"].append(listed(harness))
            times["floor"].append(floor(harness))
    event, bare_us, list_ms, floor_ms = (statistics.median(times[part]) for part in ("event", "bare", "list", "floor"))
    ratio = event / bare_us
    ok = ratio <= APPEND_AT_MOST
    print(
        f"an event        {event:8.1f} us  {ratio:.2f}x a bare append ({bare_us:.1f} us), at most {APPEND_AT_MOST:g}x"
        f"  {'ok' if ok else 'MISSED'}"
    )
    listed_ok = list_ms <= LIST_AT_MOST_MS
    beside = f"{list_ms / floor_ms:.2f}x reading their JSON ({floor_ms:.1f} ms), at most {LIST_AT_MOST_MS:g} ms"
    print(f"{TASKS:,} tasks   {list_ms:8.1f} ms  {beside}  {'ok' if listed_ok else 'MISSED'}")
    return 0 if ok and listed_ok else 1


if __name__ == "__main__":
    raise SystemExit(main())
