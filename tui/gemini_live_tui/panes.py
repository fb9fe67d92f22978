"""The bodies of the desk's panes, besides the transcript."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from textual.widget import Widget

from gemini_live_tui.settings import ConsoleSettings


def bodies(settings: ConsoleSettings) -> Mapping[str, Callable[[], Widget]]:
    """What makes each pane's body, by the pane's id. A body has that id, too, and `bindings` of that scope."""
    return {}
