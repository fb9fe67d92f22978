"""Send the operator's commands and say why one cannot be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_tui.session_data.store import NotSent

if TYPE_CHECKING:
    from textual.screen import Screen

    from gemini_live_runtime.commands import Order
    from gemini_live_tui.console.notices import Notices
    from gemini_live_tui.context import ConsoleContext

CHANGING = ("state.edit", "state.undo", "state.redo", "phase.go", "watcher.switch", "watcher.fire")
"""Commands that change what the panes show of the agent."""


class CommandSender:
    """Sender of commands; in a recording it sends none."""

    def __init__(self, console: ConsoleContext, screen: Screen[None], notices: Notices) -> None:
        self._console = console
        self._screen = screen
        self._notices = notices

    def order(self, order: Order) -> str:
        """Send a command and return its id; "" after showing why it cannot be sent."""
        if self._console.settings.replay:
            self._notices.say("This is a recording: nothing can be changed.", passing=True)
            return ""
        if order.command in CHANGING and self._screen.is_active:
            self._notices.say_past_note()
        try:
            return self._console.send(order)
        except NotSent as error:
            self._notices.say(str(error), "warning", passing=True)
            return ""
