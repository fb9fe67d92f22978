"""Running simulated sessions: one seed, or a seed's script with steps left out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.simulation.coverage import Step
from tests.simulation.timeline import Timeline
from tests.simulation.world import World

from gemini_live_runtime.clock import VirtualTimeLoop


@dataclass(slots=True)
class Run:
    """Result of a seed."""

    seed: int
    steps: list[Step]
    timeline: Timeline
    facts: dict[str, Any]
    soft_turns: bool
    fault: str = ""

    @property
    def event_types(self) -> set[str]:
        """Types of the events that occurred."""
        return {entry.data["type"] for entry in self.timeline.entries if entry.kind == "event"}


def run(seed: int, steps: Sequence[Step] | None = None) -> Run:
    """Run the session of `seed`, with `steps` in place of its own.

    A fault of the session itself is in `fault`.
    """
    world = World(seed, steps)
    faults: list[str] = []
    facts: dict[str, Any] = {}

    def loop_factory() -> VirtualTimeLoop:
        loop = VirtualTimeLoop()
        loop.set_exception_handler(lambda _, context: faults.append(_told(context)))
        return loop

    try:
        with asyncio.Runner(loop_factory=loop_factory) as runner:
            facts = runner.run(world.live())
    except Exception as error:
        faults.append(f"{type(error).__name__}: {error}")
    soft = world.plan.definition.soft_turn_s is not None
    return Run(seed, world.steps, world.timeline, facts, soft, "; ".join(faults))


def _told(context: dict[str, Any]) -> str:
    error = context.get("exception")
    return f"{context.get('message')}: {error!r}"


def shrunk(found: Run, fails: Callable[[Run], bool]) -> Run:
    """Return the shortest session like `found` for which `fails(run)` is true.

    Steps are left out one after the other.
    """
    best, size = found, max(1, len(found.steps) // 2)
    while size >= 1:
        at = 0
        while at < len(best.steps):
            shorter = [*best.steps[:at], *best.steps[at + size :]]
            tried = run(found.seed, shorter)
            if fails(tried):
                best = tried
            else:
                at += size
        size //= 2
    return best
