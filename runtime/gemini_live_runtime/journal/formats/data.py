"""A session as one JSON object: what happened, event by event, and what a display knew at the end of it.

    {"format": "gemini-live-tui/export", "version": 1,
     "session": {"id", "title", "seconds", "turns"},
     "range": {"words", "stretches", "turn"}, "redacted": true,
     "events": [...], "view": {...}}

`events` are those of the range in the form of the session's own file (see docs/events.md), one on a line. `view` is the
fold of everything up to the last of them, a `SessionView`. The file is ASCII.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from gemini_live_runtime.journal.fold import apply
from gemini_live_runtime.journal.formats.base import ExportSource
from gemini_live_runtime.journal.view import SessionView

FORMAT = "gemini-live-tui/export"
VERSION = 1


def data(material: ExportSource) -> Iterator[bytes]:
    """The object, its events one on a line."""
    window, extent = material.window, material.extent
    head = {
        "format": FORMAT,
        "version": VERSION,
        "session": {"id": material.name, "title": material.title, "seconds": extent.end, "turns": len(extent.turns)},
        "range": {"words": window.words, "stretches": window.stretches, "turn": window.turn},
        "redacted": material.redaction is not None,
    }
    yield json.dumps(head)[:-1].encode() + b',\n"events": ['
    # The view is that of the last event in the range: how it stood there, not how the session went on.
    view, behind = SessionView(), []
    between = b"\n"
    for event in material.events():
        behind.append(event)
        if window.covers(event.t, event.turn):
            for earlier in behind:
                apply(view, earlier)
            behind.clear()
            yield between + event.to_line().encode("ascii", "backslashreplace")
            between = b",\n"
    yield b'\n],\n"view": ' + json.dumps(view.to_json()).encode() + b"}\n"
