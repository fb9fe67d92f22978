"""Send the operator's commands about turns: who finds them, and their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, cast

from gemini_live_tui.actions.arguments import DETECTORS

if TYPE_CHECKING:
    from gemini_live_tui.console.command_sender import CommandSender
    from gemini_live_tui.console.notices import Notices


class TurnCommands:
    """Actions on the user's turns."""

    def __init__(self, sender: CommandSender, notices: Notices) -> None:
        self._sender = sender
        self._notices = notices

    def action_commit_turn(self) -> None:
        """End the user's turn now."""
        from gemini_live_runtime.commands import CommitTurn

        self._sender.order(CommitTurn())

    def action_clear_turn(self) -> None:
        """Drop what the user has said in the open turn."""
        from gemini_live_runtime.commands import ClearTurn

        self._sender.order(ClearTurn())

    def action_drain(self) -> None:
        """End the session once all that is owed is said."""
        from gemini_live_runtime.commands import Drain

        self._sender.order(Drain())

    def action_sleep(self) -> None:
        """Close the connection until something is to be said."""
        from gemini_live_runtime.commands import Sleep

        self._sender.order(Sleep())

    def action_set_turns(self, detector: str, seconds: str = "") -> None:
        """Choose who finds the turns, and the silence in seconds that ends one."""
        from gemini_live_runtime.commands import SetOptions

        if detector not in DETECTORS:
            self._notices.say(f"Turns cannot be found by {detector:.40}. Use one of {', '.join(DETECTORS)}.", "warning")
            return
        delay = None
        if seconds:
            try:
                delay = float(seconds)
            except ValueError:
                self._notices.say(f"The silence cannot be {seconds:.40}. Give seconds, such as 0.5.", "warning")
                return
        chosen = cast('Literal["auto", "server", "client", "manual"]', detector)
        self._sender.order(SetOptions(turn_detection=chosen, min_endpointing_delay=delay))
