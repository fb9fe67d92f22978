"""Make the panes' bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from textual.widget import Widget

from gemini_live_tui.painting.glyphs import glyphs

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext


def bodies(console: ConsoleContext) -> Mapping[str, Widget]:
    """Return a new body for each pane but the transcript, by the pane's id.

    A body has that id, too, and the key bindings of that scope.
    """
    from gemini_live_tui.harness.pane import TasksPane
    from gemini_live_tui.panes.events import Events
    from gemini_live_tui.panes.latency import Latency
    from gemini_live_tui.panes.logs import Logs
    from gemini_live_tui.panes.phase import PhasePane
    from gemini_live_tui.panes.state import StatePane
    from gemini_live_tui.panes.timeline import Timeline
    from gemini_live_tui.panes.tools import Tools
    from gemini_live_tui.panes.watchers import WatchersPane

    signs = glyphs(console.settings.ascii)
    return {
        "phase": PhasePane(glyphs=signs),
        "watchers": WatchersPane(glyphs=signs),
        "state": StatePane(glyphs=signs, memory=console.settings.memory),
        "timeline": Timeline(id="timeline", glyphs=signs),
        "latency": Latency(id="latency", glyphs=signs),
        "tools": Tools(id="tools", glyphs=signs),
        "events": Events(id="events", glyphs=signs),
        "logs": Logs(id="logs", glyphs=signs),
        "tasks": TasksPane(console, glyphs=signs),
    }
