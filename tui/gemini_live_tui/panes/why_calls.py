"""Explain a tool call by what was said before it, and a written key by its writer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.packing import plain_key, unpack
from gemini_live_runtime.journal.fold.view import NOT_UNDERSTOOD
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.panes.explanations import value_text
from gemini_live_tui.panes.why_rows import Reason, explained

if TYPE_CHECKING:
    from gemini_live_runtime import events as ev
    from gemini_live_runtime.journal.fold.agent_view import AgentView, KeyCell
    from gemini_live_runtime.journal.fold.view import Block, SessionView

_SHOWN = 200
"""Characters of an utterance that are quoted."""

_ROWS = frozenset(("tool.called", "tool.finished", "state.changed"))
"""Types of events that are no decisions, and are explained where a row shows them."""

_WRITERS = {
    "tool": "The tool {by} wrote it.",
    "extractor": "The extractor {by} found it in what was said.",
    "phase": "It follows the phase {by}.",
    "watcher": "The action of the watcher {by} wrote it.",
    "operator": "The operator wrote it.",
    "signal": "The session itself keeps it.",
    "callback": "A callback of the agent wrote it: {by}.",
    "agent": "The agent's own code wrote it.",
    "computed": "It is computed from other keys.",
    "restored": "It was taken over from an earlier session.",
    "initial": "The agent begins with it.",
    "program": "The program around the session wrote it.",
}
"""Sentences by kind of a writer; `{by}` is its name."""

_FOLLOW_WORDS = frozenset(("tool", "extractor"))
"""Kinds of writers that act on what was said."""


def is_explained(event: ev.Event) -> bool:
    """Return True when the row of an event can be explained."""
    return event.type in _ROWS or explained(event)


def reason_of_call(event: ev.Event, call: ev.ToolCalled, before: SessionView, now: SessionView) -> Reason:
    """Explain a call by the view before it; `now` has the words of its turn."""
    lead: list[Sequence[Run]] = [_occasion(now, event, "The model called it")]
    lead.append((("agent        ", "quiet"), _said(before.agent or "not known")))
    if before.phase:
        lead.append((("phase        ", "quiet"), _said(before.phase)))
    lead.append((("called with  ", "quiet"), _said(value_text(call.args, _SHOWN))))
    run = now.agent_view.tools.get(plain_key(call.call_id))
    if run is not None and run.end is not None:
        lead.append((("its answer   ", "quiet"), _said(value_text(unpack(run.result), _SHOWN))))
    return Reason(f"{_said(call.name)[0]} was called", tuple(lead), seq=event.seq)


def reason_of_write(event: ev.Event, change: ev.StateChanged, before: SessionView, now: SessionView) -> Reason:
    """Explain a written key by its writer; `now` has the words of its turn."""
    old = "not set" if change.added else value_text(change.old, _SHOWN)
    new = "removed" if change.removed else value_text(change.new, _SHOWN)
    key = _said(change.key)[0]
    lead: list[Sequence[Run]] = [((key, "key"), (f"  {old}", "del"), (" → ", "quiet"), (new, "add"))]
    words = _WRITERS.get(change.origin, "{origin} {by} wrote it.")
    lead.append((_said(words.format(origin=change.origin, by=change.by or "of the session")),))
    if change.reason:
        lead.append((("because ", "quiet"), _said(change.reason)))
    if change.origin in _FOLLOW_WORDS:
        lead.append(_occasion(now, event, "That was"))
    keys = _inputs(change.key, before.agent_view) if change.origin == "computed" else {}
    return Reason(f"{key} was {'removed' if change.removed else 'written'}", tuple(lead), keys=keys, seq=event.seq)


def _occasion(now: SessionView, event: ev.Event, what: str) -> Sequence[Run]:
    """Return what was said before an event, behind `what` happened."""
    said = _utterance(now, event)
    if said is None:
        return (_said(f"{what} before anything was said or written."),)
    verb = "wrote" if said.typed else "said"
    return (_said(f"{what} after you {verb}:"), (f" “{sanitise_line(said.text, _SHOWN)}”", "strong"))


def _utterance(now: SessionView, event: ev.Event) -> Block | None:
    """Return the user's words of the event's turn, else the last ones before it."""
    spoken = [block for block in now.blocks if block.kind == "user" and block.status != NOT_UNDERSTOOD]
    # The words of a turn may come after what the model does with them.
    here = [block for block in spoken if block.turn == event.turn and block.t <= event.t]
    here = here or [block for block in spoken if block.turn == event.turn]
    before = [block for block in spoken if block.seq < event.seq]
    return next(iter(reversed(here or before)), None)


def _inputs(key: str, agent: AgentView) -> Mapping[str, KeyCell]:
    """Return the cells that a computed key reads, as far as the agent declares them."""
    described = unpack(agent.shape) if agent.shape else None
    computed = described.get("computed") if isinstance(described, dict) else None
    for item in computed or ():
        if isinstance(item, dict) and item.get("key") == key:
            names = [plain_key(str(name)) for name in item.get("inputs") or ()]
            return {name: agent.keys[name] for name in names if name in agent.keys}
    return {}


def _said(text: str) -> Run:
    return (sanitise_line(text, 1000), "said")
