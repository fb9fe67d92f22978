"""Fold the debugger's edits, breakpoints, holds and marks, and faults of code."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.agent_view import MAX_MARKS, Breakpoint, Hold, Mark
from gemini_live_runtime.journal.fold.fold_parts import MAX_TEXT, Handlers, clean_name, packed_tree, tick
from gemini_live_runtime.journal.fold.marks import marked_at
from gemini_live_runtime.journal.fold.packing import pack
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line

HANDLERS = Handlers()
"""Handlers of the operator's changes and of faults."""

MAX_TARGET = 500
"""Longest target of a breakpoint in characters, the session's own limit."""


@HANDLERS.on(ev.InstructionUpdated)
def _instruction_updated(view: SessionView, event: ev.Event, p: ev.InstructionUpdated) -> Dirty:
    view.agent_view.instruction = pack(p.text)
    return Dirty.PHASE


@HANDLERS.on(ev.EditsApplied)
def _edits_applied(view: SessionView, event: ev.Event, p: ev.EditsApplied) -> Dirty:
    view.agent_view.undo, view.agent_view.redo = p.undo, p.redo
    return Dirty.STATE


@HANDLERS.on(ev.BreakpointsChanged)
def _breakpoints_changed(view: SessionView, event: ev.Event, p: ev.BreakpointsChanged) -> Dirty:
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


@HANDLERS.on(ev.AgentHeld)
def _held(view: SessionView, event: ev.Event, p: ev.AgentHeld) -> Dirty:
    view.agent_view.held = Hold(
        clean_name(p.by), sanitise_line(p.at, MAX_TEXT), event.t, event.seq, p.of, packed_tree(p.explanation)
    )
    tick(view.agent_view, event, "held", p.at)
    return Dirty.HELD | Dirty.HEADER | Dirty.TIMELINE


@HANDLERS.on(ev.AgentHolding)
def _holding(view: SessionView, event: ev.Event, p: ev.AgentHolding) -> Dirty:
    agent = view.agent_view
    if agent.held is not None:
        agent.held = replace(agent.held, answers=p.answers, steps=p.steps, next=sanitise_line(p.next, MAX_TEXT))
    return Dirty.HELD


@HANDLERS.on(ev.AgentReleased)
def _released(view: SessionView, event: ev.Event, p: ev.AgentReleased) -> Dirty:
    view.agent_view.held = None
    return Dirty.HELD | Dirty.HEADER


@HANDLERS.on(ev.MarkSet)
def _mark_set(view: SessionView, event: ev.Event, p: ev.MarkSet) -> Dirty:
    marks = view.agent_view.marks
    marks.append(Mark(marked_at(event, p), event.seq, p.of or event.seq, sanitise_line(p.text, MAX_TEXT)))
    del marks[:-MAX_MARKS]
    return Dirty.TIMELINE


@HANDLERS.on(ev.CodeFailed)
def _faulted(view: SessionView, event: ev.Event, p: ev.CodeFailed) -> Dirty:
    tick(view.agent_view, event, "fault", f"{p.where}: {p.error}")
    return Dirty.TIMELINE


@HANDLERS.on(ev.DeliveryDropped)
def _dropped(view: SessionView, event: ev.Event, p: ev.DeliveryDropped) -> Dirty:
    view.agent_view.dropped += p.count
    return Dirty.METERS
