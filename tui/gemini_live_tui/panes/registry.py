"""The bodies of the desk's panes, besides the transcript."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.widget import Widget

from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.settings import ConsoleSettings


def bodies(settings: ConsoleSettings) -> Mapping[str, Callable[[], Widget]]:
    """What makes each pane's body, by the pane's id. A body has that id, too, and `bindings` of that scope."""
    from gemini_live_tui.panes.events import Events
    from gemini_live_tui.panes.latency import Latency
    from gemini_live_tui.panes.logs import Logs
    from gemini_live_tui.panes.phase import PhasePane
    from gemini_live_tui.panes.state import StatePane
    from gemini_live_tui.panes.timeline import Timeline
    from gemini_live_tui.panes.tools import Tools
    from gemini_live_tui.panes.watchers import WatchersPane

    signs = glyphs(settings.ascii)
    return {
        "phase": lambda: PhasePane(glyphs=signs),
        "watchers": lambda: WatchersPane(glyphs=signs),
        "state": lambda: StatePane(glyphs=signs, memory=settings.memory),
        "timeline": lambda: Timeline(id="timeline", glyphs=signs),
        "latency": lambda: Latency(id="latency", glyphs=signs),
        "tools": lambda: Tools(id="tools", glyphs=signs),
        "events": lambda: Events(id="events", glyphs=signs),
        "logs": lambda: Logs(id="logs", glyphs=signs),
    }
