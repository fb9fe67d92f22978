"""Putting a simulated session before the reference model."""

from __future__ import annotations

from tests.simulation.reference import Reference
from tests.simulation.rules import Broken
from tests.simulation.world import Run


def judged(found: Run) -> str:
    """Which promise the session broke; "" when none."""
    if found.fault:
        return f"Fault: {found.fault}"
    try:
        Reference(soft_turns=found.soft_turns).judge(found.timeline, found.facts)
    except Broken as broken:
        return str(broken)
    return ""
