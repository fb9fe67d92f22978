"""Format a session as one JSON object: its events, and the view after the last.

    {"format": "gemini-live-tui/export", "version": 1,
     "session": {"id", "title", "seconds", "turns", "missing"},
     "range": {"words", "stretches", "turn"}, "redacted": true,
     "events": [...], "view": {...}}

`events` are those of the range in the form of the session's own file (see docs/events.md), one on a line. `view` is the
fold of everything up to the last of them, a `SessionView`. `missing` names the parts that the run lacks to be complete,
null while it goes on. The file is UTF-8 without control characters.
"""

from __future__ import annotations

from collections.abc import Iterator

from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.formats.base import ExportSource
from gemini_live_runtime.json_values import encode_line

FORMAT = "gemini-live-tui/export"
VERSION = 1


def data(material: ExportSource) -> Iterator[bytes]:
    """Yield the object, one event a line."""
    window, extent = material.window, material.extent
    missing = None if material.completion is None else material.completion.parts
    session = {"id": material.name, "title": material.title, "seconds": extent.end, "turns": len(extent.turns)}
    head = {
        "format": FORMAT,
        "version": VERSION,
        "session": {**session, "missing": missing},
        "range": {"words": window.words, "stretches": window.stretches, "turn": window.turn},
        "redacted": material.redaction is not None,
    }
    yield encode_line(head)[:-1].encode() + b',\n"events": ['
    # The view must be that of the last event in the range, which is only known when no later one comes: events after
    # it wait in `behind`.
    view, behind = SessionView(), []
    between = b"\n"
    for event in material.events():
        behind.append(event)
        if window.covers(event.t, event.turn):
            for earlier in behind:
                apply(view, earlier)
            behind.clear()
            yield between + event.to_line().encode()
            between = b",\n"
    yield b'\n],\n"view": ' + encode_line(view.to_json()).encode() + b"}\n"
