"""Leave the console for a session of the list: a recording, or one to go on with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gemini_live_runtime.journal.sessions.catalog import Entry
    from gemini_live_tui.context import ConsoleContext

_QUESTION = (
    "The call here goes on without a console for up to five minutes, its microphone as it is. This list returns to it."
)


class SessionOpener:
    """Way from the list to a session; during a call, which goes on, it asks first."""

    def __init__(self, console: ConsoleContext, root: Path, say: Callable[[str, str], None]) -> None:
        self._console = console
        self._root = root
        self._say = say

    def open(self, entry: Entry | None) -> None:
        """Replay a session, or return to it while it runs."""
        running = entry is not None and entry.running
        self._go_to(entry, self._console.leave_for_session if running else self._console.leave_for)

    def resume(self, entry: Entry | None) -> None:
        """Go on with a session, in the engine that runs it or in another."""
        self._go_to(entry, self._console.leave_for_session)

    def _go_to(self, entry: Entry | None, leave: Callable[[Path], None]) -> None:
        console = self._console
        if entry is None:
            self._say("There is no session here.", "info")
        elif entry.problem:
            self._say(f"It cannot be shown. {entry.problem}", "warning")
        elif not console.over and entry.id == console.store.view.session_id:
            self._say("This console is in that session: esc goes back to it.", "info")
        elif console.over:
            leave(self._root / entry.id)
        elif console.why_not_detach:
            self._say(f"A call goes on here. {console.why_not_detach}", "warning")
        else:
            self._ask(lambda: leave(self._root / entry.id))

    def _ask(self, leave: Callable[[], None]) -> None:
        from gemini_live_tui.dialogs.confirm import ConfirmScreen

        def decide(agreed: bool | None) -> None:
            if agreed:
                leave()

        self._console.screen.app.push_screen(ConfirmScreen(_QUESTION, "goes to the session"), decide)
