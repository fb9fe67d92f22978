"""The loop gets the newest progress of a call, not each step of it."""

from __future__ import annotations

import asyncio

from gemini_live_runtime.tools.progress import MAX_TEXT, NewestProgress, Progress

Taken = list[Progress]


async def test_what_a_thread_tells_faster_than_the_loop_takes_it_is_taken_once() -> None:
    taken: Taken = []
    progress = NewestProgress(taken.append)
    for step in range(100_000):
        progress.tell(Progress(step / 100_000, f"step {step}"))
    assert taken == []
    await asyncio.sleep(0)
    assert taken == [Progress(0.99999, "step 99999")]


async def test_fraction_and_sentence_that_come_apart_are_taken_together() -> None:
    taken: Taken = []
    progress = NewestProgress(taken.append)
    progress.tell(Progress(0.5, ""))
    progress.tell(Progress(None, "half"))
    await asyncio.sleep(0)
    assert taken == [Progress(0.5, "half")]


async def test_each_one_is_taken_that_comes_after_the_last_was() -> None:
    taken: Taken = []
    progress = NewestProgress(taken.append)
    for text in ("one", "two"):
        progress.tell(Progress(None, text))
        await asyncio.sleep(0)
    assert taken == [Progress(None, "one"), Progress(None, "two")]


async def test_of_a_sentence_without_end_the_beginning_is_taken() -> None:
    taken: Taken = []
    NewestProgress(taken.append).tell(Progress(None, "x" * 1_000_000))
    await asyncio.sleep(0)
    assert taken == [Progress(None, "x" * MAX_TEXT)]


async def test_threads_lose_nothing_of_their_last_word() -> None:
    taken: Taken = []
    progress = NewestProgress(taken.append)
    await asyncio.gather(*(asyncio.to_thread(tell_steps, progress) for _ in range(4)))
    await asyncio.sleep(0)
    assert taken[-1] == Progress(None, "last")


def tell_steps(progress: NewestProgress) -> None:
    for step in range(1_000):
        progress.tell(Progress(None, f"step {step}"))
    progress.tell(Progress(None, "last"))
