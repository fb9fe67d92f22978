"""Hold the agent, let it go on, set breakpoints and mark moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gemini_live_tui.session_data.breakpoints import KINDS, describe_change

if TYPE_CHECKING:
    from textual.screen import Screen

    from gemini_live_runtime.events import Event
    from gemini_live_tui.console.command_sender import CommandSender
    from gemini_live_tui.console.notices import Notices
    from gemini_live_tui.context import ConsoleContext


class HeldAgent:
    """Commands that hold the agent, let it go on, and mark moments."""

    def __init__(self, console: ConsoleContext, screen: Screen[None], sender: CommandSender, notices: Notices) -> None:
        self._console = console
        self._store = console.store
        self._screen = screen
        self._sender = sender
        self._notices = notices

    def listen(self) -> None:
        """Report changed breakpoints while no other screen is open that shows them."""
        from gemini_live_runtime.events import BreakpointsChanged

        def on_changed(event: Event) -> None:
            if isinstance(event.payload, BreakpointsChanged) and self._screen.is_active:
                change = describe_change(self._store.view.agent_view.breakpoints, event.payload.breakpoints)
                if change:
                    self._notices.say(change, passing=True)

        self._store.listen(BreakpointsChanged, on_changed)

    def action_hold_or_go_on(self) -> None:
        """Hold the agent, or let a held one go on."""
        from gemini_live_runtime.commands import HoldAgent, ReleaseAgent

        self._sender.order(HoldAgent() if self._store.view.agent_view.held is None else ReleaseAgent())

    def action_go_on(self) -> None:
        """Let a held agent go on."""
        from gemini_live_runtime.commands import ReleaseAgent

        self._sender.order(ReleaseAgent())

    def action_step(self, how: Literal["event", "turn"]) -> None:
        """Let a held agent go on for a while."""
        from gemini_live_runtime.commands import ReleaseAgent

        self._sender.order(ReleaseAgent(how=how))

    def action_mark(self) -> None:
        """Ask for a note to the moment that is shown."""
        if self._console.settings.replay or not self._store.live:
            self._notices.say("There is no session going on to mark a moment in.", passing=True)
        else:
            self._console.action_open("mark")

    def action_set_mark(self, text: str = "") -> None:
        """Mark the moment that is shown, with a note or without one."""
        from gemini_live_runtime.commands import SetMark

        seq, t = self._store.moment
        self._sender.order(SetMark(text=text, of=seq, t=None if self._store.cursor.seq is None else t))

    def action_set_break(self, kind: str, target: str) -> None:
        """Hold the agent at something of a kind."""
        from gemini_live_runtime.commands import SetBreakpoint

        known = next((one for one in KINDS if one == kind), None)
        if known is None:
            self._notices.say(f"Write one of {', '.join(KINDS)}, not {kind[:20]!r}.", "warning", passing=True)
        else:
            self._sender.order(SetBreakpoint(kind=known, target=target))
