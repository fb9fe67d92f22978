"""Injected time.

Everything that waits or measures takes a `Clock`. The production clock is the running event loop's own time, so a
whole session runs on virtual time by running it on a `VirtualTimeLoop`: timers fire in order, at once, and only real
outside work (a child process, a thread) is waited for.
"""

from __future__ import annotations

import asyncio
import contextlib
import selectors
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Clock(Protocol):
    """A source of time."""

    def now(self) -> float:
        """Monotonic seconds; the zero point means nothing."""
        ...

    def wall(self) -> float:
        """Seconds since the Unix epoch, for people; never for measuring."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock."""
        ...


class LoopClock:
    """The running event loop's time: real, or virtual on a `VirtualTimeLoop`."""

    __slots__ = ()

    def now(self) -> float:
        """Monotonic seconds of the running loop."""
        return asyncio.get_running_loop().time()

    def wall(self) -> float:
        """Seconds since the Unix epoch, virtual on a virtual loop."""
        loop = asyncio.get_running_loop()
        return loop.wall() if isinstance(loop, VirtualTimeLoop) else time.time()

    async def sleep(self, seconds: float) -> None:
        """Sleep on the running loop."""
        await asyncio.sleep(max(0.0, seconds))


class _JumpingSelector(selectors.BaseSelector):
    """Polls real file descriptors; where the loop would have slept, time jumps instead."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._real = selectors.DefaultSelector()
        self._loop = loop

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._real.select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if timeout is None or self._loop.holds:
            # Nothing is scheduled, or real work is under way: only the outside world can wake this loop.
            return self._real.select(None if timeout is None else self._loop.hold_poll)
        self._loop.jump(timeout)
        return ready

    def close(self) -> None:
        self._real.close()

    def get_map(self) -> Any:
        return self._real.get_map()

    def get_key(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.get_key(fileobj)


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only when every task waits.

    `run_in_executor` holds time still until its future is done, so results of real work arrive at the virtual moment
    they were asked for. Other outside work is bracketed with `hold()`.
    """

    hold_poll = 0.05

    def __init__(self, start: float = 0.0, wall: float = 1_700_000_000.0) -> None:
        self._virtual_now = start
        self._wall = wall - start
        self.holds = 0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Virtual monotonic seconds."""
        return self._virtual_now

    def wall(self) -> float:
        """Virtual seconds since the Unix epoch."""
        return self._wall + self._virtual_now

    def jump(self, seconds: float) -> None:
        """Move time forward."""
        self._virtual_now += seconds

    @contextlib.contextmanager
    def hold(self, at_most: float | None = None) -> Iterator[None]:
        """Keep time still while real work outside the loop goes on, for `at_most` real seconds."""
        self.holds += 1
        held = True

        def release() -> None:
            nonlocal held
            if held:
                held = False
                self.holds -= 1

        timer = None
        if at_most is not None:
            timer = threading.Timer(at_most, self._soon, (release,))
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
            release()

    def _soon(self, function: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self.call_soon_threadsafe(function)

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Run `func` in a thread, holding virtual time until it is done."""
        future = super().run_in_executor(executor, func, *args)
        self.holds += 1

        def release(_: asyncio.Future[T]) -> None:
            self.holds -= 1

        future.add_done_callback(release)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait for the executor's threads, however long: virtual seconds would be over before a thread can end."""
        with self.hold():
            await super().shutdown_default_executor()


def hold_time(at_most: float | None = None) -> contextlib.AbstractContextManager[None]:
    """Hold virtual time on the running loop, for `at_most` real seconds; on a real loop there is nothing to hold."""
    loop = asyncio.get_running_loop()
    return loop.hold(at_most) if isinstance(loop, VirtualTimeLoop) else contextlib.nullcontext()


def run_virtual(main: Coroutine[Any, Any, T], *, wall: float = 1_700_000_000.0) -> T:
    """Run `main` to its end on a fresh virtual-time loop that begins at `wall` seconds since the Unix epoch."""
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(wall=wall)) as runner:
        return runner.run(main)
