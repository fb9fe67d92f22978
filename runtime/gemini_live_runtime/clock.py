"""Tell the time of the event loop, real or virtual.

Code that waits or measures takes a `Clock`. The production clock reads the running event loop, so a whole session runs
on virtual time when it runs on a `VirtualTimeLoop`: where the loop would sleep until the next timer, its time jumps
there instead. Work outside the loop (a thread, a child process) takes real time. Without a hold the loop could jump
past a timeout before that work is done; `hold` and `run_in_executor` keep virtual time still meanwhile.
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
    """Source of time."""

    def now(self) -> float:
        """Return monotonic seconds; only differences have a meaning."""
        ...

    def wall(self) -> float:
        """Return seconds since the Unix epoch, for display; never for measuring."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Sleep for `seconds` of this clock."""
        ...


class LoopClock:
    """Time of the running event loop: real, or virtual on a `VirtualTimeLoop`."""

    __slots__ = ()

    def now(self) -> float:
        """Return monotonic seconds of the running loop."""
        return asyncio.get_running_loop().time()

    def wall(self) -> float:
        """Return seconds since the Unix epoch, virtual on a virtual loop."""
        loop = asyncio.get_running_loop()
        return loop.wall() if isinstance(loop, VirtualTimeLoop) else time.time()

    async def sleep(self, seconds: float) -> None:
        """Sleep on the running loop."""
        await asyncio.sleep(max(0.0, seconds))


BUSY_PASSES = 8
"""Passes of a loop with callbacks to run between two looks at file descriptors, each of which is a system call."""


class _JumpingSelector(selectors.BaseSelector):
    """Selector that jumps in time where the loop would sleep for a timer."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        self._real = selectors.DefaultSelector()
        self._loop = loop
        self._passes = 0

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def modify(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.modify(fileobj, events, data)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        is_busy = timeout is not None and timeout <= 0
        self._passes = self._passes + 1 if is_busy else 0
        if self._passes % BUSY_PASSES:
            return []
        ready = self._real.select(0)
        if ready or is_busy:
            return ready
        if timeout is None or self._loop.holds:
            # Without a timer, or while real work runs outside the loop, only a file descriptor can wake it. A timer
            # is looked at again every `hold_poll` seconds, because the hold may have ended.
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
    """Event loop whose time passes only when every task waits.

    `run_in_executor` holds time still until its future is done, so the result of real work arrives at the virtual
    moment of the call. Put other work outside the loop inside `hold()`.
    """

    hold_poll = 0.05
    """Real seconds between two looks at the timers while a hold lasts."""

    def __init__(self, start: float = 0.0, wall: float = 1_700_000_000.0) -> None:
        self._virtual_now = start
        self._wall = wall - start
        self.holds = 0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Return virtual monotonic seconds."""
        return self._virtual_now

    def wall(self) -> float:
        """Return virtual seconds since the Unix epoch."""
        return self._wall + self._virtual_now

    def jump(self, seconds: float) -> None:
        """Move virtual time forward."""
        self._virtual_now += seconds

    @contextlib.contextmanager
    def hold(self, at_most: float | None = None) -> Iterator[None]:
        """Hold virtual time while real work outside the loop runs.

        The hold ends after `at_most` real seconds even when the work does not; None is no limit.
        """
        self.holds += 1
        held = True

        def release() -> None:
            nonlocal held
            if held:
                held = False
                self.holds -= 1

        timer = None
        if at_most is not None:
            timer = threading.Timer(at_most, self._call_from_thread, (release,))
            timer.daemon = True
            timer.start()
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
            release()

    def _call_from_thread(self, function: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
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
        """Wait for the executor's threads to end.

        `timeout` is ignored: it counts virtual seconds, which would jump past it before any thread can end.
        """
        with self.hold():
            await super().shutdown_default_executor()


def hold_time(at_most: float | None = None) -> contextlib.AbstractContextManager[None]:
    """Hold virtual time on the running loop for `at_most` real seconds.

    No-op on a loop with real time.
    """
    loop = asyncio.get_running_loop()
    return loop.hold(at_most) if isinstance(loop, VirtualTimeLoop) else contextlib.nullcontext()


def run_virtual(main: Coroutine[Any, Any, T], *, wall: float = 1_700_000_000.0) -> T:
    """Run `main` to its end on a new `VirtualTimeLoop`, and return its result.

    `wall` is the virtual wall time at the start, in seconds since the Unix epoch.
    """
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(wall=wall)) as runner:
        return runner.run(main)
