"""Call the listeners of callbacks: isolated, timed, with a deadline.

Fast callbacks are called inline where a message or a piece of audio arrives, up to 50 times a second: listeners are
plain functions, nothing is awaited, and repeated faults are reported at powers of two. Control callbacks are called in
a step of the task queue. Their blocking listeners are awaited in order, up to a deadline, in a task of their own: the
queue can then go on although a listener catches its cancellation. Concurrent ones run in a task that nothing awaits.
Every task ends in a result or a report, never in an exception, and is kept in `_running` until it has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import CoroutineType
from typing import Any, NamedTuple, Protocol, TypeVar

from gemini_live_runtime.author_code import (
    USER_ERRORS,
    error_text,
    is_awaitable,
    is_text,
    plain_text,
    result_or_error,
    traceback_of,
)
from gemini_live_runtime.clock import Clock, LoopClock, VirtualTimeLoop
from gemini_live_runtime.records import record
from gemini_live_runtime.session.definition.callbacks import (
    CALLBACKS,
    DECIDING,
    CallbackMode,
    EventCallbacks,
    Listener,
)
from gemini_live_runtime.state.mutations import await_decision

R = TypeVar("R")

FAST_S = 0.001
"""Seconds that a listener of a fast callback may take before it is reported as slow."""

CONTROL_S = 0.1
"""Seconds that a listener of a control callback may take before it is reported as slow."""

DEADLINE_S = 5.0
"""Seconds after which the task queue no longer waits for a listener."""

MAX_RUNNING = 64
"""Concurrent listeners that run at once; a further one is not called but reported."""

ENDING_S = 2.0
"""Seconds that closing waits for cancelled listeners."""


@record
class CallbackFault:
    """Fault of a listener: it raised, returned an invalid answer or took too long.

    `times` counts its faults so far. For fast callbacks only the 1st, 2nd, 4th, 8th, ... are reported.
    """

    callback: str
    listener: str
    error: str
    trace: str = ""
    defined_at: str = ""
    times: int = 1


@record
class SlowCallback:
    """Slow call of a listener that took `ms`; `times` counts as in `CallbackFault`."""

    callback: str
    listener: str
    ms: float
    defined_at: str = ""
    times: int = 1


Report = Callable[[CallbackFault | SlowCallback], None]


class InlineListener(NamedTuple):
    """Listener of a fast callback, for a caller that calls it directly."""

    function: Callable[..., Any]
    timed: Callable[..., bool]
    """Call the function, isolated and timed; return True when it was slow, which is reported."""
    failed: Callable[[BaseException], None]
    """Report an exception of the function."""


class HasId(Protocol):
    """Tool call with an id."""

    @property
    def id(self) -> str | None:
        """Id of the call, by which it is answered."""
        ...


class CallbackRunner:
    """Runner of one session's listeners, to be created on the session's loop."""

    def __init__(
        self,
        callbacks: EventCallbacks,
        *,
        clock: Clock,
        report: Report,
        deadline_s: float = DEADLINE_S,
        around: Callable[[str, str], AbstractContextManager[object]] | None = None,
    ) -> None:
        """Create a runner of `callbacks`.

        `around(callback, listener)` is entered for every call, to name the writer of the state; not for those of
        `inline_listeners`.
        """
        self._now = _stopwatch(clock)
        self._report = report
        self._deadline_s = deadline_s
        self._around = around or (lambda callback, listener: contextlib.nullcontext())
        self._running: dict[asyncio.Task[Any], tuple[str, Listener]] = {}
        self._times: Counter[tuple[Listener, type]] = Counter()
        self.replace(callbacks)

    def replace(self, callbacks: EventCallbacks) -> None:
        """Call these listeners from now on.

        Callers that have taken `inline_listeners` keep the old ones.
        """
        self._listeners = {name: callbacks.of(name) for name in CALLBACKS}
        self._fast = {
            name: self._inline(name, callbacks.of(name))
            for name, spec in CALLBACKS.items()
            if spec.lane == "fast" and callbacks.of(name)
        }

    def listeners(self, callback: str) -> tuple[Callable[..., Any], ...] | None:
        """Return the functions that listen to `callback`, or None without any."""
        return tuple(listener.function for listener in self._listeners[callback]) or None

    def listening(self, callback: str) -> tuple[Listener, ...]:
        """Return the listeners of `callback`, in order."""
        return self._listeners[callback]

    @property
    def running(self) -> int:
        """Number of listeners that run: concurrent ones, and those past their deadline."""
        return len(self._running)

    # -- fast callbacks ----------------------------------------------------------------------------------------------

    def inline_listeners(self, callback: str) -> tuple[InlineListener, ...]:
        """Return the listeners of a fast callback, for paths too hot for `fast`."""

        def inline(listener: Listener) -> InlineListener:
            def failed(error: BaseException) -> None:
                self._fault(callback, listener, *_described(error))

            return InlineListener(listener.function, self._inline_one(callback, listener), failed)

        return tuple(map(inline, self._listeners[callback]))

    def fast(self, callback: str, *args: Any) -> None:
        """Call the listeners of a fast callback; report exceptions instead."""
        call = self._fast.get(callback)
        if call is not None:
            call(*args)

    def _inline(self, callback: str, listeners: tuple[Listener, ...]) -> Callable[..., object]:
        calls = tuple(self._named(callback, listener) for listener in listeners)
        if len(calls) == 1:
            return calls[0]

        def call(*args: Any) -> None:
            for one in calls:
                one(*args)

        return call

    def _named(self, callback: str, listener: Listener) -> Callable[..., object]:
        call = self._inline_one(callback, listener)

        def named(*args: Any) -> None:
            with self._around(callback, listener.name):
                call(*args)

        return named

    def _inline_one(self, callback: str, listener: Listener) -> Callable[..., bool]:
        """Return a function that calls the listener and returns True when it was slow."""
        now, function = self._now, listener.function

        def call(*args: Any) -> bool:
            began = now()
            try:
                result = function(*args)
                if result is not None:
                    refuse_coroutine(result)
            except USER_ERRORS as error:
                self._fault(callback, listener, *_described(error))
            took = now() - began
            if took > FAST_S:
                self._slow(callback, listener, took)
            return took > FAST_S

        return call

    # -- control callbacks -------------------------------------------------------------------------------------------

    async def control(self, callback: str, *args: Any) -> list[Any]:
        """Call the listeners of a control callback in order.

        Returns the answers of the blocking ones, without None. Raises only when it is itself cancelled.
        """
        answers = []
        for listener in self._listeners[callback]:
            if listener.mode is CallbackMode.CONCURRENT:
                self._start(callback, listener, args)
                continue
            answer = await self._blocking(callback, listener, args)
            if answer is not None:
                answers.append(answer)
        return answers

    def start(self, callback: str, *args: Any) -> None:
        """Call the listeners of a control callback at once, each in a task of its own."""
        for listener in self._listeners[callback]:
            self._start(callback, listener, args)

    async def tool_overrides(self, calls: Sequence[HasId], state: Any) -> dict[str, Any]:
        """Return the results of `on_tool_call` listeners by call id.

        Calls without a result run normally. The first listener that returns a result for a call wins; results for
        unknown calls are reported.
        """
        known = {call.id for call in calls}
        overrides: dict[str, Any] = {}
        for listener in self._listeners["on_tool_call"]:
            answer = await self._blocking("on_tool_call", listener, (tuple(calls), state))
            if answer is None:
                continue
            if not isinstance(answer, Mapping):
                self._invalid("on_tool_call", listener, f"returned {type(answer).__name__}, not a dict by call id")
                continue
            for call_id, result in answer.items():
                if call_id not in known:
                    self._invalid("on_tool_call", listener, f"answered {call_id!r}, which is not one of the calls")
                elif call_id in overrides:
                    self._invalid("on_tool_call", listener, f"answered {call_id!r}, which had a result already")
                elif result is not None:
                    overrides[call_id] = result
        return overrides

    async def tool_responses(self, responses: Sequence[R], state: Any) -> list[R]:
        """Return `responses` as changed by the `before_tool_response` listeners.

        Each listener gets the answer of the one before it; one that returns None or fails changes nothing.
        """
        current = list(responses)
        for listener in self._listeners["before_tool_response"]:
            answer = await self._blocking("before_tool_response", listener, (list(current), state))
            if isinstance(answer, list | tuple):
                current = list(answer)
            elif answer is not None:
                self._invalid("before_tool_response", listener, f"returned {type(answer).__name__}, not a list")
        return current

    async def instruction_template(self, state: Any) -> str | None:
        """Return the instruction of the first listener that has one, or None.

        The listeners after it are not called.
        """
        for listener in self._listeners["instruction_template"]:
            text = await self._text("instruction_template", listener, state)
            if text is not None:
                return text
        return None

    async def instruction_amendment(self, state: Any) -> str | None:
        """Return the amendments of all listeners joined by blank lines, or None."""
        listeners = self._listeners["instruction_amendment"]
        if not listeners:
            return None
        texts = [await self._text("instruction_amendment", each, state) for each in listeners]
        return "\n\n".join(text for text in texts if text) or None

    async def close(self, grace_s: float = 0.0) -> None:
        """Wait up to `grace_s` seconds for running listeners, then cancel them.

        Reports those that still run `ENDING_S` seconds later.
        """
        # A task that is cancelled before its first step would never await its listener.
        await asyncio.sleep(0)
        tasks = self._running.keys() - {asyncio.current_task()}
        if tasks and grace_s > 0:
            await asyncio.wait(tasks, timeout=grace_s)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=ENDING_S)
        for task in tasks & self._running.keys():
            self._fault(*self._running[task], "did not end when it was cancelled", "")

    async def _text(self, callback: str, listener: Listener, state: Any) -> str | None:
        text = await self._blocking(callback, listener, (state,))
        if text is None or is_text(text):
            return text if text is None else plain_text(text)
        self._invalid(callback, listener, f"returned {type(text).__name__}, not text")
        return None

    async def _blocking(self, callback: str, listener: Listener, args: tuple[Any, ...]) -> Any:
        began = self._now()
        with self._around(callback, listener.name):
            try:
                result = listener.function(*args)
            except USER_ERRORS as error:
                self._fault(callback, listener, *_described(error))
                result = None
            if not is_awaitable(result):
                self._timed(callback, listener, began)
                return result
            work = await_decision(result) if callback in DECIDING else result
            task = self._task(callback, listener, work)
        try:
            await asyncio.wait((task,), timeout=self._deadline_s)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if not task.done():
            where = _waits_at(result)
            task.cancel()
            self._fault(callback, listener, f"took longer than {self._deadline_s:g} s and was cancelled", where)
            return None
        self._timed(callback, listener, began)
        return None if task.cancelled() else task.result()

    def _start(self, callback: str, listener: Listener, args: tuple[Any, ...]) -> None:
        if len(self._running) >= MAX_RUNNING:
            self._fault(callback, listener, f"not called: {MAX_RUNNING} listeners are running", "")
            return

        async def call() -> Any:
            began = self._now()
            result = listener.function(*args)
            # Only the synchronous part is timed: it blocks the loop, while nothing waits for the rest.
            self._timed(callback, listener, began)
            return await result if is_awaitable(result) else result

        with self._around(callback, listener.name):
            self._task(callback, listener, call())

    def _task(self, callback: str, listener: Listener, work: Awaitable[Any]) -> asyncio.Task[Any]:
        """Run `work` in a task that ends in a result or a report, never in an exception."""

        async def reported() -> Any:
            result, fault = await result_or_error(work)
            if fault is not None:
                self._fault(callback, listener, *_described(fault))
            return result

        task = asyncio.create_task(reported(), name=f"{callback} {listener.name}")
        self._running[task] = (callback, listener)
        task.add_done_callback(self._running.pop)
        return task

    # -- reports -----------------------------------------------------------------------------------------------------

    def _timed(self, callback: str, listener: Listener, began: float) -> None:
        took = self._now() - began
        if took > CONTROL_S:
            self._slow(callback, listener, took)

    def _invalid(self, callback: str, listener: Listener, problem: str) -> None:
        self._fault(callback, listener, problem, "")

    def _fault(self, callback: str, listener: Listener, error: str, trace: str) -> None:
        times = self._count(callback, listener, CallbackFault)
        if times:
            self._report(CallbackFault(callback, listener.name, error, trace, listener.defined_at, times))

    def _slow(self, callback: str, listener: Listener, seconds: float) -> None:
        times = self._count(callback, listener, SlowCallback)
        if times:
            self._report(SlowCallback(callback, listener.name, round(seconds * 1000, 1), listener.defined_at, times))

    def _count(self, callback: str, listener: Listener, kind: type) -> int:
        """Count a fault and return its number, or 0 when it is not to be reported."""
        self._times[listener, kind] += 1
        times = self._times[listener, kind]
        is_reported = CALLBACKS[callback].lane == "control" or times & (times - 1) == 0
        return times if is_reported else 0


def _stopwatch(clock: Clock) -> Callable[[], float]:
    """Return the fastest function that measures intervals of `clock`, in seconds.

    Fast listeners are timed at every call, so the timing must cost little. Only differences of its values count.
    """
    real = isinstance(clock, LoopClock) and not isinstance(asyncio.get_running_loop(), VirtualTimeLoop)
    return time.perf_counter if real else clock.now


def refuse_coroutine(result: object) -> None:
    """Raise `TypeError` for the coroutine of an async function that was called inline."""
    if isinstance(result, CoroutineType):
        result.close()
        raise TypeError("it returned a coroutine, but is called inline")


def _described(error: BaseException) -> tuple[str, str]:
    return error_text(error), traceback_of(error)


def _waits_at(awaitable: Any) -> str:
    """Return the stack of a suspended coroutine in the form of a traceback.

    The outermost call comes first. Returns "" for other awaitables.
    """
    frames = []
    while (frame := getattr(awaitable, "cr_frame", None)) is not None:
        frames.append(traceback.FrameSummary(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        awaitable = awaitable.cr_await
    return "".join(traceback.format_list(frames))
