"""The loop gets the newest progress of a call, not each step of it."""

from __future__ import annotations

import asyncio

from gemini_live_runtime.tools.progress import MAX_TEXT, NewestProgress

Taken = list[tuple[float | None, str]]


async def test_what_a_thread_tells_faster_than_the_loop_takes_it_is_taken_once() -> None:
    taken: Taken = []
    progress = NewestProgress(lambda fraction, text: taken.append((fraction, text)))
    for step in range(100_000):
        progress.tell(step / 100_000, f"step {step}")
    assert taken == []
    await asyncio.sleep(0)
    assert taken == [(0.99999, "step 99999")]


async def test_fraction_and_sentence_that_come_apart_are_taken_together() -> None:
    taken: Taken = []
    progress = NewestProgress(lambda fraction, text: taken.append((fraction, text)))
    progress.tell(0.5, "")
    progress.tell(None, "half")
    await asyncio.sleep(0)
    assert taken == [(0.5, "half")]


async def test_each_one_is_taken_that_comes_after_the_last_was() -> None:
    taken: Taken = []
    progress = NewestProgress(lambda fraction, text: taken.append((fraction, text)))
    for text in ("one", "two"):
        progress.tell(None, text)
        await asyncio.sleep(0)
    assert taken == [(None, "one"), (None, "two")]


async def test_of_a_sentence_without_end_the_beginning_is_taken() -> None:
    taken: Taken = []
    NewestProgress(lambda fraction, text: taken.append((fraction, text))).tell(None, "x" * 1_000_000)
    await asyncio.sleep(0)
    assert taken == [(None, "x" * MAX_TEXT)]


async def test_threads_lose_nothing_of_their_last_word() -> None:
    taken: Taken = []
    progress = NewestProgress(lambda fraction, text: taken.append((fraction, text)))
    await asyncio.gather(*(asyncio.to_thread(tell_steps, progress) for _ in range(4)))
    await asyncio.sleep(0)
    assert taken[-1] == (None, "last")


def tell_steps(progress: NewestProgress) -> None:
    for step in range(1_000):
        progress.tell(None, f"step {step}")
    progress.tell(None, "last")
