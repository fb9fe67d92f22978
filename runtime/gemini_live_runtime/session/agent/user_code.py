"""Run the functions of an agent's author: isolated, timed, with a deadline.

A function runs inline, so that its writes to the state come before the next step of the task queue. An async one runs
in a task of its own, because only then can the queue stop waiting for it at the deadline: a coroutine that is awaited
directly may catch the cancellation and keep the queue waiting. Such a task is left running, and counted, until it ends.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable
from types import FunctionType, MethodType
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from gemini_live_runtime import events as ev
from gemini_live_runtime.author_code import USER_ERRORS, error_text, is_awaitable, result_or_error
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.agent.faults import FaultReporter
from gemini_live_runtime.state.functions import function_name, parameters_of
from gemini_live_runtime.state.mutations import Origin, writing_as

SLOW_S = 0.1
"""Seconds that code may occupy the task queue before it is reported as slow."""

DEADLINE_S = 5.0
"""Seconds after which the task queue no longer waits."""

MAX_CONCURRENT = 64
"""Actions that run at once; a further one is not started but reported."""


class CodeRunner(Protocol):
    """Runner of author's functions: `UserCode` in a session, a recorder in a preview."""

    async def run(
        self, where: str, function: Callable[..., Any], *args: Any, origin: Origin, defined_at: str = ""
    ) -> Any:
        """Call `function` and return its result; None when it failed, which is reported."""
        ...

    def spawn(self, where: str, function: Callable[..., Any], *args: Any, origin: Origin, defined_at: str = "") -> None:
        """Call `function` without waiting for it."""
        ...

    def failed(
        self,
        where: str,
        name: str,
        error: BaseException | None,
        said: str = "",
        *,
        defined_at: str = "",
        times: int = 1,
    ) -> None:
        """Report a fault of the author's code: `error`, or `said` in words."""
        ...


