"""Read a notification in a note of the client's, and put it into words.

Clients give a notification as one line of JSON between two tags, as data beside the words that say what to do with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BLOCK = re.compile(r"^<notification>\n(\{.*\})\n</notification>$", re.MULTILINE)

MAX_SPOKEN = 300
"""Characters of a body that are spoken."""

_ENDS = {
    "taskSucceeded": "is done",
    "taskFailed": "has failed",
    "taskCancelled": "was cancelled",
    "taskInterrupted": "was interrupted",
}
"""Words for the end of a task, by the kind of its notification."""

_TASK_TITLE = re.compile(r"^Task \w+: ")


def announcement_of(note: str) -> str:
    """Return what to say of the notification in a note; "" for a note without one."""
    found = _BLOCK.search(note)
    try:
        data = json.loads(found[1]) if found else None
    except (ValueError, RecursionError):
        return ""
    if not isinstance(data, Mapping) or not (title := _text(data, "title")):
        return ""
    kind, body = _text(data, "kind"), _sentence(_text(data, "body"))
    if kind in _ENDS:
        what = _TASK_TITLE.sub("", title).replace("_", " ")
        said = f"By the way, the task {what} {_ENDS[kind]}"
    else:
        said = f"Your timer is over: {title}" if _text(data, "source") == "timer" else f"By the way: {title}"
    return " ".join(part for part in (_sentence(said), f"{body[:1].upper()}{body[1:]}", _age(data)) if part)


def _age(data: Mapping[str, Any]) -> str:
    if queued := _text(data, "queued"):
        return f"That was {queued}."
    due = _text(data, "due")
    return f"It was due {due}." if due not in ("", "now") else ""


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name)
    return " ".join(value.split())[:MAX_SPOKEN] if isinstance(value, str) else ""


def _sentence(text: str) -> str:
    return text if not text or text[-1] in ".!?…" else f"{text}."
