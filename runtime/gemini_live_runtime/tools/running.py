"""Track running calls: each ends exactly once.

A call ends when its task ends, or `GRACE_S` after its time limit or its cancellation, whichever comes first: a task may
suppress `CancelledError` or wait for a thread. `on_ended` is called once, when the call leaves the table, so a task
that ends later is ignored. Such a task stays referenced, because the loop itself keeps weak references only.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from gemini_live_runtime.clock import Clock
from gemini_live_runtime.tools.results import Outcome, ToolCall, error_outcome, outcome

GRACE_S = 1.0
"""Seconds that a cancelled task may take to clean up; then its call ends without it."""


@dataclass(slots=True, eq=False)
class RunningCall:
    """Running call. `started` is in seconds of the clock."""

    call: ToolCall
    started: float
    timeout_s: float
    on_ended: Callable[[Outcome], None]
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set on cancellation and timeout, for code in a thread, which no `CancelledError` reaches."""
    task: asyncio.Task[Outcome] | None = None
    timer: asyncio.TimerHandle | None = None
    stopped: Literal["", "cancelled", "timeout"] = ""


class RunningCalls:
    """Running calls by id."""

    id_prefix: ClassVar[str] = "unnumbered"
    """Prefix of the ids generated for calls without one."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._running: dict[str, RunningCall] = {}
        self._generated_ids = 0
        # Tasks that outlive their call: the loop keeps only weak references.
        self._abandoned: set[asyncio.Task[Outcome]] = set()

    @property
    def active_ids(self) -> list[str]:
        """Ids of the running calls, oldest first."""
        return list(self._running)

    @property
    def active_count(self) -> int:
        """Number of running calls."""
        return len(self._running)

    @property
    def active(self) -> list[RunningCall]:
        """Running calls, oldest first."""
        return list(self._running.values())

    def spawn(
        self,
        call: ToolCall,
        work: Callable[[RunningCall], Coroutine[Any, Any, Outcome]],
        *,
        timeout_s: float,
        on_ended: Callable[[Outcome], None],
    ) -> str:
        """Run `work` in a task, and return the call's id; `on_ended` gets the outcome.

        An empty id is replaced by a generated one. Raises `ValueError` when a call with this id is running.
        """
        if not call.call_id:
            self._generated_ids += 1
            call = replace(call, call_id=f"{self.id_prefix}-{self._generated_ids}")
        if call.call_id in self._running:
            raise ValueError(f"call {call.call_id} is running already")
        running = RunningCall(call, self._clock.now(), timeout_s, on_ended)
        self._running[call.call_id] = running
        loop = asyncio.get_running_loop()
        running.timer = loop.call_later(timeout_s, self._stop, running, "timeout")
        running.task = asyncio.create_task(work(running), name=f"tool {call.name}")
        running.task.add_done_callback(lambda task: self._done(running, task))
        return call.call_id

    def suspend_limit(self, call_id: str) -> None:
        """Let the time limit of a call rest: it waits for a person."""
        running = self._running.get(call_id)
        if running is not None and not running.stopped:
            self._set_timer(running, None)

    def renew_limit(self, call_id: str) -> None:
        """Give a call its time limit anew."""
        running = self._running.get(call_id)
        if running is not None and not running.stopped:
            loop = asyncio.get_running_loop()
            self._set_timer(running, loop.call_later(running.timeout_s, self._stop, running, "timeout"))

    def cancel(self, ids: Iterable[str]) -> list[str]:
        """Cancel calls, and return the ids of those that were running."""
        found = [self._running[call_id] for call_id in dict.fromkeys(ids) if call_id in self._running]
        return [running.call.call_id for running in found if self._stop(running, "cancelled")]

    def cancel_all(self) -> list[str]:
        """Cancel every call, and return the ids of those that were running."""
        return self.cancel(self.active_ids)

    async def close(self) -> None:
        """Cancel every call and wait for their tasks, at most `GRACE_S`."""
        self.cancel_all()
        tasks = [running.task for running in self.active if running.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_S)
        for running in self.active:
            self._end(running)

    def _stop(self, running: RunningCall, cause: Literal["cancelled", "timeout"]) -> bool:
        if running.stopped or running.task is None or running.task.done():
            return False
        running.stopped = cause
        running.cancelled.set()
        running.task.cancel()
        self._set_timer(running, asyncio.get_running_loop().call_later(GRACE_S, self._end, running))
        return True

    def _done(self, running: RunningCall, task: asyncio.Task[Outcome]) -> None:
        self._abandoned.discard(task)
        if self._running.get(running.call.call_id) is running:
            self._end(running)
        elif not task.cancelled():
            task.exception()  # marks it as retrieved, or asyncio would log it

    def _end(self, running: RunningCall) -> None:
        if self._running.get(running.call.call_id) is not running:
            return
        del self._running[running.call.call_id]
        self._set_timer(running, None)
        if running.task is not None and not running.task.done():
            self._abandoned.add(running.task)
        ms = (self._clock.now() - running.started) * 1000
        running.on_ended(replace(self._outcome(running), ms=ms))

    def _outcome(self, running: RunningCall) -> Outcome:
        call, task = running.call, running.task
        if running.stopped == "timeout":
            cause = f"{call.name} took longer than {running.timeout_s:g} s"
            return outcome(call, "timeout", {"error": cause}, cause)
        # A task that is cancelled before its first step ends without running `work`.
        if running.stopped or task is None or task.cancelled():
            return outcome(call, "cancelled", {})
        error = task.exception()
        return task.result() if error is None else error_outcome(call, error)

    @staticmethod
    def _set_timer(running: RunningCall, timer: asyncio.TimerHandle | None) -> None:
        if running.timer is not None:
            running.timer.cancel()
        running.timer = timer
