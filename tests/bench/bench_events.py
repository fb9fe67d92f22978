"""Measure an event's cost from the session to the kernel and the console.

Prints JSON lines: name, microseconds, and the ratio to the floor named. Run: `python tests/bench/bench_events.py`.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "runtime"))

from gemini_live_runtime import events as ev  # noqa: E402
from gemini_live_runtime.clock import LoopClock  # noqa: E402
from gemini_live_runtime.engine.hub import Hub  # noqa: E402
from gemini_live_runtime.engine.link import Snapshot, decode, encode  # noqa: E402
from gemini_live_runtime.journal.fold.session_fold import apply, fold  # noqa: E402
from gemini_live_runtime.journal.fold.view import SessionView  # noqa: E402
from gemini_live_runtime.journal.recording.reader import read_journal  # noqa: E402
from gemini_live_runtime.journal.recording.writer import JournalWriter  # noqa: E402
from gemini_live_runtime.redactor import Redactor  # noqa: E402
from gemini_live_runtime.text import sanitise  # noqa: E402

ROUNDS, BATCH = 21, 500


def transcript(count: int, turns_every: int = 20) -> list[ev.Event]:
    """Return a plausible session: deltas of both sides, turns of `turns_every` events."""
    found = []
    for seq in range(1, count + 1):
        payload: ev.Payload = ev.TranscriptDelta(side="model" if seq % 3 else "user", text="some words ")
        if seq % turns_every == 0:
            payload = ev.TurnCompleted(outcome="complete", latency_ms=400.0)
        found.append(ev.Event(seq, seq / 10, seq // turns_every, seq // turns_every, payload))
    return found


def interleaved(cases: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median microseconds per call of each case.

    The cases take turns, so that a slow moment hits all of them.
    """
    times: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, case in cases.items():
            started = time.perf_counter()
            for _ in range(BATCH):
                case()
            times[name].append((time.perf_counter() - started) / BATCH * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def report(name: str, us: float, floor: str = "", floor_us: float = 0.0) -> None:
    """Print one measurement."""
    ratio = {"floor": floor, "ratio": round(us / floor_us, 2)} if floor else {}
    print(json.dumps({"name": name, "us": round(us, 2), **ratio}))


async def main() -> None:
    """Measure and print."""
    delta = ev.TranscriptDelta(side="model", text="some words of an answer ")
    event = ev.Event(1, 1.0, 1, 1, delta)
    line = event.to_line()
    plain = event.to_json()
    with tempfile.TemporaryDirectory() as name:
        journal = JournalWriter(Path(name), "bench", audio=False, report=print)
        hubs = {
            "emit, nobody watches": Hub("b1", LoopClock(), program="b", pid=1),
            "emit, journaled": Hub("b2", LoopClock(), program="b", pid=1, journal=journal),
            "emit, journaled, one console": Hub("b3", LoopClock(), program="b", pid=1, journal=journal),
        }
        outbox = hubs["emit, journaled, one console"].attach()
        cases: dict[str, Callable[[], object]] = {"floor: json.dumps": lambda: json.dumps(plain)}
        cases["Event.to_line"] = event.to_line
        cases["decode an event"] = lambda: decode(line)
        cases["floor: json.loads"] = lambda: json.loads(line)
        clean, dirty = "ordinary words of a transcript " * 4, "words \x1b[31mred\x1b[0m and \u202e more " * 4
        redactor = Redactor()
        redactor.add("a-registered-secret")
        cases["sanitise 130 clean characters"] = lambda: sanitise(clean)
        cases["sanitise 130 hostile characters"] = lambda: sanitise(dirty)
        cases["redact 130 characters"] = lambda: redactor.text(clean)
        for title, hub in hubs.items():
            cases[title] = lambda hub=hub: hub.emit(delta, turn=1, gen=1)  # type: ignore[misc]

        def drained() -> None:
            outbox._lines.clear()
            outbox._bytes = 0

        cases["(drain)"] = drained
        found = interleaved(cases)
        for title, us in found.items():
            if title.startswith(("floor", "(")):
                continue
            floor = "floor: json.loads" if title.startswith("decode") else "floor: json.dumps"
            report(
                title, us, floor, found[floor]
            ) if "emit" in title or "line" in title or "decode" in title else report(title, us)
        await asyncio.to_thread(journal.close)

    for count in (1_000, 10_000, 100_000):
        events = transcript(count)
        view = fold(events[: -min(1000, count // 2)])
        rest = events[-min(1000, count // 2) :]
        started = time.perf_counter()
        for item in rest:
            apply(view, item)
        report(f"fold one event after {count - len(rest):,}", (time.perf_counter() - started) / len(rest) * 1e6)
        started = time.perf_counter()
        snapshot = encode(Snapshot(view))
        report(f"snapshot of {count:,} events ({len(snapshot) // 1000} kB)", (time.perf_counter() - started) * 1e6)
        started = time.perf_counter()
        decoded = decode(snapshot)
        assert isinstance(decoded, Snapshot)
        assert isinstance(decoded.view, SessionView)
        report(f"restore {count:,} events", (time.perf_counter() - started) * 1e6)

    with tempfile.TemporaryDirectory() as name:
        journal = JournalWriter(Path(name), "bench", audio=False, report=print)
        for item in transcript(20_000):
            journal.append(item.to_line())
        await asyncio.to_thread(journal.close)
        started = time.perf_counter()
        count = sum(1 for _ in read_journal(Path(name) / "bench"))
        report("read one event back from a journal", (time.perf_counter() - started) / count * 1e6)


if __name__ == "__main__":
    asyncio.run(main())
