"""Putting simulated sessions before the reference model, some thousand."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from tests.simulation.coverage import Coverage
from tests.simulation.reference import Reference
from tests.simulation.rules import Broken
from tests.simulation.running import Run, run
from tests.simulation.timeline import Timeline

SEEDS = 10_000 if os.environ.get("SOAK") else 2000
SHARDS = 8


def judged(found: Run) -> str:
    """Return the promise that the session broke, or ""."""
    if found.fault:
        return f"Fault: {found.fault}"
    return broken_promise(found.timeline, found.facts, soft_turns=found.soft_turns)


def broken_promise(timeline: Timeline, facts: dict[str, Any], *, soft_turns: bool) -> str:
    """Return the finding of the reference model about an ended session, or ""."""
    try:
        Reference(soft_turns=soft_turns).judge(timeline, facts)
    except Broken as broken:
        return str(broken)
    return ""


@cache
def shard(number: int) -> tuple[Coverage, list[str]]:
    """Return the coverage of a part of the seeds, and the broken promises."""
    coverage, broken = Coverage(), []
    size = SEEDS // SHARDS
    for seed in range(number * size, (number + 1) * size):
        found = run(seed)
        names = [step.name for step in found.steps]
        coverage.add(names, found.event_types)
        fault = judged(found)
        if fault:
            broken.append(
                f"seed {seed}: {fault}\n  after {', '.join(names)}\n"
                f"  run again: .venv/bin/python -m tests.simulation --seed {seed} --brief --shrink"
            )
    return coverage, broken


@cache
def covered() -> Coverage:
    """Return the coverage of all seeds."""
    whole = Coverage()
    for number in range(SHARDS):
        whole.merge(shard(number)[0])
    return whole
