"""List the bundled agents without importing them.

The counts are facts about the agents' code; `tests/unit/agents` holds them to it.
"""

from __future__ import annotations

from gemini_live_runtime.records import record


@record
class BundledAgent:
    """Description of a bundled agent and its number of phases, tools and watchers."""

    name: str
    description: str
    phases: int
    tools: int
    watchers: int = 0


CATALOGUE: tuple[BundledAgent, ...] = (
    BundledAgent("concierge", "A hotel concierge: weather, timers, notes, a table, a taxi, the time.", 3, 19, 1),
    BundledAgent("clinic", "A clinic's intake: what is wrong, how urgent it is, an appointment.", 7, 3, 1),
    BundledAgent(
        "restaurant", "A restaurant's order desk: dishes, a total, payment, and a kitchen that takes a while.", 5, 5
    ),
    BundledAgent(
        "debt_collection", "A debt collector: notice, identity check, then payment, a plan, or no more calls.", 9, 2, 2
    ),
    BundledAgent(
        "call_screening", "A call screener: asks who and why, then connects, takes a message, or declines.", 8, 1
    ),
    BundledAgent(
        "tech_support",
        "Technical support: tests the line, restarts the router, and calls a technician if that fails.",
        5,
        4,
        1,
    ),
)
"""Every bundled agent, the demo's default first."""

_NAMES = {agent.name.replace("_", ""): agent.name for agent in CATALOGUE}


def bundled_name(reference: str) -> str:
    """Return a bundled agent's name however it is spelled; "" for other references.

    Case, hyphens, underscores and spaces do not matter.
    """
    return _NAMES.get(reference.lower().translate({ord(sign): None for sign in "-_ "}), "")