class UserCode:
    """Runner of the author's functions, with as many arguments as they take."""

    def __init__(
        self,
        faults: FaultReporter,
        clock: Clock,
        *,
        emit: Callable[[ev.Payload], None],
        on_ended: Callable[[], None],
    ) -> None:
        """Create a runner; `on_ended` is called when a spawned action has ended."""
        self._emit = emit
        self._faults = faults
        self._on_ended = on_ended
        self._clock = clock
        self._running: set[asyncio.Task[Any]] = set()
        self._overdue: set[asyncio.Task[Any]] = set()
        """Tasks that still run after their deadline, although they were cancelled."""

    async def run(
        self,
        where: str,
        function: Callable[..., Any],
        *args: Any,
        origin: Origin,
        defined_at: str = "",
        failed: Any = None,
    ) -> Any:
        """Call `function` and return its result, or `failed` when it raises or times out.

        The deadline is `DEADLINE_S`. Both failures become events that name `defined_at`. Raises only when it is itself
        cancelled.
        """
        began = self._clock.now()
        name = function_name(function)
        with writing_as(origin):
            try:
                result = function(*args[: takes(function, len(args))])
            except USER_ERRORS as error:
                self.failed(where, name, error, defined_at=defined_at)
                return failed
            if is_awaitable(result):
                if len(self._overdue) >= MAX_CONCURRENT:
                    _dispose(result)
                    refused = f"not started: {MAX_CONCURRENT} actions still run after their deadline"
                    self._faults.code(where, name, refused, defined_at=defined_at)
                    return failed
                # In a task of its own it can ignore its cancellation without keeping this step waiting.
                task = asyncio.create_task(result_or_error(result), name=where)
                try:
                    await asyncio.wait((task,), timeout=DEADLINE_S)
                except asyncio.CancelledError:
                    task.cancel()
                    raise
                if not task.done():
                    self._overdue.add(task)
                    task.add_done_callback(self._overdue.discard)
                    task.cancel()
                    text = f"it took longer than {DEADLINE_S:g} s; the call goes on without it"
                    self._faults.code(where, name, text, defined_at=defined_at)
                    return failed
                result, fault = (None, asyncio.CancelledError()) if task.cancelled() else task.result()
                if fault is not None:
                    self.failed(where, name, fault, defined_at=defined_at)
                    return failed
        seconds = self._clock.now() - began
        if seconds > SLOW_S:
            self._emit(ev.CodeSlow(where=where, name=name, ms=round(seconds * 1000, 1), defined_at=defined_at))
        return result

    def spawn(self, where: str, function: Callable[..., Any], *args: Any, origin: Origin, defined_at: str = "") -> None:
        """Start `function` in a task of its own, without a deadline."""
        if len(self._running) >= MAX_CONCURRENT:
            error = f"not started: {MAX_CONCURRENT} actions are running"
            self._faults.code(where, function_name(function), error, defined_at=defined_at)
            return
        task = asyncio.create_task(self._run_spawned(where, function, args, origin, defined_at), name=where)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def call(self, where: str, function: Callable[..., Any], *args: Any, origin: Origin, defined_at: str = "") -> None:
        """Call `function` now, without waiting for what it returns to be awaited.

        An async one runs in a task of its own.
        """
        if inspect.iscoroutinefunction(function):
            self.spawn(where, function, *args, origin=origin, defined_at=defined_at)
            return
        with writing_as(origin):
            try:
                result = function(*args[: takes(function, len(args))])
            except USER_ERRORS as error:
                self.failed(where, function_name(function), error, defined_at=defined_at)
                return
        if is_awaitable(result):

            async def wait() -> None:
                await result

            wait.__qualname__ = function_name(function)
            self.spawn(where, wait, origin=origin, defined_at=defined_at)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        self._on_ended()

    async def _run_spawned(
        self, where: str, function: Callable[..., Any], args: tuple[Any, ...], origin: Origin, defined_at: str
    ) -> None:
        async def call() -> None:
            result = function(*args[: takes(function, len(args))])
            if is_awaitable(result):
                await result

        with writing_as(origin):
            _, fault = await result_or_error(call())
        if fault is not None:
            self.failed(where, function_name(function), fault, defined_at=defined_at)

    def failed(
        self,
        where: str,
        name: str,
        error: BaseException | None,
        said: str = "",
        *,
        defined_at: str = "",
        times: int = 1,
    ) -> None:
        """Report the `times`-th fault of the author's code; the first has a traceback."""
        text = said or error_text(error)
        self._faults.code(where, name, text, defined_at=defined_at, times=times, cause=error)

    @property
    def active(self) -> int:
        """Number of spawned actions that run."""
        return len(self._running)

    async def close(self) -> None:
        """Cancel all running tasks and wait for them, at most 1 s."""
        # A task that ignores its cancellation must not keep the session from ending.
        tasks = self._running | self._overdue
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)


def _dispose(work: Awaitable[Any]) -> None:
    """Close an awaitable that will not be awaited, so that Python does not warn."""
    close = getattr(work, "close", None) or getattr(work, "cancel", None)
    if close is not None:
        close()


def takes(function: Callable[..., Any], most: int) -> int:
    """Return the number of positional arguments without default, at most `most`."""
    is_bound = isinstance(function, MethodType)
    plain = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(plain, FunctionType):
        return min(most, _required(function))
    required = _REQUIRED.get(plain)
    if required is None:
        required = _REQUIRED[plain] = _required(plain)
    return min(most, max(0, required - is_bound))


_REQUIRED: WeakKeyDictionary[FunctionType, int] = WeakKeyDictionary()
"""Arguments of functions that were asked for; weak, since a closure or a method may hold a whole session."""


def _required(function: Callable[..., Any]) -> int:
    takes = parameters_of(function)
    if takes is None:
        return sys.maxsize
    parameters = takes.parameters.values()
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return sys.maxsize
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters)
