"""What the console's keys for holding, stepping and marking do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from gemini_live_tui.session_data.breakpoints import KINDS, told_change

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.events import Event
    from gemini_live_tui.context import Level
    from gemini_live_tui.session_data.store import Store
    from gemini_live_tui.settings import ConsoleSettings


class HeldActions:
    """A part of the console screen."""

    if TYPE_CHECKING:
        _store: Store
        _settings: ConsoleSettings

        @property
        def in_front(self) -> bool:
            """Whether no room is open."""
            ...

        def order(self, order: Order) -> str:
            """Send a command; its id, "" when it did not go out."""
            ...

        def open_room(self, name: str) -> None:
            """Open a room."""
            ...

        def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
            """Show a message."""
            ...

    def attend_breakpoints(self) -> None:
        """Say what becomes of breakpoints, where no room shows it."""
        from gemini_live_runtime.events import BreakpointsChanged

        def changed(event: Event) -> None:
            if isinstance(event.payload, BreakpointsChanged) and self.in_front:
                told = told_change(self._store.view.agent_view.breakpoints, event.payload.breakpoints)
                if told:
                    self.say(told, passing=True)

        self._store.listen(BreakpointsChanged, changed)

    def action_hold_or_go_on(self) -> None:
        """Hold the agent, or let a held one go on."""
        from gemini_live_runtime.commands import HoldAgent, ReleaseAgent

        self.order(HoldAgent() if self._store.view.agent_view.held is None else ReleaseAgent())

    def action_go_on(self) -> None:
        """Let a held agent go on."""
        from gemini_live_runtime.commands import ReleaseAgent

        self.order(ReleaseAgent())

    def action_step(self, how: Literal["event", "turn"]) -> None:
        """Let a held agent go on for a while."""
        from gemini_live_runtime.commands import ReleaseAgent

        self.order(ReleaseAgent(how=how))

    def action_mark(self) -> None:
        """Ask for a note to the moment that is shown."""
        if self._settings.replay or not self._store.live:
            self.say("There is no session going on to mark a moment in.", passing=True)
        else:
            self.open_room("mark")

    def action_set_mark(self, text: str = "") -> None:
        """Mark the moment that is shown, with a note or without one."""
        from gemini_live_runtime.commands import SetMark

        seq, t = self._store.moment
        self.order(SetMark(text=text, of=seq, t=None if self._store.cursor.seq is None else t))

    def action_set_break(self, kind: str, target: str) -> None:
        """Hold the agent at something of a kind."""
        from gemini_live_runtime.commands import SetBreakpoint

        known = next((one for one in KINDS if one == kind), None)
        if known is None:
            self.say(f"Write one of {', '.join(KINDS)}, not {kind[:20]!r}.", "warning", passing=True)
        else:
            self.order(SetBreakpoint(kind=known, target=target))
