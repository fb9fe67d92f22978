"""Format a session as lines of text, like `replay --plain --times`."""

from __future__ import annotations

from collections.abc import Iterator

from gemini_live_runtime.journal.agent_lines import agent_lines
from gemini_live_runtime.journal.formats.base import ExportSource
from gemini_live_runtime.journal.plain import PlainWriter


def text(material: ExportSource) -> Iterator[bytes]:
    """Yield UTF-8 lines, further lines of a paragraph indented."""
    window = material.window
    writer = PlainWriter(times=True, within=None if window.whole else window.covers, agent=agent_lines("decisions"))
    for event in material.events():
        for line in writer.feed(event):
            yield f"{line}\n".encode("utf-8", "replace")
    lines = writer.rest()
    if material.completion is not None and window.whole:
        lines += writer.completed(material.completion)
    for line in lines:
        yield f"{line}\n".encode("utf-8", "replace")
