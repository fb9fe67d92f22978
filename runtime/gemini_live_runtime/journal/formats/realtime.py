"""Format a session as the records of a realtime controller, one a line."""

from __future__ import annotations

from collections.abc import Iterator

from gemini_live_runtime.journal.formats.base import ExportSource
from gemini_live_runtime.journal.realtime import RealtimeProjection
from gemini_live_runtime.json_values import encode_line


def records(material: ExportSource) -> Iterator[bytes]:
    """Yield the records of the range, counted from the beginning of the session."""
    projection = RealtimeProjection()
    for event in material.events():
        for record in projection.feed(event):
            if material.window.covers(event.t, event.turn):
                yield encode_line(record.to_json()).encode() + b"\n"
