"""Steps run in order, survive each other's faults, and leave the loop to others."""

from __future__ import annotations

import asyncio

import pytest

from gemini_live_runtime.clock import LoopClock
from gemini_live_runtime.session.agent.task_queue import CANCELLING_S, TaskQueue


class Harness:
    def __init__(self, *, begun: bool = True) -> None:
        self.failed: list[tuple[str, str]] = []
        self.idled = self.fails_idling = 0
        self.done: list[str] = []
        self.queue = TaskQueue(lambda step, error: self.failed.append((step, type(error).__name__)), self._idle)
        if begun:
            self.queue.begin()

    def _idle(self) -> None:
        self.idled += 1
        if self.fails_idling:
            self.fails_idling -= 1
            raise ValueError

    def put(self, name: str, seconds: float = 0.0) -> bool:
        async def step() -> None:
            await asyncio.sleep(seconds)
            self.done.append(name)

        return self.queue.put(name, step)


async def test_steps_are_done_in_order_one_at_a_time() -> None:
    harness = Harness()
    for name, seconds in (("a", 3), ("b", 1), ("c", 0)):
        harness.put(name, seconds)
    assert harness.queue.depth == 3
    assert not harness.queue.idle
    await harness.queue.drained()
    assert harness.done == ["a", "b", "c"]
    assert harness.idled == 1
    assert harness.queue.idle


@pytest.mark.parametrize("fault", [ValueError, SystemExit, asyncio.CancelledError])
async def test_a_step_that_raises_is_reported_and_the_next_one_runs(fault: type[BaseException]) -> None:
    harness = Harness()

    async def bad() -> None:
        raise fault

    harness.queue.put("bad", bad)
    harness.put("good")
    await asyncio.wait_for(harness.queue.drained(), 1)
    assert harness.failed == [("bad", fault.__name__)]
    assert harness.done == ["good"]


async def test_nothing_runs_before_the_beginning() -> None:
    harness = Harness(begun=False)
    harness.put("a")
    await asyncio.sleep(1)
    assert harness.done == []
    harness.queue.begin()
    await harness.queue.drained()
    assert harness.done == ["a"]


async def test_steps_that_add_steps_for_ever_leave_the_loop_to_others() -> None:
    harness = Harness()
    count = 0

    async def again() -> None:
        nonlocal count
        count += 1
        if count < 100_000:
            harness.queue.put("again", again)

    harness.queue.put("again", again)
    for _ in range(10):
        await asyncio.sleep(0)
    assert 0 < count < 1000
    await harness.queue.close(0)


async def test_closing_lets_what_waits_finish_in_its_time_and_takes_no_more() -> None:
    harness = Harness()
    harness.put("a", 0.5)
    assert await harness.queue.close(1)
    assert harness.done == ["a"]
    assert not harness.put("b")
    slow = Harness()
    slow.put("a", 50)
    slow.put("b")
    assert not await slow.queue.close(1)
    assert slow.done == []
    never = Harness(begun=False)
    never.put("a")
    assert not await never.queue.close(1)
    assert await Harness(begun=False).queue.close(1)


async def test_a_step_that_refuses_to_be_cancelled_is_left_behind() -> None:
    harness, over = Harness(), asyncio.Event()

    async def stubborn() -> None:
        while not over.is_set():
            try:
                await over.wait()
            except asyncio.CancelledError:
                continue

    harness.queue.put("stubborn", stubborn)
    began = LoopClock().now()
    assert not await harness.queue.close(1)
    assert LoopClock().now() - began == pytest.approx(1 + CANCELLING_S)
    over.set()


async def test_a_queue_that_fails_itself_goes_on_with_the_next_step() -> None:
    harness = Harness()
    harness.fails_idling = 1
    harness.put("a")
    await harness.queue.drained()
    harness.put("b")
    await harness.queue.drained()
    assert harness.done == ["a", "b"]
    assert harness.failed == [("of the queue itself", "ValueError")]


async def test_a_queue_that_keeps_failing_waits_for_the_next_step() -> None:
    harness = Harness()
    harness.fails_idling = 6
    harness.put("a")
    await asyncio.sleep(1)
    assert len(harness.failed) == 6
    harness.put("b")
    await harness.queue.drained()
    assert harness.done == ["a", "b"]
