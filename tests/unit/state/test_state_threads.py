"""State written from many threads at once."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator

import pytest

from gemini_live_runtime.state.mutations import Mutation
from gemini_live_runtime.state.store import State


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*jobs: Callable[[], None]) -> None:
    """Run all jobs at once, each in its own thread, and raise the first error."""
    barrier = threading.Barrier(len(jobs))
    errors: list[BaseException] = []

    def run(job: Callable[[], None]) -> None:
        barrier.wait()
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_a_hundred_concurrent_increments_count_a_hundred() -> None:
    state = State()
    together(*[lambda: state.modify("app:n", 0, lambda old: old + 1)] * 100)
    assert state["app:n"] == 100


def test_mutations_of_many_threads_are_dense_and_lose_nothing() -> None:
    state = State()
    announced = threading.Semaphore(0)
    state.on_mutations(announced.release)
    taken: list[Mutation] = []
    done = threading.Event()

    def write(name: str) -> None:
        for number in range(300):
            state.set(f"app:{name}", number)

    def read() -> None:
        while not done.is_set():
            if announced.acquire(timeout=0.05):
                taken.extend(state.take_mutations())

    reader = threading.Thread(target=read)
    reader.start()
    together(*[lambda name=f"k{n}": write(name) for n in range(8)])
    done.set()
    reader.join()
    taken += state.take_mutations()
    assert [mutation.sequence for mutation in taken] == list(range(1, 2401))


def test_a_tracker_read_while_others_write_misses_no_change() -> None:
    state = State()
    changes = state.track()
    seen: dict[str, int] = {}

    def write(name: str) -> None:
        for number in range(1, 301):
            state.set(f"app:{name}{number % 50}", number)

    def read() -> None:
        for _ in range(500):
            for key, (old, new) in changes.take().items():
                assert seen.get(key) == (old or None)
                seen[key] = new

    together(read, *[lambda name=name: write(name) for name in "abcd"])
    seen.update({key: new for key, (_, new) in changes.take().items()})
    assert seen == state.snapshot()


def test_listing_keys_while_others_write_is_safe() -> None:
    state = State()

    def write(name: str) -> None:
        for number in range(300):
            state.set(f"app:{name}{number}", number)
            if number % 3:
                state.remove(f"app:{name}{number - 1}")

    def read() -> None:
        for _ in range(200):
            state.keys()
            state.snapshot()
            state.fork().keys()

    together(read, *[lambda name=name: write(name) for name in "abcd"])
    assert state.keys() == sorted(state.snapshot())
