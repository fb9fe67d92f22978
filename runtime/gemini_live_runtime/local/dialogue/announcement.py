"""Read a notification in a note of the client's, and put it into words.

Clients give a notification as one line of JSON between two tags, as data beside the words that say what to do with it,
and several as lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BLOCK = re.compile(r"^<notification>\n((?:\{.*\}\n)+)</notification>$", re.MULTILINE)

MAX_SPOKEN = 300
"""Characters of a body that are spoken."""

MAX_NAMED = 5
"""Notifications of a digest that are named; the rest is counted."""

_ENDS = {
    "taskSucceeded": "is done",
    "taskFailed": "has failed",
    "taskCancelled": "was cancelled",
    "taskInterrupted": "was interrupted",
}
"""Words for the end of a task, by the kind of its notification."""

_TASK_TITLE = re.compile(r"^Task \w+: ")


def announcement_of(note: str) -> str:
    """Return what to say of the notifications in a note; "" for a note without one."""
    found = _BLOCK.search(note)
    try:
        lines = [json.loads(line) for line in found[1].splitlines()] if found else []
    except (ValueError, RecursionError):
        return ""
    known = [line for line in lines if isinstance(line, Mapping) and _text(line, "title")]
    if len(known) < 2:
        return _announcement(known[0]) if known else ""
    named = [_sentence(f"{what[:1].upper()}{what[1:]}") for what in map(_what, known[:MAX_NAMED])]
    left = len(known) - len(named)
    more = [f"And {left} more."] if left else []
    return " ".join([f"By the way, {len(known)} notifications have come.", *named, *more])


def _announcement(data: Mapping[str, Any]) -> str:
    body, what = _sentence(_text(data, "body")), _what(data)
    if _text(data, "kind") in _ENDS:
        said = f"By the way, {what}"
    else:
        said = f"Your timer is over: {what}" if _text(data, "source") == "timer" else f"By the way: {what}"
    return " ".join(part for part in (_sentence(said), f"{body[:1].upper()}{body[1:]}", _age(data)) if part)


def _what(data: Mapping[str, Any]) -> str:
    """Return what has happened, without an end of the sentence."""
    title, kind = _text(data, "title"), _text(data, "kind")
    if kind not in _ENDS:
        return title
    return f"your request to {_TASK_TITLE.sub('', title).replace('_', ' ')} {_ENDS[kind]}"


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
