"""The control lane: what decides is done step by step, in the order it was asked for."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

Step = Callable[[], Awaitable[None]]

STEPS_IN_A_ROW = 32
"""Steps after which everybody else on the loop gets a turn: steps that set each other off must not stop the sound."""

CANCELLING_S = 1.0
"""Seconds that closing waits for a step that it has cancelled."""


class Gate(Protocol):
    """What steps pass one by one, and where they may have to wait."""

    async def before(self, step: str, /) -> None:
        """Return when the step may begin."""
        ...

    def after(self, step: str, /) -> None:
        """It has been done."""
        ...

    def changed(self) -> None:
        """What waits has changed."""
        ...


class TaskQueue:
    """Runs steps one at a time on the running loop. A step that raises is reported and the next one runs.

    The wire, the sound and the operator never wait for it: they only add steps. Nothing runs before `begin`.
    """

    def __init__(
        self, report: Callable[[str, BaseException], None], on_idle: Callable[[], None], gate: Gate | None = None
    ) -> None:
        """`report` gets the name of a step that raised, and what; `on_idle` is told when nothing is left to do."""
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
        """The step that runs, "" when none does."""

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits."""
        return self._idle.is_set()

    @property
    def depth(self) -> int:
        """Steps that wait."""
        return len(self._steps)

    @property
    def waiting(self) -> list[str]:
        """The names of the steps that wait, the next one first."""
        return [name for name, _ in self._steps]

    def put(self, name: str, step: Step) -> bool:
        """Add a step; False once the lane is closed."""
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
        """From now on steps are done, those that wait already first."""
        self._begun = True
        if self._steps:
            self._start()

    def _start(self) -> None:
        if self._begun and self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name="control lane")

    async def drained(self) -> None:
        """Return once nothing runs and nothing waits."""
        await self._idle.wait()

    def drop(self) -> None:
        """Forget the steps that wait."""
        self._steps.clear()

    async def close(self, within_s: float) -> bool:
        """Take no more steps, and let those that wait finish for so many seconds; whether they did."""
        self._closed = True
        done = not self._steps
        if self._task is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(within_s):
                    await self._idle.wait()
            done = self.idle
        if self._task is not None:
            self._task.cancel()
            # A step may refuse to be cancelled; it is left behind then.
            await asyncio.wait((self._task,), timeout=CANCELLING_S)
        return done

    async def _run(self) -> None:
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
                    # Something that the step waited for was cancelled, not the lane.
                    self._report(self.current, error)
                except (Exception, SystemExit) as error:
                    self._report(self.current, error)
                if self._gate is not None:
                    self._gate.after(self.current)
                in_a_row += 1
                if in_a_row >= STEPS_IN_A_ROW:
                    in_a_row = 0
                    await asyncio.sleep(0)
            self.current = ""
            self._idle.set()
            self._on_idle()
            self._waiting.clear()
            await self._waiting.wait()

    def _cancelled(self) -> bool:
        return self._task is None or self._task.cancelling() > 0
