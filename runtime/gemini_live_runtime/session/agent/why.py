"""Why a conversation does not move on, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemini_live_runtime.conversation.phase_machine import PhaseMachine
from gemini_live_runtime.state.explanation import decisive_leaves
from gemini_live_runtime.state.store import State


def why_blocked(machine: PhaseMachine, state: State, phase: str, now: float) -> list[str]:
    """What keeps the conversation from going to `phase`, a sentence each; none when nothing does."""
    ways = [way for way in machine.explain(state, now)["transitions"] if way["to"] == phase]
    if not ways:
        return [f"There is no way from {machine.current} to {phase}"]
    reasons = []
    for way in ways:
        if way["outcome"] == "ready":
            return []
        reasons += [leaf for tree in (way["guard"], way.get("target_guard")) for leaf in _why_not(tree)]
        reasons += [f"{key} is not set" for key in way.get("missing", ())]
    return reasons


def _why_not(tree: Mapping[str, Any] | None) -> list[str]:
    return [] if tree is None or tree["value"] else decisive_leaves(tree)
