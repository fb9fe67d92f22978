"""Sessions steered by hypothesis, which looks for the shortest broken promise."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.simulation.actions import possible
from tests.simulation.coverage import Step
from tests.simulation.judging import broken_promise
from tests.simulation.world import World

from gemini_live_runtime.clock import VirtualTimeLoop

SEEDS = st.integers(0, 2**32)
PAUSES = st.sampled_from(("", "none"))


def steps(wire: str) -> st.SearchStrategy[Step]:
    """Return the steps that are possible in this state of the wire."""
    return st.builds(Step, st.sampled_from([action.name for action in possible(wire)]), SEEDS, PAUSES)


class SessionMachine(RuleBasedStateMachine):
    """Session with any order of actions, against the reference model."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.runner = asyncio.Runner(loop_factory=self._loop)

    def _loop(self) -> VirtualTimeLoop:
        loop = VirtualTimeLoop()
        loop.set_exception_handler(lambda _, context: self.faults.append(str(context.get("exception", context))))
        return loop

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.world = World(seed, [])
        self.runner.run(self.world.begin())

    @property
    def wire(self) -> str:
        ended = any(event["type"] == "session.ended" for event in self._events())
        return "over" if ended or self.world.running.done() else self.world.wire

    @precondition(lambda self: self.wire == "open")
    @rule(step=steps("open"))
    def with_a_connection(self, step: Step) -> None:
        self.runner.run(self.world.take(step))

    @precondition(lambda self: self.wire == "pending")
    @rule(step=steps("pending"))
    def while_connecting(self, step: Step) -> None:
        self.runner.run(self.world.take(step))

    @precondition(lambda self: self.wire == "none")
    @rule(step=steps("none"))
    def without_a_connection(self, step: Step) -> None:
        self.runner.run(self.world.take(step))

    @precondition(lambda self: self.wire == "over")
    @rule(step=st.builds(Step, st.sampled_from(("type_text", "voice", "wait")), SEEDS, PAUSES))
    def when_it_is_over(self, step: Step) -> None:
        self.runner.run(self.world.take(step))

    @invariant()
    def event_numbers_are_dense(self) -> None:
        numbers = [event["seq"] for event in self._events()]
        assert numbers == list(range(1, len(numbers) + 1))

    def _events(self) -> list[dict[str, Any]]:
        return [entry.data for entry in self.world.timeline.entries if entry.kind == "event"]

    def teardown(self) -> None:
        try:
            if hasattr(self, "world"):
                facts = self.runner.run(self.world.end())
                soft_turns = self.world.plan.definition.soft_turn_s is not None
                fault = "; ".join(self.faults) or broken_promise(self.world.timeline, facts, soft_turns=soft_turns)
                assert not fault, fault
        finally:
            if hasattr(self, "world"):
                self.world.over()
            self.runner.close()


TestSessionMachine = SessionMachine.TestCase
TestSessionMachine.settings = settings(
    max_examples=300 if os.environ.get("SOAK") else 100,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
