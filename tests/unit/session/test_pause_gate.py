"""Pause gate: steps wait or pass, in order, each once, with any commands."""

from __future__ import annotations

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from gemini_live_runtime import events as ev
from gemini_live_runtime.clock import run_virtual
from gemini_live_runtime.session.agent.task_queue import TaskQueue
from gemini_live_runtime.session.debugger.pause_gate import PauseGate, Waiting


class Gated:
    """A lane behind a gate, and what came of both."""

    def __init__(self) -> None:
        self.events: list[ev.Payload] = []
        self.done: list[str] = []
        self.gate = PauseGate(
            emit=self.events.append,
            now=asyncio.get_running_loop().time,
        )
        self.gate.waiting = self._waiting
        self.lane = TaskQueue(
            lambda step, error: self.done.append(f"{step} failed: {error!r}"), lambda: None, self.gate
        )
        self.gate.begin()
        self.lane.begin()

    def _waiting(self) -> Waiting:
        return 0, self.lane.depth, next(iter(self.lane.waiting), "")

    def _failed(self, step: str, error: BaseException) -> None:
        self.done.append(f"{step} failed: {error!r}")

    def put(self, name: str, points: int = 0) -> None:
        """Queue a step that passes `points` gates inside."""

        async def step() -> None:
            for number in range(points):
                await self.gate.reach(f"{name}.{number}")
            self.done.append(name)

        self.lane.put(name, step)

    def told(self) -> list[str]:
        return [event.type for event in self.events]


async def soon() -> None:
    await asyncio.sleep(0.01)


async def test_time_stands_still_while_it_is_held_and_goes_on_where_it_stood() -> None:
    gated = Gated()
    began = gated.gate.agent_time()
    await asyncio.sleep(3)
    gated.gate.hold("pause", "here")
    await asyncio.sleep(100)
    assert round(gated.gate.agent_time() - began, 3) == 3
    gated.gate.release("continue")
    await asyncio.sleep(2)
    assert round(gated.gate.agent_time() - began, 3) == 5


async def test_one_decision_is_one_point_or_one_step() -> None:
    gated = Gated()
    gated.gate.hold("pause", "here")
    gated.put("a", points=1)
    gated.put("b")
    places = []
    for _ in range(4):
        gated.gate.release("event")
        await soon()
        places.append((gated.gate.at, list(gated.done)))
    assert places == [("a.0", []), ("b", ["a"]), ("the next decision", ["a", "b"]), ("", ["a", "b"])]
    gated.put("c")
    await soon()
    assert (gated.gate.at, gated.done[-1]) == ("the next decision", "c")


async def test_what_only_takes_note_waits_and_is_no_decision() -> None:
    gated = Gated()
    gated.gate.hold("pause", "here")
    gated.put("pattern")
    gated.put("a")
    await soon()
    assert gated.done == []
    gated.gate.release("event")
    await soon()
    assert gated.done == ["pattern", "a"]
    assert gated.gate.held


async def test_nothing_is_held_before_it_has_begun_or_after_it_has_ended() -> None:
    gated = Gated()
    assert gated.gate.end() is False
    gated.gate.hold("pause", "here")
    assert not gated.gate.held
    gated.put("a")
    await soon()
    assert gated.done == ["a"]


ORDERS = st.sampled_from(("put", "put", "minor", "hold", "continue", "event", "turn", "turn ends", "rest"))


@given(st.lists(ORDERS, max_size=40))
def test_every_step_is_done_once_and_in_order_whatever_is_ordered(orders: list[str]) -> None:
    async def main() -> None:
        gated = Gated()
        wanted = []
        for number, what in enumerate(orders):
            if what in ("put", "minor", "turn ends"):
                name = {"put": f"step {number}", "minor": "pattern"}.get(what, what)
                wanted.append(name)
                gated.put(name, points=number % 3)
            elif what == "hold":
                gated.gate.hold("pause", "here")
            elif what == "rest":
                before = list(gated.done)
                held = gated.gate.held
                await soon()
                assert not held or gated.done == before
            else:
                how: Any = what
                gated.gate.release(how)
        gated.gate.release("continue")
        gated.gate.release("continue")
        await soon()
        assert gated.done == wanted
        changes = [kind for kind in gated.told() if kind != "agent.holding"]
        assert changes == ["agent.held", "agent.released"] * (len(changes) // 2)

    run_virtual(main())
