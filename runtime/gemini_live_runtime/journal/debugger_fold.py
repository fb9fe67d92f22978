"""The fold of what the operator does into a `AgentView`: edits, breakpoints, holds, marks; and of what went wrong."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.agent_view import MAX_MARKS, Breakpoint, Hold, Mark, pack
from gemini_live_runtime.journal.fold_parts import MAX_TEXT, Handler, clean_name, packed_tree, tick
from gemini_live_runtime.journal.marks import marked_at
from gemini_live_runtime.journal.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line

MAX_TARGET = 500
"""Characters of a breakpoint's target, as many as it may have."""


def instruction_updated(view: SessionView, event: ev.Event, p: ev.InstructionUpdated) -> Dirty:
    """What the model was told to be."""
    view.agent_view.instruction = pack(p.text)
    return Dirty.PHASE


def edits_applied(view: SessionView, event: ev.Event, p: ev.EditsApplied) -> Dirty:
    """How many edits can be taken back and made again."""
    view.agent_view.undo, view.agent_view.redo = p.undo, p.redo
    return Dirty.STATE


def breakpoints_changed(view: SessionView, event: ev.Event, p: ev.BreakpointsChanged) -> Dirty:
    """All of them."""
    view.agent_view.breakpoints = tuple(
        Breakpoint(
            clean_name(str(item.get("id", ""))),
            clean_name(str(item.get("kind", ""))),
            sanitise_line(str(item.get("target", "")), MAX_TARGET),
            bool(item.get("enabled", True)),
            int(item["hits"]) if isinstance(item.get("hits"), int) else 0,
        )
        for item in p.breakpoints
    )
    return Dirty.HELD | Dirty.WATCHERS | Dirty.PHASE | Dirty.STATE


def held(view: SessionView, event: ev.Event, p: ev.AgentHeld) -> Dirty:
    """The agent stands still."""
    view.agent_view.held = Hold(
        clean_name(p.by), sanitise_line(p.at, MAX_TEXT), event.t, event.seq, p.of, packed_tree(p.explanation)
    )
    tick(view.agent_view, event, "held", p.at)
    return Dirty.HELD | Dirty.HEADER | Dirty.TIMELINE


def holding(view: SessionView, event: ev.Event, p: ev.AgentHolding) -> Dirty:
    """What waits."""
    agent = view.agent_view
    if agent.held is not None:
        agent.held = replace(agent.held, answers=p.answers, steps=p.steps, next=sanitise_line(p.next, MAX_TEXT))
    return Dirty.HELD


def released(view: SessionView, event: ev.Event, p: ev.AgentReleased) -> Dirty:
    """The agent goes on."""
    view.agent_view.held = None
    return Dirty.HELD | Dirty.HEADER


def mark_set(view: SessionView, event: ev.Event, p: ev.MarkSet) -> Dirty:
    """A moment to come back to."""
    marks = view.agent_view.marks
    marks.append(Mark(marked_at(event, p), event.seq, p.of or event.seq, sanitise_line(p.text, MAX_TEXT)))
    del marks[:-MAX_MARKS]
    return Dirty.TIMELINE


def faulted(view: SessionView, event: ev.Event, p: ev.CodeFailed) -> Dirty:
    """A fault of the agent's code on the timeline."""
    tick(view.agent_view, event, "fault", f"{p.where}: {p.error}")
    return Dirty.TIMELINE


def dropped(view: SessionView, event: ev.Event, p: ev.DeliveryDropped) -> Dirty:
    """A slow reader lost something."""
    view.agent_view.dropped += p.count
    return Dirty.METERS


HANDLERS: dict[type[ev.Payload], Handler] = {
    ev.InstructionUpdated: instruction_updated,
    ev.EditsApplied: edits_applied,
    ev.BreakpointsChanged: breakpoints_changed,
    ev.AgentHeld: held,
    ev.AgentHolding: holding,
    ev.AgentReleased: released,
    ev.MarkSet: mark_set,
    ev.CodeFailed: faulted,
    ev.DeliveryDropped: dropped,
}
"""What each event does to a view's holds and marks."""
