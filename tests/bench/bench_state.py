"""Measure state beside a plain dict, and watching beside comparing snapshots.

All cases of a table run in turns in one process; ratios are medians over the rounds. Run:
`python tests/bench/bench_state.py`. Exit status: 0 when every target is met, 1 otherwise.
"""

from __future__ import annotations

import statistics
import sys
import timeit
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "runtime"))

from gemini_live_runtime.state.computed import ComputedRegistry, ComputedVar  # noqa: E402
from gemini_live_runtime.state.mutations import Changes  # noqa: E402
from gemini_live_runtime.state.store import State  # noqa: E402
from gemini_live_runtime.state.terms import key  # noqa: E402
from gemini_live_runtime.state.watchers import Watcher, WatcherRegistry  # noqa: E402

ROUNDS = 101
BATCH_SECONDS = 0.002
KEYS = 64
"""Keys that reading and writing go round."""
CHANGED = 10
WATCHERS = 100

Samples = dict[str, list[float]]


class Marked:
    """The least that a store with change marks can do: the floor for writing."""

    def __init__(self) -> None:
        self.data: dict[str, Any] = {}
        self.dirty: set[str] = set()

    def set(self, key: str, value: Any) -> None:
        self.data[key] = value
        self.dirty.add(key)


@dataclass(frozen=True)
class Target:
    """Target for `subject` against `against`.

    At least `at_least` times faster, or at most `at_most` times slower; without either, the ratio is only printed.
    """

    name: str
    subject: str
    against: str
    at_least: float = 0.0
    at_most: float = 0.0


TARGETS = [
    Target("State.get vs dict.get", "State.get", "floor: dict.get", at_most=4),
    Target("journaled set vs set + dirty mark", "set, journaled, tracked", "floor: set + dirty mark", at_most=8),
    Target("the same with mutations and changes taken", "set, all taken", "floor: set + dirty mark"),
    Target("a transaction's set vs set + dirty mark", "set in a transaction", "floor: set + dirty mark"),
    Target("watcher pass vs deepcopy snapshots, nested", "pass, 1,000 keys", "floor: snapshots, 1,000", at_least=100),
    Target(
        "the same, integers, 1 of 3 changed watched",
        "pass, integers, 1 of 3 watched",
        "floor: snapshots, integers",
        at_least=100,
    ),
    Target(
        "the same, integers, 3 of 3 changed watched",
        "pass, integers, 3 of 3 watched",
        "floor: snapshots, integers",
        at_least=100,
    ),
    Target("watcher pass, 10,000 vs 1,000 keys", "pass, 10,000 keys", "pass, 1,000 keys", at_most=1.2),
    Target("recompute affected, 1 of 50", "1 of 50 recomputed", "floor: its guard"),
]


def reading_and_writing() -> dict[str, Callable[[], object]]:
    """Return cases that read or write `KEYS` keys."""
    names = [f"app:key{number}" for number in range(KEYS)]
    plain = {name: number for number, name in enumerate(names)}
    filled = State(plain)
    marked, counter = Marked(), [0]
    journaled, journal_changes = watched_state()
    emptied, emptied_changes = watched_state()
    base = State(plain)

    def get_plain() -> None:
        get = plain.get
        for name in names:
            get(name)

    def get_state() -> None:
        get = filled.get
        for name in names:
            get(name)

    def write(put: Callable[[str, Any], None]) -> None:
        counter[0] += 1
        value = counter[0]
        for name in names:
            put(name, value)

    def write_marked() -> None:
        write(marked.set)
        marked.dirty.clear()

    def write_journaled() -> None:
        write(journaled.set)
        # As cheap as the floor's clearing; what taking them costs is a line of its own.
        journaled._unreported.clear()
        journal_changes.old_values.clear()

    def write_taken() -> None:
        write(emptied.set)
        emptied.take_mutations()
        emptied_changes.take()

    def write_transaction() -> None:
        with base.transaction() as tx:
            write(tx.set)

    return {
        "floor: dict.get": get_plain,
        "State.get": get_state,
        "floor: set + dirty mark": write_marked,
        "set, journaled, tracked": write_journaled,
        "set, all taken": write_taken,
        "set in a transaction": write_transaction,
    }


def watched_state() -> tuple[State, Changes]:
    """Return a state as a session has it, with mutations kept and one tracker."""
    state = State()
    state.on_mutations(lambda: None)
    return state, state.track()


def values(count: int) -> dict[str, Any]:
    """Return plausible values: texts, numbers and flags.

    One in ten is an object such as a tool gives, one in ten a list.
    """
    kinds: list[Callable[[int], Any]] = [
        lambda n: n,
        lambda n: n / 7,
        lambda n: f"text {n}",
        lambda n: n > 999,
        lambda n: None if n < 1_000 else n,
        lambda n: n * 3,
        lambda n: f"name {n}",
        lambda n: n / 3,
        lambda n: {"name": f"item {n}", "count": n, "price": {"amount": n / 4, "currency": "EUR"}, "tags": ["new"]},
        lambda n: [n, n + 1],
    ]
    return {f"app:key{number}": kinds[number % 10](number) for number in range(count)}


def nothing() -> None:
    """Do nothing, as an action; the registry runs none."""


