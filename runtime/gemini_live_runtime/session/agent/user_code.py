"""Running an author's code: isolated, watched, and never for long in the conversation's way."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import Clock
from gemini_live_runtime.session.agent.code_faults import CodeFaults
from gemini_live_runtime.state.functions import function_name
from gemini_live_runtime.state.mutations import Origin, writing_as

SLOW_S = 0.1
"""Seconds that code may hold the control lane before it is named."""

DEADLINE_S = 5.0
"""Seconds after which the control lane no longer waits."""

MAX_CONCURRENT = 64
"""Actions under way at once; one more is not begun but reported."""


class UserCode:
    """Runs functions of the agent's author, plain or async, with as many of the arguments as they take."""

    def __init__(self, emit: Callable[[ev.Payload], None], clock: Clock, on_ended: Callable[[], None]) -> None:
        """`on_ended` is told when something that was spawned has ended."""
        self._emit = emit
        self._faults = CodeFaults(emit)
        self._on_ended = on_ended
        self._clock = clock
        self._running: set[asyncio.Task[Any]] = set()
        self._outstayed: set[asyncio.Task[Any]] = set()
        """What was waited for in vain, and does not end although it was cancelled."""

    async def run(
        self,
        where: str,
        function: Callable[..., Any],
        *args: Any,
        origin: Origin,
        defined_at: str = "",
        failed: Any = None,
    ) -> Any:
        """What it returns, or `failed` when it raised or took longer than `DEADLINE_S`; both become events.

        `defined_at` is the place that these name. Raises only when it is itself cancelled.
        """
        began = self._clock.now()
        name = function_name(function)
        with writing_as(origin):
            try:
                result = function(*args[: takes(function, len(args))])
            except (Exception, SystemExit, asyncio.CancelledError) as error:
                self.failed(where, name, error, defined_at=defined_at)
                return failed
            if inspect.isawaitable(result):
                if len(self._outstayed) >= MAX_CONCURRENT:
                    _dispose(result)
                    refused = f"not begun: {MAX_CONCURRENT} actions outstay their deadline"
                    self._faults.tell(where, name, refused, defined_at=defined_at)
                    return failed
                # A task of its own: what it does with a cancellation is its own affair then.
                task = asyncio.create_task(_settled(result), name=where)
                try:
                    await asyncio.wait((task,), timeout=DEADLINE_S)
                except asyncio.CancelledError:
                    task.cancel()
                    raise
                if not task.done():
                    self._outstayed.add(task)
                    task.add_done_callback(self._outstayed.discard)
                    task.cancel()
                    said = f"it took longer than {DEADLINE_S:g} s; the call goes on without it"
                    self._faults.tell(where, name, said, defined_at=defined_at)
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
        """Run without waiting."""
        if len(self._running) >= MAX_CONCURRENT:
            error = f"not begun: {MAX_CONCURRENT} actions are under way"
            self._faults.tell(where, function_name(function), error, defined_at=defined_at)
            return
        task = asyncio.create_task(self._unwatched(where, function, args, origin, defined_at), name=where)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        self._on_ended()

    async def _unwatched(
        self, where: str, function: Callable[..., Any], args: tuple[Any, ...], origin: Origin, defined_at: str
    ) -> None:
        try:
            with writing_as(origin):
                result = function(*args[: takes(function, len(args))])
                if inspect.isawaitable(result):
                    await result
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            self.failed(where, function_name(function), error, defined_at=defined_at)
        except (Exception, SystemExit) as error:
            self.failed(where, function_name(function), error, defined_at=defined_at)

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
        """Report a fault in the author's code, with its traceback the first time; it was the `times`-th."""
        text = said or f"{type(error).__name__}: {error}"
        self._faults.tell(where, name, text, defined_at=defined_at, times=times, cause=error)

    @property
    def active(self) -> int:
        """Actions under way."""
        return len(self._running)

    async def close(self) -> None:
        """Cancel what runs."""
        tasks = self._running | self._outstayed
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=1.0)


async def _settled(work: Awaitable[Any]) -> tuple[Any, BaseException | None]:
    """What came of `work`: a result or a fault, never an exception but its own cancellation."""
    try:
        return await work, None
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return None, error
    except (Exception, SystemExit) as error:
        return None, error


def _dispose(work: Awaitable[Any]) -> None:
    """Let go of what will not be awaited, without a warning about it."""
    close = getattr(work, "close", None) or getattr(work, "cancel", None)
    if close is not None:
        close()


def takes(function: Callable[..., Any], most: int) -> int:
    """How many positional arguments, up to `most`, `function` asks for; parameters with a default are left alone."""
    try:
        asked = _asked(function)
    except TypeError:  # an object that cannot be remembered by
        asked = _asked.__wrapped__(function)
    return min(most, asked)


@lru_cache(maxsize=512)
def _asked(function: Callable[..., Any]) -> int:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return sys.maxsize
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return sys.maxsize
    asked = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    return len(asked)
