"""Calling the listeners of callbacks: each isolated, each watched, none able to hold up the session for long."""

from __future__ import annotations

import asyncio
import contextlib
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import CoroutineType
from typing import Any, NamedTuple, Protocol, TypeVar

from gemini_live_runtime.clock import Clock, LoopClock, VirtualTimeLoop
from gemini_live_runtime.session.definition.callbacks import CALLBACKS, CallbackMode, EventCallbacks, Listener

R = TypeVar("R")

FAST_S = 0.001
"""Seconds that a listener may take on the fast lane before it is named."""

CONTROL_S = 0.1
"""Seconds that a listener may hold the control lane before it is named."""

DEADLINE_S = 5.0
"""Seconds after which the control lane no longer waits for a listener."""

MAX_RUNNING = 64
"""Concurrent listeners under way at once; one more is not called but reported."""

ENDING_S = 2.0
"""Seconds that closing waits for cancelled listeners."""


@dataclass(frozen=True, slots=True)
class CallbackFault:
    """A listener raised, answered nonsense or took too long. `times` counts its faults so far.

    On the fast lane, which may call a listener 50 times a second, only the 1st, 2nd, 4th, 8th, ... are reported.
    """

    callback: str
    listener: str
    error: str
    trace: str = ""
    defined_at: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class SlowCallback:
    """A listener held its lane for `ms`. `times` as for `CallbackFault`."""

    callback: str
    listener: str
    ms: float
    defined_at: str = ""
    times: int = 1


Report = Callable[[CallbackFault | SlowCallback], None]


class Watched(NamedTuple):
    """A listener of a fast callback, for who calls it itself."""

    function: Callable[..., Any]
    timed: Callable[..., bool]
    """Calls it, isolated and timed; whether it was slow, which has been reported then."""
    failed: Callable[[BaseException], None]
    """Reports what it raised."""


class HasId(Protocol):
    """A tool call as far as callbacks are concerned."""

    @property
    def id(self) -> str | None:
        """The id that its answer goes to."""
        ...


