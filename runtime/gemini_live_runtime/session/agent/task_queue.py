"""Run the agent's decisions one step at a time, in the order they were requested.

Every change of the agent's state happens in a step of this queue: turns, tools, extraction, phases, callbacks that may
wait. So a step sees a state that no other step changes beneath it, and events of one step are never mixed with those of
the next. The wire, the audio and the operator's commands only add steps; they never wait for one, so an agent's slow
code delays its own decisions and neither the audio nor the console.

A step may await; the steps behind it then wait too. While the agent is paused, the gate holds each step before it
begins. A step that raises is reported and the next one runs. Closing stops new steps, waits for the queued ones up to a
limit, then cancels; a step that catches its cancellation is left running.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from gemini_live_runtime.restarts import RestartLimit

Step = Callable[[], Awaitable[None]]

STEPS_IN_A_ROW = 32
"""Steps after which the loop runs other tasks: steps that trigger each other must not stop the audio."""

CANCELLING_S = 1.0
"""Seconds that closing waits for a cancelled step."""


class Gate(Protocol):
    """Gate that every step passes, and before which it may have to wait."""

    async def before(self, step: str, /) -> None:
        """Wait until the step may begin."""
        ...

    def after(self, step: str, /) -> None:
        """Note that the step has ended."""
        ...

    def changed(self) -> None:
        """Note that a step was added to the queue."""
        ...


class TaskQueue:
    """Queue of steps that run one at a time on the running loop, from `begin` on."""

    def __init__(
        self, report: Callable[[str, BaseException], None], on_idle: Callable[[], None], gate: Gate | None = None
    ) -> None:
        """Create an empty queue.

        `report` gets the name of a step that raised and its exception; `on_idle` is called when the last step ended.
        """
        self._report = report
        self._gate = gate
        self._on_idle = on_idle
        self._steps: deque[tuple[str, Step]] = deque()
        self._waiting = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None
        self._begun = False
        self._closed = False
        self.current = ""
        """Name of the running step, or ""."""

    @property
    def idle(self) -> bool:
        """True when no step runs or waits."""
        return self._idle.is_set()

    @property
    def depth(self) -> int:
        """Number of steps that wait."""
        return len(self._steps)

    @property
    def waiting(self) -> list[str]:
        """Names of the steps that wait, the next one first."""
        return [name for name, _ in self._steps]

    def put(self, name: str, step: Step) -> bool:
        """Add a step; return False once the queue is closed."""
        if self._closed:
            return False
        self._steps.append((name, step))
        self._idle.clear()
        self._waiting.set()
        self._start()
        if self._gate is not None:
            self._gate.changed()
        return True

    def begin(self) -> None:
        """Start to run steps, those that already wait first."""
        self._begun = True
        if self._steps:
            self._start()

    def _start(self) -> None:
        if self._begun and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="task queue")

    async def drained(self) -> None:
        """Wait until no step runs or waits."""
        await self._idle.wait()

    def drop(self) -> None:
        """Remove the steps that wait."""
        self._steps.clear()

    async def close(self, within_s: float) -> bool:
        """Refuse new steps and let the queued ones finish for `within_s` seconds.

        Returns True when all have finished.
        """
        self._closed = True
        done = not self._steps
        if self._task is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._idle.wait()
            done = self.idle
        if self._task is not None:
            self._task.cancel()
            # A step may catch its cancellation; it is then left running.
            await asyncio.wait((self._task,), timeout=CANCELLING_S)
        return done

    async def _run(self) -> None:
        limit = RestartLimit()
        while True:
            try:
                await self._run_steps()
            except Exception as error:
                # What failed is the queue, not a step: those behind it are run all the same.
                self.current = ""
                self._report("of the queue itself", error)
                if not limit.allows(asyncio.get_running_loop().time()):
                    # The next step starts it anew.
                    self.drop()
                    self._task = None
                    self._idle.set()
                    return

    async def _run_steps(self) -> None:
        while True:
            in_a_row = 0
            while self._steps:
                self.current, step = self._steps.popleft()
                try:
                    if self._gate is not None:
                        await self._gate.before(self.current)
                    await step()
                except asyncio.CancelledError as error:
                    if self._cancelled():
                        raise
                    # The cancellation is that of an awaitable in the step, not of this task.
                    self._report(self.current, error)
                except (GeneratorExit, KeyboardInterrupt):
                    raise
                except BaseException as error:  # A step calls an author's code.
                    self._report(self.current, error)
                if self._gate is not None:
                    self._gate.after(self.current)
                in_a_row += 1
                if in_a_row >= STEPS_IN_A_ROW:
                    in_a_row = 0
                    await asyncio.sleep(0)
            self.current = ""
            self._idle.set()
            self._waiting.clear()  # before `on_idle`, which may add a step and set the event again
            self._on_idle()
            await self._waiting.wait()

    def _cancelled(self) -> bool:
        return self._task is None or self._task.cancelling() > 0
