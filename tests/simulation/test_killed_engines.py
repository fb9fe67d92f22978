"""Engines that die anywhere in a random session leave it to another one."""

from __future__ import annotations

import os

from tests.simulation.killed_engines import restart

SEEDS = 2000 if os.environ.get("SOAK") else 40


def test_another_engine_keeps_every_promise_of_the_one_that_died() -> None:
    broken = []
    for seed in range(SEEDS):
        found = restart(seed)
        if found.finding:
            broken.append(f"seed {seed}: {found.finding}\n  after {', '.join(step.name for step in found.steps)}")
    assert not broken, f"{len(broken)} sessions broke a promise\n" + "\n".join(broken[:10])