class CallbackRunner:
    """Calls the listeners of one session. Make it on the session's loop."""

    def __init__(
        self,
        callbacks: EventCallbacks,
        *,
        clock: Clock,
        report: Report,
        deadline_s: float = DEADLINE_S,
        around: Callable[[str, str], AbstractContextManager[object]] | None = None,
    ) -> None:
        """`around(callback, listener)` is entered for every call on the control lane, to say who writes state."""
        self._now = _stopwatch(clock)
        self._report = report
        self._deadline_s = deadline_s
        self._around = around or (lambda callback, listener: contextlib.nullcontext())
        self._running: dict[asyncio.Task[Any], tuple[str, Listener]] = {}
        self._times: Counter[tuple[Listener, type]] = Counter()
        self.replace(callbacks)

    def replace(self, callbacks: EventCallbacks) -> None:
        """Call these listeners from now on, but for what has taken `watched` ones along."""
        self._callbacks = callbacks
        self._fast = {
            name: self._inline(name, callbacks.of(name))
            for name, spec in CALLBACKS.items()
            if spec.lane == "fast" and callbacks.of(name)
        }

    def listeners(self, callback: str) -> tuple[Callable[..., Any], ...] | None:
        """The functions that listen to `callback`; None when nobody does."""
        return tuple(listener.function for listener in self._callbacks.of(callback)) or None

    def listening(self, callback: str) -> tuple[Listener, ...]:
        """The listeners of `callback`, in order."""
        return self._callbacks.of(callback)

    @property
    def running(self) -> int:
        """Listeners that have not ended: concurrent ones, and those that outstayed their deadline."""
        return len(self._running)

    # -- the fast lane -----------------------------------------------------------------------------------------------

    def watched(self, callback: str) -> tuple[Watched, ...]:
        """The listeners of a fast callback, for a path that is too hot for `fast`."""
        return tuple(
            Watched(
                listener.function,
                self._inline_one(callback, listener),
                lambda error, listener=listener: self._fault(callback, listener, *_told(error)),  # type: ignore[misc]
            )
            for listener in self._callbacks.of(callback)
        )

    def fast(self, callback: str, *args: Any) -> None:
        """Call the listeners of a fast callback. Never raises."""
        call = self._fast.get(callback)
        if call is not None:
            call(*args)

    def _inline(self, callback: str, listeners: tuple[Listener, ...]) -> Callable[..., object]:
        calls = tuple(self._inline_one(callback, listener) for listener in listeners)
        if len(calls) == 1:
            return calls[0]

        def call(*args: Any) -> None:
            for one in calls:
                one(*args)

        return call

    def _inline_one(self, callback: str, listener: Listener) -> Callable[..., bool]:
        """Calls the listener and times it; whether it was slow."""
        now, function = self._now, listener.function

        def call(*args: Any) -> bool:
            began = now()
            try:
                result = function(*args)
                if result is not None:
                    refuse_coroutine(result)
            except (Exception, SystemExit) as error:
                self._fault(callback, listener, *_told(error))
            took = now() - began
            if took > FAST_S:
                self._slow(callback, listener, took)
            return took > FAST_S

        return call

    # -- the control lane --------------------------------------------------------------------------------------------

    async def control(self, callback: str, *args: Any) -> list[Any]:
        """Call the listeners of a control callback in order; what the blocking ones returned, without None.

        Raises only when it is itself cancelled.
        """
        answers = []
        for listener in self._callbacks.of(callback):
            if listener.mode is CallbackMode.CONCURRENT:
                self._start(callback, listener, args)
                continue
            answer = await self._blocking(callback, listener, args)
            if answer is not None:
                answers.append(answer)
        return answers

    async def tool_overrides(self, calls: Sequence[HasId], state: Any) -> dict[str, Any]:
        """Results that `on_tool_call` listeners give by call id; calls not in it run normally.

        The first listener that gives a result for a call wins; results for calls that were not asked are reported.
        """
        asked = {call.id for call in calls}
        given: dict[str, Any] = {}
        for listener in self._callbacks.of("on_tool_call"):
            answer = await self._blocking("on_tool_call", listener, (tuple(calls), state))
            if answer is None:
                continue
            if not isinstance(answer, Mapping):
                self._nonsense("on_tool_call", listener, f"returned {type(answer).__name__}, not a dict by call id")
                continue
            for call_id, result in answer.items():
                if call_id not in asked:
                    self._nonsense("on_tool_call", listener, f"answered {call_id!r}, which is not one of the calls")
                elif call_id in given:
                    self._nonsense("on_tool_call", listener, f"answered {call_id!r}, which had a result already")
                elif result is not None:
                    given[call_id] = result
        return given

    async def tool_responses(self, responses: Sequence[R], state: Any) -> list[R]:
        """`responses` as `before_tool_response` listeners leave them, each given what the one before it returned.

        A listener that returns None or fails changes nothing.
        """
        current = list(responses)
        for listener in self._callbacks.of("before_tool_response"):
            answer = await self._blocking("before_tool_response", listener, (list(current), state))
            if isinstance(answer, list | tuple):
                current = list(answer)
            elif answer is not None:
                self._nonsense("before_tool_response", listener, f"returned {type(answer).__name__}, not a list")
        return current

    async def instruction_template(self, state: Any) -> str | None:
        """The instruction of the first listener that gives one; those after it are not asked."""
        for listener in self._callbacks.of("instruction_template"):
            text = await self._text("instruction_template", listener, state)
            if text is not None:
                return text
        return None

    async def instruction_amendment(self, state: Any) -> str | None:
        """The amendments of all listeners that give one, a blank line between them."""
        texts = [
            await self._text("instruction_amendment", each, state)
            for each in self._callbacks.of("instruction_amendment")
        ]
        return "\n\n".join(text for text in texts if text) or None

    async def close(self, grace_s: float = 0.0) -> None:
        """Wait up to `grace_s` for listeners under way, then cancel them; one that will not end is reported."""
        await asyncio.sleep(0)  # what was started only now takes its first step
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
        if text is None or isinstance(text, str):
            return text
        self._nonsense(callback, listener, f"returned {type(text).__name__}, not text")
        return None

    async def _blocking(self, callback: str, listener: Listener, args: tuple[Any, ...]) -> Any:
        began = self._now()
        with self._around(callback, listener.name):
            try:
                result = listener.function(*args)
            except (Exception, SystemExit) as error:
                self._fault(callback, listener, *_told(error))
                result = None
            if not isinstance(result, Awaitable):
                self._timed(callback, listener, began)
                return result
            task = self._task(callback, listener, result)
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
            self._fault(callback, listener, f"not called: {MAX_RUNNING} listeners are under way", "")
            return

        async def call() -> Any:
            began = self._now()
            result = listener.function(*args)
            # What blocks the loop is named; an async listener may take its time, nobody waits for it.
            self._timed(callback, listener, began)
            return await result if isinstance(result, Awaitable) else result

        with self._around(callback, listener.name):
            self._task(callback, listener, call())

    def _task(self, callback: str, listener: Listener, work: Awaitable[Any]) -> asyncio.Task[Any]:
        """`work` as a task of its own that ends in a result or a report, never in an exception."""

        async def settled() -> Any:
            try:
                return await work
            except asyncio.CancelledError as error:
                if task.cancelling():
                    raise
                self._fault(callback, listener, *_told(error))  # something it waited for was cancelled, not it
                return None
            except (Exception, SystemExit) as error:
                self._fault(callback, listener, *_told(error))
                return None

        task = asyncio.create_task(settled(), name=f"{callback} {listener.name}")
        self._running[task] = (callback, listener)
        task.add_done_callback(self._running.pop)
        return task

    # -- reports -----------------------------------------------------------------------------------------------------

    def _timed(self, callback: str, listener: Listener, began: float) -> None:
        took = self._now() - began
        if took > CONTROL_S:
            self._slow(callback, listener, took)

    def _nonsense(self, callback: str, listener: Listener, what: str) -> None:
        self._fault(callback, listener, what, "")

    def _fault(self, callback: str, listener: Listener, error: str, trace: str) -> None:
        times = self._count(callback, listener, CallbackFault)
        if times:
            self._report(CallbackFault(callback, listener.name, error, trace, listener.defined_at, times))

    def _slow(self, callback: str, listener: Listener, seconds: float) -> None:
        times = self._count(callback, listener, SlowCallback)
        if times:
            self._report(SlowCallback(callback, listener.name, round(seconds * 1000, 1), listener.defined_at, times))

    def _count(self, callback: str, listener: Listener, kind: type) -> int:
        """How often this happened; 0 when it is one of those that are not reported."""
        self._times[listener, kind] += 1
        times = self._times[listener, kind]
        told = CALLBACKS[callback].lane == "control" or times & (times - 1) == 0
        return times if told else 0


def _stopwatch(clock: Clock) -> Callable[[], float]:
    """What reads `clock` fastest, since listeners are timed where nothing may wait; only differences count."""
    real = isinstance(clock, LoopClock) and not isinstance(asyncio.get_running_loop(), VirtualTimeLoop)
    return time.perf_counter if real else clock.now


def refuse_coroutine(result: object) -> None:
    """Raise `TypeError` for what an async function returned where it is called inline."""
    if isinstance(result, CoroutineType):
        result.close()
        raise TypeError("it returned a coroutine, but is called inline")


def _told(error: BaseException) -> tuple[str, str]:
    return f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error))


def _waits_at(awaitable: Any) -> str:
    """The frames of a suspended coroutine, outermost first, as a traceback shows them; "" for other awaitables."""
    frames = []
    while (frame := getattr(awaitable, "cr_frame", None)) is not None:
        frames.append(traceback.FrameSummary(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        awaitable = awaitable.cr_await
    return "".join(traceback.format_list(frames))
