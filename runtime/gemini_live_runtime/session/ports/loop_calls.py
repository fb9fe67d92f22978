"""Call an object's methods on its event loop, from any thread.

A class whose methods are decorated has an attribute `loop_calls`. On the loop's own thread a method runs at once; on
another it is handed to the loop and its caller waits for the result.

Arguments of plain types are checked before, by the method's annotations: a wrong one would fail later, in code of ours.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import inspect
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.ports.messages import CALL_IT

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


class Wakeup:
    """Event that any thread sets, for one waiting task on any loop."""

    __slots__ = ("_event", "_loop")

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._event = asyncio.Event()

    def set(self) -> None:
        """Wake the task that waits, if there is one."""
        loop, event = self._loop, self._event
        if loop is None:
            return
        if loop is asyncio._get_running_loop():
            event.set()
        else:
            with contextlib.suppress(RuntimeError):  # that loop is closed
                loop.call_soon_threadsafe(event.set)

    async def wait_unless(self, is_due: Callable[[], bool]) -> None:
        """Wait until it is set, unless `is_due` is true already."""
        loop = asyncio.get_running_loop()
        if loop is self._loop:
            self._event.clear()
        else:
            self._event, self._loop = asyncio.Event(), loop
        # What was due before this line may have woken another loop.
        if not is_due():
            await self._event.wait()


class OnLoop(Protocol):
    """Object whose methods run on an event loop."""

    @property
    def loop_calls(self) -> LoopCalls:
        """Access to its event loop."""
        ...


S = TypeVar("S", bound=OnLoop)

_PLAIN: dict[str, tuple[tuple[type, ...], str, str]] = {
    "str": ((str,), "text", "Give a string"),
    "bool": ((bool,), "True or False", "Use True or False"),
    "bytes": ((bytes, bytearray, memoryview), "bytes", "Give bytes"),
}
"""By annotation: the types of an argument, what to call them, and the remedy for another."""


def _argument_check(method: Callable[..., object]) -> Callable[..., None]:
    """Return a function that raises `AgentError` for arguments of a wrong type.

    It takes what `method` takes, and knows the annotations of `_PLAIN`, also with `| None`. Others are the method's to
    check.
    """
    signature = inspect.signature(method)
    plain = {
        name: (_PLAIN[annotation.removesuffix(" | None")], annotation.endswith(" | None"))
        for name, parameter in signature.parameters.items()
        if (annotation := str(parameter.annotation)).removesuffix(" | None") in _PLAIN
        and parameter.kind is not parameter.VAR_POSITIONAL
    }

    def check(*args: Any, **kwargs: Any) -> None:
        if not plain:
            return
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            (types, words, remedy), is_optional = plain.get(name, _ANY)
            # By its type: a mock says to be of another class.
            if not issubclass(type(value), types) and not (is_optional and value is None):
                raise AgentError(
                    f"The {name} of {method.__name__} is {words}, not {type(value).__name__}: {value!r:.100}",
                    remedy=CALL_IT if callable(value) and words == "text" else remedy,
                    field=name,
                    value=value,
                )

    return check


_ANY = (((object,), "", ""), True)


def on_loop(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """Let a plain method be called from any thread."""

    check = _argument_check(method)

    @functools.wraps(method)
    def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        check(self, *args, **kwargs)
        if self.loop_calls.is_own_thread:
            return method(self, *args, **kwargs)
        return self.loop_calls.call(lambda: method(self, *args, **kwargs))

    return call


def async_on_loop(
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, R]]:
    """Let an asynchronous method be awaited on any thread's loop."""

    check = _argument_check(method)

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        check(self, *args, **kwargs)
        if self.loop_calls.is_own_thread:
            return await method(self, *args, **kwargs)
        return await self.loop_calls.run(method(self, *args, **kwargs))

    return call


def _ended() -> GeminiLiveError:
    return GeminiLiveError("The session has ended", remedy="Start a new one")
