"""Why a conversation does not move on, in sentences."""

from __future__ import annotations

from typing import Any

from gemini_live_runtime.conversation.phase_machine import PhaseMachine
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
        reasons += [_untrue(leaf) for leaf in _false_leaves(way["guard"])]
        reasons += [_untrue(leaf) for leaf in _false_leaves(way.get("target_guard"))]
        reasons += [f"{key} is not set" for key in way.get("missing", ())]
    return reasons


def _false_leaves(tree: dict[str, Any] | None) -> list[dict[str, Any]]:
    """The parts of an explanation that are false and have no parts themselves."""
    if tree is None or tree["value"]:
        return []
    leaves = [leaf for child in tree.get("children", ()) for leaf in _false_leaves(child)]
    return leaves or [tree]


def _untrue(leaf: dict[str, Any]) -> str:
    """`user:name is set` as what is the case instead; a comparison with the value that was read."""
    text = str(leaf["text"])
    for said in (" is set", " is true"):
        if text.endswith(said):
            return f"{text.removesuffix(said)} is not {said.removeprefix(' is ')}"
    reads = [read for read in leaf.get("reads", ()) if read["present"]]
    values = ", ".join(f"{read['key']} is {read['value']!r}" for read in reads)
    return f"{text} is false" + (f": {values}" if values else "")
