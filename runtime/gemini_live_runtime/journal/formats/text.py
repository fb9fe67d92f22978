"""A session as lines of text, as `replay --plain --times` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from gemini_live_runtime.journal.agent_lines import agent_lines
from gemini_live_runtime.journal.formats.base import ExportSource
from gemini_live_runtime.journal.plain import PlainWriter


def text(material: ExportSource) -> Iterator[bytes]:
    """UTF-8, a paragraph a line, further lines of it indented."""
    window = material.window
    writer = PlainWriter(times=True, within=None if window.whole else window.covers, agent=agent_lines("mind"))
    for event in material.events():
        for line in writer.feed(event):
            yield f"{line}\n".encode("utf-8", "replace")
    for line in writer.rest():
        yield f"{line}\n".encode("utf-8", "replace")
