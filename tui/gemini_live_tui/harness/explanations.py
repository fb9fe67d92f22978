"""Explain tasks, notifications and memories in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.harness.items import NotificationItem, TaskItem
from gemini_live_tui.painting.formatting import age_text, date_clock_text, seconds_text
from gemini_live_tui.panes.why_rows import Reason

if TYPE_CHECKING:
    from gemini_live_runtime.harness.memory import MemoryRecord
    from gemini_live_tui.painting.runs import Run

_WAITS = {
    "the user is speaking": "You are speaking, and are not interrupted for it.",
    "the model is speaking": "The model is speaking; it follows in the next pause.",
    "a tool is running": "A tool is running, and its result comes first.",
    "the user is to be answered first": "You are to be answered first.",
    "the user may still be answered": "Your voice has ended, and the model may still answer it.",
    "a short silence is awaited": "A short silence is awaited, in which you may still want to speak.",
    "another notification is being announced": "Another notification is being announced, and one is at a time.",
    "something else is to be said first": "Something else is to be said first.",
    "others are before it": "Others are before it: each source has its turn, its oldest notification first.",
    "there is no connection": "There is no connection to the model.",
    "the session is dormant": "The session is dormant; it wakes for it.",
    "the agent is held": "The agent is held at a breakpoint or a pause; continue to go on.",
    "the agent is deciding": "The agent is deciding something.",
    "the session is ending": "The session is ending; the next one announces it.",
}
"""Sentences for the reasons that the engine gives."""


def reason_of_notification(item: NotificationItem, now: float) -> Reason:
    """Explain why a notification waits, or what became of it. `now` is Unix seconds."""
    since = f"It was queued at {date_clock_text(item.created, now)}, {age_text(max(0.0, now - item.created))}"
    lines = [_quiet(since + (f", by {item.source}." if item.source else "."))]
    match item.status:
        case "queued":
            lines += [_said(sentence) for sentence in _why_it_waits(item, now)]
            title = f"{item.title} waits"
        case "delivered":
            who = f"The engine {item.deliverer}" if item.deliverer else "The model"
            lines.append(_said(f"{who} is announcing it. Heard to its end, it counts as told."))
            title = f"{item.title} is announced"
        case "acknowledged" if item.attempts and item.told is not None:
            title = f"{item.title} was told"
            lines.append(_said(f"The model announced it at {date_clock_text(item.told, now)}."))
            lines.append(
                _said(f"It was closed at {date_clock_text(item.changed, now)}: heard to its end, or dismissed by hand.")
            )
        case "acknowledged":
            title = f"{item.title} was dismissed"
            lines.append(
                _said(f"It was dismissed at {date_clock_text(item.changed, now)}, before the model announced it.")
            )
        case "expired":
            title = f"{item.title} expired"
            lines.append(_said(f"It was never told: {item.reason or 'its time is over'}."))
        case _:
            title = f"{item.title} was given up"
            lines.append(
                _said(f"It was given up at {date_clock_text(item.changed, now)}: {item.reason or 'nobody heard it'}.")
            )
    if item.attempts and item.status not in ("acknowledged", "failed"):
        times = "once" if item.attempts == 1 else f"{item.attempts} times"
        lines.append(_quiet(f"The model has begun it {times}; after five times it is given up."))
    if item.expires is not None and item.is_open:
        lines.append(_quiet(f"It is dropped at {date_clock_text(item.expires, now)} if it was not told by then."))
    if item.body:
        lines += [_quiet(""), _said(sanitise_line(item.body, 600))]
    return Reason(title, tuple(lines))


def _why_it_waits(item: NotificationItem, now: float) -> list[str]:
    if item.due is not None and item.due > now:
        return [f"It is due at {date_clock_text(item.due, now)}, and waits until then."]
    if not item.has_deliverer:
        return ["No session announces notifications now. The next one does."]
    if item.deliverer:
        return [f"The engine {item.deliverer} announces the notifications of these records, and this one does not."]
    reason = item.reason
    if item.retry is not None:
        why = item.lost or reason.partition(", since ")[2]
        after = f": the last time {why}" if why else ""
        wait_s = math.ceil(item.retry - now)
        return [f"It is tried again {f'in {wait_s} s' if wait_s > 0 else 'now'}{after}."]
    if not reason:
        return ["Nothing is in its way: the model is about to be asked."]
    return [_WAITS.get(reason, f"It waits because of this: {reason}.")]


def reason_of_task(item: TaskItem, now: float) -> Reason:
    """Explain what a task does, or how it ended. `now` is Unix seconds."""
    lines = [_quiet(f"It began at {date_clock_text(item.start, now)}, {age_text(max(0.0, now - item.start))}.")]
    if not item.is_running:
        took = seconds_text((item.end or now) - item.start)
        lines.append(_said(f"It {_ENDS.get(item.status, item.status)} after {took}."))
    elif item.is_here:
        lines.append(_said("It runs in this session; the conversation goes on meanwhile."))
    elif not item.is_recorded:
        lines.append(_said("It was running at this moment."))
    elif item.lives:
        pid = "" if item.pid is None else f", process {item.pid}"
        lines.append(_said(f"It runs in another program{pid}. That is asked when you cancel it."))
    else:
        lines.append(_said("Its program has ended. The next look interrupts it."))
    if item.is_running and item.fraction is not None:
        lines.append(_said(f"{item.fraction:.0%} are done{': ' + item.text if item.text else ''}."))
    elif item.text:
        lines.append(_said(item.text))
    if item.is_running and item.limit is not None:
        lines.append(_quiet(f"It may run until {date_clock_text(item.limit, now)}, its time limit."))
    if not item.is_end_recorded:
        lines.append(_said("The disk refuses its end, which is tried again until the session ends."))
    if not item.is_recorded:
        lines.append(_quiet("It has no record here: only what the session told of it is known."))
    return Reason(f"{item.tool}: {item.status}", tuple(lines))


_ENDS = {
    "succeeded": "succeeded",
    "failed": "failed",
    "cancelled": "was cancelled",
    "interrupted": "was interrupted: its program ended first",
}


def reason_of_memory(memory: MemoryRecord, now: float) -> Reason:
    """Explain who wrote a memory. `now` is Unix seconds."""
    origin = memory.provenance
    changed, created = memory.updated_at_ms / 1000, memory.created_at_ms / 1000
    who = {"operator": "You, or a user of the command line,", "model": "A model", "program": "A program"}
    author = "Somebody unknown" if origin is None else who.get(origin.author.value, origin.author.value)
    lines = [_said(f"{author} wrote it at {date_clock_text(changed, now)}, {age_text(max(0.0, now - changed))}.")]
    if created != changed:
        lines.append(_quiet(f"It is known since {date_clock_text(created, now)}."))
    if origin is not None:
        parts = [
            f"agent {origin.agent}" if origin.agent else "",
            f"session {origin.session_id}" if origin.session_id else "",
            f"turn {origin.turn}" if origin.turn is not None else "",
        ]
        if any(parts):
            lines.append(_quiet(f"In {', '.join(part for part in parts if part)}."))
        if origin.text:
            lines.append(_said(f"Words of the user before that: {origin.text}"))
    if not memory.is_trusted:
        lines.append(_quiet("What a model wrote may repeat a stranger's words: agents are told it as data."))
    return Reason(f"{memory.scope}/{memory.key}", tuple(lines))


def _said(text: str) -> Sequence[Run]:
    return [(sanitise_line(text, 1000), "said")]


def _quiet(text: str) -> Sequence[Run]:
    return [(sanitise_line(text, 1000), "quiet")]
