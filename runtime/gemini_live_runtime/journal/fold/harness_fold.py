"""Fold tasks, notifications and memory."""

from __future__ import annotations

from dataclasses import replace

from gemini_live_runtime import events as ev
from gemini_live_runtime.journal.fold.blocks import open_block
from gemini_live_runtime.journal.fold.fold_parts import MAX_TEXT, Handlers, clean_name, tick
from gemini_live_runtime.journal.fold.harness_view import (
    MAX_MEMORIES,
    MAX_NOTIFICATIONS,
    MAX_TASKS,
    MemoryCard,
    NotificationCard,
    TaskCard,
)
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise, sanitise_line

HANDLERS = Handlers()
"""Handlers of work that outlives the moment."""

_LEVELS = {"succeeded": "info", "cancelled": "info"}
_MAX_CHARS = 1000


@HANDLERS.on(ev.TaskChanged)
def _task_changed(view: SessionView, event: ev.Event, p: ev.TaskChanged) -> Dirty:
    tasks = view.harness.tasks
    ident = clean_name(p.task_id)
    text = sanitise_line(p.text, MAX_TEXT)
    card = tasks.get(ident)
    is_new = card is None
    if card is None:
        card = TaskCard(clean_name(p.tool), event.t, event.turn, event.seq)
    if card.end is not None and p.status == card.status:
        # The disk has taken the end that was told before.
        tasks[ident] = replace(card, is_recorded=p.recorded)
        return Dirty.HARNESS
    end = None if p.status == "running" else event.t
    is_recorded = p.recorded or end is None
    tasks[ident] = replace(card, status=p.status, fraction=p.fraction, text=text, end=end, is_recorded=is_recorded)
    while len(tasks) > MAX_TASKS:
        del tasks[next((key for key, other in tasks.items() if other.end is not None), next(iter(tasks)))]
    if end is None:
        if is_new:
            tick(view.agent_view, event, "task", f"{card.tool} goes on as a task")
        return Dirty.HARNESS | Dirty.HEADER | (Dirty.TIMELINE if is_new else Dirty.NONE)
    tick(view.agent_view, event, "task", f"{card.tool}: {p.status}")
    told = f"The task {p.tool} {_WORDS[p.status]}" + (f": {p.text}" if p.text else "")
    detail = "" if p.recorded else "Its end is not recorded yet: the disk refuses it"
    open_block(
        view,
        event,
        "notice",
        text=sanitise_line(told, _MAX_CHARS),
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
    open_block(view, event, "notice", text=sanitise_line(told, _MAX_CHARS), status="info", done=True)
    tick(view.agent_view, event, "task", told)
    return Dirty.HARNESS | Dirty.TIMELINE | Dirty.TRANSCRIPT | Dirty.NOTICES


@HANDLERS.on(ev.NotificationChanged)
def _notification_changed(view: SessionView, event: ev.Event, p: ev.NotificationChanged) -> Dirty:
    known = view.harness.notifications
    ident, title = clean_name(p.notification_id), sanitise_line(p.title, _MAX_CHARS)
    before = known.get(ident)
    known[ident] = NotificationCard(
        title=title,
        t=event.t if before is None else before.t,
        turn=event.turn,
        seq=event.seq,
        status=p.status,
        body=sanitise(p.body)[:MAX_TEXT],
        kind=sanitise_line(p.kind, 40),
        source=sanitise_line(p.source, 80),
        attempts=p.attempts,
        reason=sanitise_line(p.reason, MAX_TEXT),
        end=None if p.status in ("queued", "delivered") else event.t,
        retry_at=None if p.retry_s is None else event.t + p.retry_s,
    )
    while len(known) > MAX_NOTIFICATIONS:
        del known[next((key for key, other in known.items() if other.end is not None), next(iter(known)))]
    dirty = Dirty.HARNESS | Dirty.HEADER
    if before is not None and before.status == p.status:
        return dirty
    if before is None or p.status != "queued":
        tick(view.agent_view, event, "notification", f"{title}: {_STATES[p.status]}")
        dirty |= Dirty.TIMELINE
    if p.status not in _BLOCKS:
        return dirty
    level, words = _BLOCKS[p.status]
    text = f"{words}: {p.title}" + (f" ({p.reason})" if p.reason else "")
    open_block(view, event, "notice", text=sanitise_line(text, _MAX_CHARS), status=level, done=True)
    return dirty | Dirty.TRANSCRIPT | Dirty.NOTICES


_STATES = {
    "queued": "waits",
    "delivered": "is announced",
    "acknowledged": "was heard, or dismissed",
    "expired": "expired",
    "failed": "was given up",
}

_BLOCKS = {
    "delivered": ("info", "Notification"),
    "expired": ("info", "A notification expired"),
    "failed": ("warning", "A notification was given up"),
}
"""Level and words of statuses that stand in the transcript."""
