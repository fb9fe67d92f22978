"""Measure seeks in 100,000 events, beside folding and beside 10,000 events.

    .venv/bin/python tests/bench/bench_seek.py

The session has 5,000 paragraphs of transcript, 1,000 keys of state and fifty changes of state a second. Seeks go to
random places, each time to another page than before, and no other is kept decoded: no cache helps. For flatness two
sessions of different lengths are sought in turns, whose views are of the same size: what a view costs to copy is no
matter of length. Memory is what Python's allocator has handed out while an hour of events at 60x goes by (360,000),
beyond what the live view itself takes, once the first minutes have gone by.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from tests.bench.recording import BLOCKS, KEYS, recording  # noqa: E402

from gemini_live_runtime import events as ev  # noqa: E402
from gemini_live_runtime import vocabulary  # noqa: E402
from gemini_live_runtime.journal.fold.session_fold import apply, fold  # noqa: E402
from gemini_live_runtime.journal.fold.view import SessionView  # noqa: E402
from gemini_live_runtime.journal.history import page_store  # noqa: E402
from gemini_live_runtime.journal.history.live_history import LiveHistory  # noqa: E402
from gemini_live_runtime.journal.history.page_store import PAGE  # noqa: E402
from gemini_live_runtime.journal.history.recorded_history import RecordedHistory  # noqa: E402
from gemini_live_runtime.journal.history.session_history import History  # noqa: E402

LONG, SHORT = 100_000, 10_000
SEEKS = 200
STEPS = 400
FOLDS = 3
HOUR = 360_000
SETTLED = 60_000
"""Events after which memory is looked at for the first time."""

FIRST_S = 0.2
"""Seconds of reading before a file is shown for the first time."""


def write(folder: Path, count: int, *, full: bool = False) -> Path:
    """Write a recorded session and return its path."""
    path = folder / f"{count}-{full}.jsonl"
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps({**vocabulary.header(), "session_id": "bench"}) + "\n")
        file.writelines(f"{event.to_line()}\n" for event in recording(count, full=full))
    return path


def opened(path: Path) -> RecordedHistory:
    """Return the history of a whole file."""
    history = RecordedHistory(path)
    while history.load():
        pass
    return history


def milliseconds(action: Callable[[], object]) -> float:
    """Return the milliseconds that an action takes."""
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def seeks(history: History, first: int, count: int, seed: int = 1) -> list[float]:
    """Return milliseconds of seeks to random events from `first` on.

    No seek goes to the page of the one before.
    """
    chance, page = random.Random(seed), -1
    found: list[float] = []
    while len(found) < count:
        seq = chance.randrange(first, history.last_seq)
        if seq // PAGE != page:
            page = seq // PAGE
            found.append(milliseconds(lambda seq=seq: history.view_at(seq)))  # type: ignore[misc]
    return found


def percentile(samples: list[float], share: float) -> float:
    """As it says."""
    return sorted(samples)[min(len(samples) - 1, int(len(samples) * share))]


def opening(path: Path) -> bool:
    """Reading a file for the first time."""
    began = time.perf_counter()
    history = RecordedHistory(path)
    history.load(FIRST_S)
    first, shown = time.perf_counter() - began, history.last_seq
    worst = 0.0
    more = True
    while more:
        step = time.perf_counter()
        more = history.load()
        worst = max(worst, time.perf_counter() - step)
    took = time.perf_counter() - began
    print(
        f"{LONG:,} events read in {took:.1f} s, {shown:,} of them when it is first shown; longest slice {worst:.3f} s"
    )
    history.close()
    return told("first look at a long file", "<= 0.3 s", f"{first:.2f} s", first <= 0.3)


def seeking(path: Path) -> bool:
    """Seeks beside folding from nothing."""
    history = opened(path)
    lines = path.read_bytes().splitlines()[1:]
    live = LiveHistory()
    for line in lines:
        live.append(vocabulary.event_from_line(line))
    met = True
    for name, subject in (("its file", history), ("live", live)):
        view = subject.live
        assert (len(view.agent_view.keys), len(view.blocks) >= BLOCKS) == (KEYS, True)
        found = seeks(subject, LONG // 10, SEEKS)
        middle, late = statistics.median(found), percentile(found, 0.95)
        met &= told(f"a seek in {LONG:,} events, {name}, p50", "<= 50 ms", f"{middle:.1f} ms", middle <= 50)
        met &= told(f"a seek in {LONG:,} events, {name}, p95", "<= 50 ms", f"{late:.1f} ms", late <= 50)
    back = [milliseconds(lambda seq=seq: history.view_at(seq)) for seq in range(LONG // 2 + STEPS, LONG // 2, -1)]  # type: ignore[misc]
    ahead = [milliseconds(lambda seq=seq: history.view_at(seq)) for seq in range(LONG // 2, LONG // 2 + STEPS)]  # type: ignore[misc]
    print(f"one event back {statistics.median(back):.2f} ms, one ahead {statistics.median(ahead):.2f} ms")
    ratios = []
    for _ in range(FOLDS):
        nothing = milliseconds(lambda: fold(vocabulary.event_from_line(line) for line in lines))
        ratios.append(nothing / statistics.median(seeks(history, LONG - 20 * PAGE, 20)))
    ratio = statistics.median(ratios)
    history.close()
    live.close()
    return told(f"folding {LONG:,} events from nothing / a seek", ">= 50x", f"{ratio:.0f}x", ratio >= 50) and met


def flatness(folder: Path) -> bool:
    """Seeks in a long session beside seeks in a short one."""
    long, short = opened(write(folder, LONG, full=True)), opened(write(folder, SHORT, full=True))
    ratios = []
    for seed in range(SEEKS // 10):
        one, other = (statistics.median(seeks(history, BLOCKS + 3 * KEYS, 10, seed)) for history in (long, short))
        ratios.append(one / other)
    ratio = statistics.median(ratios)
    long.close()
    short.close()
    return told(f"a seek in {LONG:,} events / in {SHORT:,}", "<= 1.2x", f"{ratio:.2f}x", ratio <= 1.2)


def kept(take: Callable[[ev.Event], object]) -> float:
    """Megabytes by which memory grows from `SETTLED` to `HOUR` events."""
    tracemalloc.start()
    before = 0
    for event in recording(HOUR):
        take(event)
        if event.seq == SETTLED:
            gc.collect()
            before = tracemalloc.get_traced_memory()[0]
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (after - before) / 1e6


def memory() -> bool:
    """Measure an hour of events, recorded and not recorded."""
    view = SessionView()
    alone = kept(lambda event: apply(view, event))
    print(f"the live view alone grows by {alone:.1f} MB: its transcript has {len(view.blocks):,} paragraphs by then")
    met = True
    for record in ("text", "off"):
        history = LiveHistory()
        history.live.record = record
        grown = kept(lambda event, history=history, record=record: _take(history, event, record)) - alone  # type: ignore[misc]
        if record == "off":
            print(f"not recorded, {history.count:,} of {HOUR:,} events can be reached")
        met &= told(f"memory kept of an hour, record {record}", "<= 5 MB", f"{grown:.1f} MB", grown <= 5)
        history.close()
    return met


def _take(history: LiveHistory, event: ev.Event, record: str) -> None:
    if event.seq > 1:
        history.append(event)
    history.live.record = record  # type: ignore[assignment]


def told(name: str, target: str, measured: str, met: bool) -> bool:
    """Print a line; whether its target is met."""
    print(f"{name:48} | {target:>8} | {measured:>9}{'' if met else '  MISSED'}")
    return met


def main() -> int:
    """Measure, print, judge."""
    print(f"CPython {sys.version.split()[0]}, pages of {PAGE} events\n")
    cached, page_store.CACHED_PAGES = page_store.CACHED_PAGES, 1
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write(folder, LONG)
        met = opening(path)
        met &= seeking(path)
        met &= flatness(folder)
    page_store.CACHED_PAGES = cached
    met &= memory()
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
