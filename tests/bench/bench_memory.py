"""Measure searches in 100,000 memories.

    .venv/bin/python tests/bench/bench_memory.py

The memories lie in ten scopes. Their words are drawn from 20,000, some of them common: every memory has the word "the".
Searches are for a word that few have, for one that all have, for two words that never occur together, for the beginning
of words, within one scope, for a question in a sentence, and for a memory that was written a moment before.

Exit status: 0 when the targets are met, 1 otherwise.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "runtime")]

from gemini_live_runtime.harness.memory import MemoryWrite  # noqa: E402
from gemini_live_runtime.harness.memory_index import SWEPT  # noqa: E402
from gemini_live_runtime.harness.store import Harness  # noqa: E402

MEMORIES, SCOPES = 100_000, 10
WORDS = 20_000
SEARCHES = 30
LIMIT_MS = 50.0


def words(seed: int) -> list[str]:
    """Return words of four to nine letters, none twice."""
    draw = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < WORDS:
        found["".join(draw.choices("abcdefghijklmnoprstuvw", k=draw.randint(4, 9)))] = None
    return list(found)


def fill(root: Path, count: int, vocabulary: list[str]) -> None:
    """Write the files of memories, as another program would."""
    draw = random.Random(1)
    for number in range(count):
        folder = root / "memory" / f"scope{number % SCOPES}"
        folder.mkdir(exist_ok=True)
        # The first words of the vocabulary are the common ones.
        text = " ".join(vocabulary[int(WORDS * draw.random() ** 3)] for _ in range(12))
        value = {"scope": folder.name, "key": f"k{number}", "createdAtMs": 1, "updatedAtMs": number}
        (folder / f"k{number}.json").write_text(json.dumps({**value, "value": f"the {text}"}))


def milliseconds(action: Callable[[], object]) -> float:
    """Return the milliseconds that an action takes."""
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1000


def row(name: str, taken: list[float], limit: float | None) -> bool:
    """Print median and worst of some times; return False for a median over the limit."""
    median = statistics.median(taken)
    verdict = "" if limit is None else f"  target {limit:.0f} ms  {'met' if median <= limit else 'MISSED'}"
    print(f"{name:<44}{median:9.1f} ms{max(taken):9.1f} ms at worst{verdict}", flush=True)
    return limit is None or median <= limit


def _look_at(files: list[Path]) -> None:
    for path in files:
        os.lstat(path)


def searches(vocabulary: list[str]) -> dict[str, list[tuple[str, str | None]]]:
    """Return the texts to search for, with their scope, by the name of their row."""
    rare, common = vocabulary[-2 * SEARCHES :], vocabulary[:SEARCHES]
    pairs = list(zip(rare[:SEARCHES], rare[SEARCHES:], strict=True))
    return {
        "a word that few have": [(word, None) for word in rare[:SEARCHES]],
        "a common word": [(word, None) for word in common],
        "a word that all have": [("the", None)] * SEARCHES,
        "two words, together nowhere": [(" ".join(pair), None) for pair in pairs],
        "the beginning of words": [(word[:3], None) for word in rare[:SEARCHES]],
        "within one scope": [(word, "scope3") for word in common],
        "a question in a sentence": [(f"what is the {word} of the user called", None) for word in rare[:SEARCHES]],
        "words that are not there": [(f"zzz{number}", None) for number in range(SEARCHES)],
    }


def main() -> int:
    """Measure, print, and return the exit status."""
    vocabulary = words(7)
    with tempfile.TemporaryDirectory() as folder, Harness.open(folder) as harness:
        fill(Path(folder), MEMORIES, vocabulary)
        memory = harness.memory
        row("first search: makes the index", [milliseconds(lambda: memory.search("nothing"))], None)
        time.sleep(2.5)  # until then the folders have changed just now, and are looked at anew
        memory.search("nothing")
        stats = list(Path(folder, "memory", "scope0").iterdir())[:SWEPT]
        row(
            f"(looking at {SWEPT:,} files alone)",
            [milliseconds(partial(_look_at, stats)) for _ in range(SEARCHES)],
            None,
        )
        met = []
        for name, texts in searches(vocabulary).items():
            taken = []
            for text, scope in texts:
                began = time.perf_counter()
                memory.search(text, scope=scope)
                taken.append((time.perf_counter() - began) * 1000)
            met.append(row(name, taken, LIMIT_MS))
        puts, deletes, after = [], [], []
        for number in range(SEARCHES):
            name = f"k{10 * number + 1}"
            deletes.append(milliseconds(partial(memory.delete, "scope1", name)))
            puts.append(milliseconds(partial(memory.put, MemoryWrite(scope="scope1", key=f"new{number}", value="x"))))
            after.append(milliseconds(partial(memory.search, f"new{number}")))
        row("a search after a write in a scope of 10,000", after, None)
        row("a write of a new key", puts, None)
        row("a delete", deletes, None)
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
