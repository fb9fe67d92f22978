"""Explain hand-offs in words: who asked, how long it waited, what the model knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.agent_view import AgentView
from gemini_live_runtime.journal.fold.packing import unpack
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.formatting import seconds_text
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.panes.explanations import value_text

if TYPE_CHECKING:
    from gemini_live_runtime import events as ev

_VIA = {
    "instruction": "The model was told by a new instruction on the same connection.",
    "connection": "The model was told by another connection, with the agent's instruction and tools.",
}
_CHAT = {
    "keep": "It knows what was said before.",
    "fresh": "It is not told what was said before.",
    "given": "It is told messages that were chosen, instead of what was said before.",
}


def handed_over(p: ev.AgentHandedOff, agent: AgentView) -> tuple[str, tuple[Sequence[Run], ...]]:
    """Return the title and the lines of a hand-off that was made."""
    lead = [*_asked_by(p, agent)]
    if p.by != "restored":
        waited = f"It waited {seconds_text(p.waited_s)}" if p.waited_s >= 0.05 else "It did not have to wait"
        until = "until the model had finished speaking" if p.waited_s >= 0.05 else "for the model to finish speaking"
        lead.append([(f"{waited} {until}.", "said")])
        lead.append([(_VIA.get(p.via, p.via), "said")])
    lead.append([(_CHAT.get(p.chat, p.chat), "quiet")])
    return f"{_name(p.previous)} to {_name(p.agent)}", tuple(lead)


def not_handed_over(p: ev.HandoffRequested, agent: AgentView) -> tuple[str, tuple[Sequence[Run], ...]]:
    """Return the title and the lines of a hand-off that could not be made."""
    problem: Sequence[Run] = [(sanitise_line(p.problem, 1000), "strong")]
    goes_on: Sequence[Run] = [("The present agent goes on.", "quiet")]
    return f"{_name(p.agent)} did not take over", (*_asked_by(p, agent), problem, goes_on)


def _asked_by(p: ev.AgentHandedOff | ev.HandoffRequested, agent: AgentView) -> list[Sequence[Run]]:
    reason = _name(p.reason)
    if p.by == "tool":
        lead: list[Sequence[Run]] = [[("The tool ", "said"), (reason, "strong"), (" returned the agent.", "said")]]
        run = next((run for run in reversed(agent.tools.values()) if run.name == p.reason), None)
        args = None if run is None else unpack(run.args)
        if isinstance(args, Mapping) and args:
            lead.append([("called with ", "quiet"), (value_text(args, 200), "said")])
        return lead
    said: Mapping[str, str] = {
        "program": "The program asked for it.",
        "operator": "The operator asked for it.",
        "task": f"For a task: {reason}." if " " in reason else f"A task of {reason} begins.",
        "restored": "The session was taken up again; this agent spoke last in it.",
    }
    return [[(said[p.by], "said")]]


def _name(text: str) -> str:
    return sanitise_line(text, 80)