def watching() -> dict[str, Callable[[], object]]:
    """Return cases that find the watchers of changed keys among `WATCHERS`."""
    ints: dict[str, Any] = {f"app:key{number}": number for number in range(1_000)}
    one_watched = {f"app:key{number}": number + 1_000 for number in range(500, 503)}
    all_watched = {f"app:key{number}": number + 1_000 for number in (490, 500, 510)}
    return {
        "pass, 1,000 keys": watcher_pass(values(1_000), changed_values()),
        "pass, 10,000 keys": watcher_pass(values(10_000), changed_values()),
        "floor: snapshots, 1,000": snapshots(values(1_000), changed_values()),
        "pass, integers, 1 of 3 watched": watcher_pass(ints, one_watched),
        "pass, integers, 3 of 3 watched": watcher_pass(ints, all_watched),
        "floor: snapshots, integers": snapshots(ints, all_watched),
    }


def changed_values() -> dict[str, Any]:
    """Return other values of ten keys, each of the same kind; one key is watched."""
    others = values(2_000)
    return {f"app:key{number}": others[f"app:key{number + 1_000}"] for number in range(500, 500 + CHANGED)}


def snapshots(values: dict[str, Any], changed: dict[str, Any]) -> Callable[[], object]:
    """Return a pass that compares a deep copy of the state with the one before."""
    state = dict(values)
    crossed: Callable[[Any, Any], bool] = lambda old, new: new > 1e9  # noqa: E731
    watched = {f"app:key{number * 10}": crossed for number in range(WATCHERS)}
    before = [deepcopy(state)]
    versions = ({name: state[name] for name in changed}, changed)
    turn = [0]

    def run() -> object:
        turn[0] += 1
        state.update(versions[turn[0] % 2])
        now, old = deepcopy(state), before[0]
        found = {name: (old.get(name), value) for name, value in now.items() if old.get(name) != value}
        before[0] = now
        return [predicate for name, predicate in watched.items() if name in found and predicate(*found[name])]

    return run


def watcher_pass(values: dict[str, Any], changed: dict[str, Any]) -> Callable[[], object]:
    """Return the product's pass over these changes."""
    state = State(values)
    changes = state.track()
    kinds = (
        lambda term: term.changed(),
        lambda term: term.crossed_above(1e9),
        lambda term: (term > 1e9).became_true(),
        lambda term: term.changed_to("never"),
    )
    registry = WatcherRegistry(
        Watcher(kinds[number % 4](key(f"app:key{number * 10}")), nothing) for number in range(WATCHERS)
    )
    registry.prime(state)
    for name, value in changed.items():
        state.set(name, value)
    notes = changes.old_values

    def run() -> object:
        changes.old_values = notes.copy()  # as writing left it, which is measured above
        return registry.evaluate(changes.take(), state)

    return run


def computing() -> dict[str, Callable[[], object]]:
    """Return cases in which each change affects one of fifty computed values."""
    state = State()
    guards = [key(f"app:key{number}") > 5 for number in range(50)]
    registry = ComputedRegistry(ComputedVar(f"over{number}", guard) for number, guard in enumerate(guards))
    registry.recompute(state)
    turn = [0]

    def affected() -> object:
        turn[0] += 1
        state.set("app:key7", turn[0] % 10)
        return registry.recompute_affected(state, ("app:key7",))

    return {"floor: its guard": lambda: guards[7].holds(state), "1 of 50 recomputed": affected}


def measure(cases: dict[str, Callable[[], object]]) -> Samples:
    """Return the seconds per call of each case, one value per interleaved round."""
    counts = {name: max(1, int(BATCH_SECONDS / (timeit.timeit(case, number=3) / 3))) for name, case in cases.items()}
    samples: Samples = {name: [] for name in cases}
    for _ in range(ROUNDS):
        for name, case in cases.items():
            samples[name].append(timeit.timeit(case, number=counts[name]) / counts[name])
    return samples


def report(samples: Samples) -> bool:
    """Print the tables; whether every target is met."""
    print(f"{'case':46} {'us, median':>10}")
    for name, seconds in samples.items():
        print(f"{name:46} {statistics.median(seconds) * 1e6:10.3f}")
    print(f"\n{'goal':46} {'target':>10} {'measured':>10}")
    met = True
    for target in TARGETS:
        pairs = zip(samples[target.subject], samples[target.against], strict=True)
        slower = statistics.median(subject / against for subject, against in pairs)
        ratio = 1 / slower if target.at_least else slower
        good = ratio >= target.at_least if target.at_least else not target.at_most or ratio <= target.at_most
        wanted = f">= {target.at_least:g}x" if target.at_least else f"<= {target.at_most:g}x" if target.at_most else "-"
        met &= good
        print(f"{target.name:46} {wanted:>10} {ratio:9.2f}x{'' if good else '  MISSED'}")
    return met


def main() -> int:
    """Measure and print."""
    print(f"CPython {sys.version.split()[0]}, {ROUNDS} interleaved rounds, {KEYS} keys a call in reading and writing\n")
    samples: Samples = {}
    for cases in (reading_and_writing(), watching(), computing()):
        samples.update(measure(cases))
    return 0 if report(samples) else 1


if __name__ == "__main__":
    sys.exit(main())
