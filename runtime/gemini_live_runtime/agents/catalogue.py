"""The bundled agents as a list to choose from. Importing this imports none of them.

The counts are facts about the agents' code; `tests/unit/agents` holds them to it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BundledAgent:
    """One bundled agent: a sentence on it, and how much of each part it has."""

    name: str
    description: str
    phases: int
    tools: int
    watchers: int = 0


CATALOGUE: tuple[BundledAgent, ...] = (
    BundledAgent("concierge", "A hotel concierge: weather, timers, notes, a table, the time.", 0, 9),
    BundledAgent("clinic", "A clinic's intake: what is wrong, how urgent it is, an appointment.", 6, 3, 1),
    BundledAgent(
        "restaurant", "A restaurant's order desk: dishes, a total, payment, a kitchen that takes its time.", 5, 4
    ),
    BundledAgent(
        "debt_collection", "A debt collector: a notice, an identity, then a payment, a plan, or peace.", 8, 2, 1
    ),
    BundledAgent(
        "call_screening", "A call screener: who is calling and why, then put through, a message, or no.", 7, 1
    ),
    BundledAgent(
        "tech_support",
        "Technical support: a fault described, a line tested, a router restarted, a person when all fails.",
        5,
        3,
        1,
    ),
)
"""Every bundled agent, the demo's default first."""
