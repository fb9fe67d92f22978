"""Frames are drawn on request, at a limited rate, and not while nothing happens."""

from __future__ import annotations

import asyncio

from gemini_live_runtime.clock import run_virtual
from gemini_live_tui.painting.frame_clock import FrameClock


def test_a_burst_of_requests_is_one_frame() -> None:
    async def main() -> list[float]:
        drawn: list[float] = []
        clock = FrameClock(20, lambda: drawn.append(asyncio.get_running_loop().time()))
        for _ in range(100):
            clock.request()
        await asyncio.sleep(1)
        return drawn

    assert run_virtual(main()) == [0.0]


def test_steady_requests_are_drawn_at_the_frame_rate() -> None:
    async def main() -> int:
        clock = FrameClock(20, lambda: None)
        for _ in range(1000):
            clock.request()
            await asyncio.sleep(0.001)
        return clock.frames

    assert 19 <= run_virtual(main()) <= 21


def test_an_idle_clock_has_no_timer() -> None:
    async def main() -> tuple[int, bool]:
        clock = FrameClock(20, lambda: None)
        clock.request()
        await asyncio.sleep(1)
        return clock.frames, clock.waiting

    assert run_virtual(main()) == (1, False)


def test_a_frame_can_ask_for_the_next_one() -> None:
    async def main() -> list[float]:
        drawn: list[float] = []

        def draw() -> float | None:
            drawn.append(asyncio.get_running_loop().time())
            return 1.0 if len(drawn) < 3 else None

        FrameClock(20, draw).request()
        await asyncio.sleep(10)
        return drawn

    assert run_virtual(main()) == [0.0, 1.0, 2.0]


def test_a_request_comes_before_a_later_frame_that_was_asked_for() -> None:
    async def main() -> list[float]:
        drawn: list[float] = []
        clock = FrameClock(20, lambda: drawn.append(asyncio.get_running_loop().time()))
        clock.request(5.0)
        await asyncio.sleep(1)
        clock.request()
        await asyncio.sleep(10)
        return drawn

    assert run_virtual(main()) == [1.0]


def test_a_stopped_clock_draws_no_more() -> None:
    async def main() -> int:
        clock = FrameClock(20, lambda: None)
        clock.request(1.0)
        clock.stop()
        clock.request()
        await asyncio.sleep(5)
        return clock.frames

    assert run_virtual(main()) == 0
