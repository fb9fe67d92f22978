"""Calls that are running: each ends exactly once, by itself, by its time limit or by a cancellation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

from gemini_live_runtime.clock import Clock
from gemini_live_runtime.tools.results import Outcome, ToolCall, fault, outcome

GRACE_S = 1.0
"""How long code that was told to stop may take to clean up; after that its call ends without it."""


@dataclass(slots=True, eq=False)
class RunningCall:
    """One call on its way. `started` is in the clock's seconds."""

    call: ToolCall
    started: float
    timeout_s: float
    on_ended: Callable[[Outcome], None]
    cancelled: threading.Event = field(default_factory=threading.Event)
    """Set when the answer is no longer wanted; for code that no `CancelledError` can reach."""
    task: asyncio.Task[Outcome] | None = None
    timer: asyncio.TimerHandle | None = None
    stopped: Literal["", "cancelled", "timeout"] = ""


class RunningCalls:
    """Running calls by id."""

    made_up_ids: ClassVar[str] = "unnumbered"
    """What the ids of calls begin with that came without one."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._running: dict[str, RunningCall] = {}
        self._made = 0
        # A loop keeps only weak references to tasks, and these have lost their entry.
        self._left_behind: set[asyncio.Task[Outcome]] = set()

    @property
    def active_ids(self) -> list[str]:
        """Ids of the calls that have not ended, oldest first."""
        return list(self._running)

    @property
    def active_count(self) -> int:
        """How many calls have not ended."""
        return len(self._running)

    @property
    def active(self) -> list[RunningCall]:
        """The calls that have not ended, oldest first."""
        return list(self._running.values())

    def spawn(
        self,
        call: ToolCall,
        work: Callable[[RunningCall], Coroutine[Any, Any, Outcome]],
        *,
        timeout_s: float,
        on_ended: Callable[[Outcome], None],
    ) -> str:
        """Run `work`; its one outcome goes to `on_ended`. The id, made up when the call has none.

        Raises `ValueError` when a call of this id is running.
        """
        if not call.call_id:
            self._made += 1
            call = replace(call, call_id=f"{self.made_up_ids}-{self._made}")
        if call.call_id in self._running:
            raise ValueError(f"call {call.call_id} is running already")
        running = RunningCall(call, self._clock.now(), timeout_s, on_ended)
        self._running[call.call_id] = running
        loop = asyncio.get_running_loop()
        running.timer = loop.call_later(timeout_s, self._stop, running, "timeout")
        running.task = asyncio.create_task(work(running), name=f"tool {call.name}")
        running.task.add_done_callback(lambda task: self._done(running, task))
        return call.call_id

    def cancel(self, ids: Iterable[str]) -> list[str]:
        """Cancel calls; the ids of those that were running. The others are passed over."""
        found = [self._running[call_id] for call_id in dict.fromkeys(ids) if call_id in self._running]
        return [running.call.call_id for running in found if self._stop(running, "cancelled")]

    def cancel_all(self) -> list[str]:
        """Cancel every call; the ids of those that were running."""
        return self.cancel(self.active_ids)

    async def close(self) -> None:
        """Cancel everything and wait for it to end, at most `GRACE_S`."""
        self.cancel_all()
        tasks = [running.task for running in self.active if running.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=GRACE_S)
        for running in self.active:
            self._end(running)

    def _stop(self, running: RunningCall, why: Literal["cancelled", "timeout"]) -> bool:
        if running.stopped or running.task is None or running.task.done():
            return False
        running.stopped = why
        running.cancelled.set()
        running.task.cancel()
        self._set_timer(running, asyncio.get_running_loop().call_later(GRACE_S, self._end, running))
        return True

    def _done(self, running: RunningCall, task: asyncio.Task[Outcome]) -> None:
        self._left_behind.discard(task)
        if self._running.get(running.call.call_id) is running:
            self._end(running)
        elif not task.cancelled():
            task.exception()  # Its call is over; nobody asks for this any more.

    def _end(self, running: RunningCall) -> None:
        if self._running.get(running.call.call_id) is not running:
            return
        del self._running[running.call.call_id]
        self._set_timer(running, None)
        if running.task is not None and not running.task.done():
            self._left_behind.add(running.task)
        ms = (self._clock.now() - running.started) * 1000
        running.on_ended(replace(self._outcome(running), ms=ms))

    def _outcome(self, running: RunningCall) -> Outcome:
        call, task = running.call, running.task
        if running.stopped == "timeout":
            cause = f"{call.name} took longer than {running.timeout_s:g} s"
            return outcome(call, "timeout", {"error": cause}, cause)
        # A task cancelled before its first step never runs its body.
        if running.stopped or task is None or task.cancelled():
            return outcome(call, "cancelled", {})
        error = task.exception()
        return task.result() if error is None else fault(call, error)

    @staticmethod
    def _set_timer(running: RunningCall, timer: asyncio.TimerHandle | None) -> None:
        if running.timer is not None:
            running.timer.cancel()
        running.timer = timer
