"""Virtual time: what really takes time does not make it pass."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from gemini_live_runtime.clock import VirtualTimeLoop, run_virtual


def test_time_jumps_where_everything_waits() -> None:
    async def main() -> float:
        await asyncio.sleep(3600)
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 3600


def test_timers_fire_in_the_order_of_their_times() -> None:
    fired: list[float] = []

    async def after(seconds: float) -> None:
        await asyncio.sleep(seconds)
        fired.append(seconds)

    async def main() -> None:
        await asyncio.gather(*(after(seconds) for seconds in (5, 1, 3, 2, 4)))

    run_virtual(main())

    assert fired == [1, 2, 3, 4, 5]


def test_time_stands_still_while_a_thread_works() -> None:
    async def main() -> float:
        release = threading.Event()
        work = asyncio.get_running_loop().run_in_executor(None, release.wait)
        sleeper = asyncio.ensure_future(asyncio.sleep(60))
        await asyncio.sleep(0)
        threading.Timer(0.05, release.set).start()
        await work
        sleeper.cancel()
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 0


def test_closing_waits_for_a_busy_thread_and_no_virtual_time_passes(recwarn: pytest.WarningsRecorder) -> None:
    executor = ThreadPoolExecutor(max_workers=1)
    done = threading.Event()

    async def main() -> float:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        loop.set_default_executor(executor)
        release = threading.Event()
        executor.submit(lambda: (release.wait(), done.set()))
        threading.Timer(0.05, release.set).start()
        await loop.shutdown_default_executor(300)
        return loop.time()

    assert run_virtual(main()) == 0
    assert done.is_set()
    assert not recwarn.list
