"""Fold tasks and memory."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.blocks import open_block
from gemini_live_runtime.journal.fold_parts import MAX_TEXT, Handlers, clean_name, tick
from gemini_live_runtime.journal.harness_view import MAX_MEMORIES, MAX_TASKS, MemoryCard, TaskCard
from gemini_live_runtime.journal.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line

HANDLERS = Handlers()
"""Handlers of work that outlives the moment."""

_LEVELS = {"succeeded": "info", "cancelled": "info"}
_LONGEST = 1000


@HANDLERS.on(ev.TaskChanged)
def _task_changed(view: SessionView, event: ev.Event, p: ev.TaskChanged) -> Dirty:
    tasks = view.harness.tasks
    ident = clean_name(p.task_id)
    text = sanitise_line(p.text, MAX_TEXT)
    card = tasks.get(ident)
    is_new = card is None
    if card is None:
        card = TaskCard(clean_name(p.tool), event.t, event.turn, event.seq)
    end = None if p.status == "running" else event.t
    tasks[ident] = replace(card, status=p.status, fraction=p.fraction, text=text, end=end)
    while len(tasks) > MAX_TASKS:
        del tasks[next((key for key, other in tasks.items() if other.end is not None), next(iter(tasks)))]
    if end is None:
        if is_new:
            tick(view.agent_view, event, "task", f"{card.tool} goes on as a task")
        return Dirty.HARNESS | Dirty.HEADER | (Dirty.TIMELINE if is_new else Dirty.NONE)
    tick(view.agent_view, event, "task", f"{card.tool}: {p.status}")
    told = f"The task {p.tool} {_WORDS[p.status]}" + (f": {p.text}" if p.text else "")
    detail = "" if p.recorded else "The disk refused its record"
    open_block(
        view,
        event,
        "notice",
        text=sanitise_line(told, _LONGEST),
        status=_LEVELS.get(p.status, "warning"),
        detail=detail,
        done=True,
    )
    return Dirty.HARNESS | Dirty.HEADER | Dirty.TIMELINE | Dirty.TRANSCRIPT | Dirty.NOTICES


_WORDS = {
    "succeeded": "has succeeded",
    "failed": "has failed",
    "cancelled": "was cancelled",
    "interrupted": "was interrupted",
}


@HANDLERS.on(ev.MemoryChanged)
def _memory_changed(view: SessionView, event: ev.Event, p: ev.MemoryChanged) -> Dirty:
    memories = view.harness.memories
    name = f"{clean_name(p.scope)}/{clean_name(p.key)}"
    memories.pop(name, None)
    value = sanitise_line(p.value, MAX_TEXT)
    memories[name] = MemoryCard(event.t, event.turn, event.seq, p.action, p.by, value)
    while len(memories) > MAX_MEMORIES:
        del memories[next(iter(memories))]
    told = f"Remembered {name}: {value}" if p.action == "put" else f"Forgot {name}"
    open_block(view, event, "notice", text=sanitise_line(told, _LONGEST), status="info", done=True)
    tick(view.agent_view, event, "task", told)
    return Dirty.HARNESS | Dirty.TIMELINE | Dirty.TRANSCRIPT | Dirty.NOTICES
