"""Run two nested tasks in every order of what may happen to them.

CI tries fewer steps between them than `make soak`.

The parts that wait and decide are real: the tasks, the hand-offs and the task queue. The conversation is a floor that
is free or taken.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from copy import copy
from functools import cache
from itertools import permutations, product
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.session.session_support import Sink

from gemini_live_runtime import InlineTask, Live
from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.session.agent.context import AgentContext
from gemini_live_runtime.session.agent.handover.handoff import HandoffRunner
from gemini_live_runtime.session.agent.handover.leave_taking import LeaveTaking
from gemini_live_runtime.session.agent.handover.takeover import Takeover
from gemini_live_runtime.session.agent.task_queue import TaskQueue
from gemini_live_runtime.session.core.speech_queue import SpeechQueue
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.session.io.place import Place, place_of_code
from gemini_live_runtime.session.ports.event_bus import EventBus

STEPS = 12
"""Steps of the loop after which nothing more happens without a change of the floor."""

SOAK = bool(os.environ.get("SOAK"))
PAUSES = (-STEPS, *range(10)) if SOAK else (-STEPS, 0, 2, 4, 5, 8)
"""Steps between two things that happen, some of them."""
PAUSES_AMONG_OTHERS = (0, 4, 5) if SOAK else (0, 4)

Op = str
"""Thing that happens, and the task that it happens to."""


@cache
def plan(name: str) -> SessionPlan:
    """Return the plan of an agent."""
    return Live.builder(name).instruction("Be brief.").plan()


TASKS = {name: InlineTask[str](name=name, instructions="Ask.") for name in ("outer", "inner")}
"""Tasks of which each run takes copies: their plans are made once."""


class Floor:
    """Host of a session in which the model speaks unless the floor is free."""

    is_draining = is_heard = is_given_up = False
    turn = 0

    def __init__(self) -> None:
        self.speeches = SpeechQueue()
        self.is_free = False
        self._changed = asyncio.Event()

    def is_answer_pending(self) -> bool:
        return not self.is_free

    def on_change(self) -> None:
        self._changed.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    def speaks_with(self, old: Any, new: Any) -> bool:
        return True

    def move(self, *, fresh: bool) -> None:
        return None


class Conversation:
    """Agent with the code that awaits its tasks, and all that was found wrong."""

    def __init__(self) -> None:
        self.floor, self.sink = Floor(), Sink()
        self.faults: list[str] = []
        self.left: list[str] = []
        bus = EventBus(self.sink, cast("Any", SimpleNamespace(number=0)), cast("Any", SimpleNamespace(number=0)))
        self.queue = TaskQueue(lambda step, error: self.faults.append(f"{step}: {error!r}"), self.floor.on_change)
        parts: Any = SimpleNamespace(
            plan=plan("host"),
            bus=bus,
            emit=bus.emit,
            host=self.floor,
            queue=self.queue,
            clock=SimpleNamespace(now=asyncio.get_running_loop().time),
            writer=SimpleNamespace(deferred=None, route="context_update"),
            phases=None,
            told_from=0,
            closed=False,
        )
        self.agent: AgentContext = parts
        adoption: Any = SimpleNamespace(prepare=self._prepare, adopt=self._adopt)
        settle: Any = SimpleNamespace(settle=self._settle)
        self.runner = HandoffRunner(
            self.agent,
            Takeover(self.agent, adoption, settle),
            leave_taking=LeaveTaking(self.agent, self._leave),
            arrive=self._arrive,
        )
        self.runner.before_taking_over = self._prepare_memory
        self.queue.begin()
        self.tasks = {name: copy(task) for name, task in TASKS.items()}
        self.awaits: dict[str, asyncio.Task[str]] = {}
        self.requests: list[asyncio.Future[Any]] = []
        self.is_over = False

    def _prepare(self, other: SessionPlan) -> Any:
        return SimpleNamespace(plan=other, machine=None)

    def _adopt(self, parts: Any, **options: Any) -> bool:
        self.agent.plan = parts.plan
        return True

    async def _settle(self) -> None:
        await asyncio.sleep(0)

    async def _prepare_memory(self, other: SessionPlan) -> None:
        await asyncio.sleep(0)

    async def _leave(self, other: SessionPlan) -> None:
        self.left.append(other.name)
        await asyncio.sleep(0)

    async def _arrive(self, entered: Any, in_place: bool, begins: bool) -> None:
        await asyncio.sleep(0)

    # -- what happens ------------------------------------------------------------------------------------------------

    async def do(self, op: Op) -> None:
        """Let one thing happen."""
        kind, _, name = op.partition(" ")
        match kind:
            case "await":
                self.awaits[name] = asyncio.create_task(self._await(name))
                # A task that is given up before its code runs was never awaited.
                await asyncio.sleep(0)
            case "complete" if not self.tasks[name].done:
                self.tasks[name].complete("result")
            case "give-up":
                self.awaits[name].cancel()
            case "boss" if not self.is_over:
                self.requests.append(self.runner.request(Live.builder("boss").instruction("Decide."), by="program"))
            case "end" if not self.is_over:
                self.is_over = True
                await self.runner.close()
                self.agent.closed = True
                self.floor.on_change()

    async def _await(self, name: str) -> str:
        running = [name]
        place_of_code.set(Place(self.runner, is_open=lambda: bool(running)))
        try:
            return await self.tasks[name]
        finally:
            running.clear()

    async def passes(self, steps: int) -> None:
        """Let so many steps pass with a free floor; below zero, with a taken one."""
        self.floor.is_free = steps > 0
        self.floor.on_change()
        for _ in range(abs(steps)):
            await asyncio.sleep(0)
        self.floor.is_free = False

    # -- what came of it -----------------------------------------------------------------------------------------------

    def findings(self) -> list[str]:
        """Return what is wrong now that everything has happened, and the floor was free."""
        # Errors of the tasks are theirs; asking for them keeps asyncio from logging them.
        for code in self.awaits.values():
            assert not code.done() or code.cancelled() or code.exception() or code.result()
        found = [*self.faults, *self._chain()]
        found += [f"the await of {name} goes on" for name, code in self.awaits.items() if not code.done()]
        found += [f"{asked} goes on" for asked in self.requests if not asked.done()]
        if not self.queue.idle or self.runner.is_waiting or self.runner.waiting_places:
            found.append("something still waits")
        if not self.is_over:
            ruled = any(asked.done() and not asked.exception() for asked in self.requests)
            speaker = "boss" if ruled else "host"
            if (self.agent.plan.name, self.runner.paused) != (speaker, ()):
                found.append(f"{self.agent.plan.name} speaks in place of {speaker}, {self.runner.paused} wait")
            if self.left.count("host") != ruled:
                found.append(f"host has left {self.left.count('host')} times")
        return found

    def _chain(self) -> Iterator[str]:
        speaker = "host"
        for handed in self.sink.all(ev.AgentHandedOff):
            if handed.previous != speaker or handed.agent == speaker:
                yield f"{handed.previous} hands over to {handed.agent}, {speaker} speaks"
            speaker = handed.agent


ENDS = ("complete", "give-up")


def orders(*others: Op) -> Iterator[tuple[Op, ...]]:
    """Iterate over all orders in which two tasks are awaited and end, among `others`."""
    for outer, inner in product(ENDS, ENDS):
        first, last = f"{outer} outer", f"{inner} inner"
        for order in permutations((first, "await inner", last, *others)):
            if order.index("await inner") < order.index(last):
                yield ("await outer", *order)


async def found_in(order: tuple[Op, ...], pauses: tuple[int, ...]) -> list[str]:
    """Return what is wrong after one order; `pauses` are steps after each thing."""
    talk = Conversation()
    for op, pause in zip(order, pauses, strict=True):
        await talk.do(op)
        await talk.passes(pause)
    for _ in range(4):
        await talk.passes(STEPS)
    found = talk.findings()
    if not talk.is_over:
        await talk.do("end")
    await asyncio.wait(talk.awaits.values(), timeout=1.0)
    await talk.queue.close(0.0)
    return found


@pytest.mark.parametrize("other", ["", "boss", "end"])
def test_every_order_of_two_nested_tasks_ends_each_await_and_leaves_the_right_agent(other: str) -> None:
    # With some steps only, the next thing happens in the middle of a hand-off.
    pauses = PAUSES_AMONG_OTHERS if other else PAUSES

    async def run() -> list[str]:
        found = []
        for order in orders(*other.split()):
            for chosen in {steps for some in pauses for steps in product((STEPS, some), repeat=len(order))}:
                found += [f"{order} {chosen}: {finding}" for finding in await found_in(order, chosen)]
        return found

    broken = run_virtual(run())
    assert not broken, f"{len(broken)} broken\n" + "\n".join(broken[:10])
