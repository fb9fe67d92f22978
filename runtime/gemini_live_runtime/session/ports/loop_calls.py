"""Call an object's methods on its event loop, from any thread.

A class whose methods are decorated has an attribute `loop_calls`. On the loop's own thread a method runs at once; on
another it is handed to the loop and its caller waits for the result.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from gemini_live_runtime.errors import GeminiLiveError

P = ParamSpec("P")
R = TypeVar("R")

WAIT_S = 10.0
"""Seconds that a plain method waits for the loop, on another thread."""


class LoopCalls:
    """Access to an event loop from any thread; made on the loop's own."""

    __slots__ = ("_loop", "_thread")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = threading.get_ident()

    @property
    def is_own_thread(self) -> bool:
        """True on the thread of the event loop."""
        return threading.get_ident() == self._thread

    def call(self, function: Callable[[], R]) -> R:
        """Call `function` on the loop and return its result.

        Raises its error, or `GeminiLiveError` when the loop has ended or does not get to it within `WAIT_S`.
        """
        future: concurrent.futures.Future[R] = concurrent.futures.Future()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function())
                except BaseException as error:
                    future.set_exception(error)

        try:
            self._loop.call_soon_threadsafe(run)
        except RuntimeError:
            raise _ended() from None
        try:
            return future.result(WAIT_S)
        except concurrent.futures.TimeoutError:
            if future.cancel():
                raise GeminiLiveError(
                    f"The session did not answer within {WAIT_S:.0f} s",
                    remedy="Do not block the session's event loop while another thread uses its handle",
                ) from None
            raise

    async def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """Run `coroutine` on the loop and return its result, on another loop.

        Raises its error, or `GeminiLiveError` when the loop has ended.
        """
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:
            coroutine.close()
            raise _ended() from None
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            # Nobody cancelled the caller: the session's loop ended its tasks.
            raise _ended() from None


class OnLoop(Protocol):
    """Object whose methods run on an event loop."""

    @property
    def loop_calls(self) -> LoopCalls:
        """Access to its event loop."""
        ...


S = TypeVar("S", bound=OnLoop)


def on_loop(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let a plain method be called from any thread."""

    @functools.wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.loop_calls.is_own_thread:
            return method(self, *args, **kwargs)
        return self.loop_calls.call(lambda: method(self, *args, **kwargs))

    return call


def async_on_loop(
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Let an asynchronous method be awaited on any thread's loop."""

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.loop_calls.is_own_thread:
            return await method(self, *args, **kwargs)
        return await self.loop_calls.run(method(self, *args, **kwargs))

    return call


def _ended() -> GeminiLiveError:
    return GeminiLiveError("The session has ended", remedy="Start a new one")
