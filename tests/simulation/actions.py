"""Join the actions of simulated sessions into one table."""

from __future__ import annotations

from tests.simulation.action_table import Action
from tests.simulation.conversation_actions import CONVERSATION
from tests.simulation.operator_actions import OPERATOR

ACTIONS = {**CONVERSATION, **OPERATOR}
"""Actions by their names; a seed chooses by their order."""


def possible(wire: str) -> list[Action]:
    """Return the actions that are possible in this state of the wire."""
    return [action for action in ACTIONS.values() if action.fits(wire)]
