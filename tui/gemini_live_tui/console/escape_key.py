"""Give escape a single effect in each place, and name it for the key bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.view import Dirty
from gemini_live_tui.widgets.filter_line import FilterLine

if TYPE_CHECKING:
    from textual.screen import Screen

    from gemini_live_tui.console.completions import Completions
    from gemini_live_tui.session_data.store import Store


class EscapeKey:
    """Effect of escape on the main screen.

    It closes an open list of completions, clears a filter line that has the cursor, and else stops the model's speech.
    It neither leaves the prompt nor closes a message.
    """

    def __init__(
        self, screen: Screen[None], store: Store, completions: Completions, stop_speech: Callable[[], None]
    ) -> None:
        self._screen = screen
        self._store = store
        self._completions = completions
        self._stop_speech = stop_speech

    @property
    def title(self) -> str:
        """Title for the key bar; "" when escape stops the speech."""
        if self._completions.suggestions and self._completions.display:
            return "Close list"
        return self._screen.focused.leaving if isinstance(self._screen.focused, FilterLine) else ""

    def action_interrupt(self) -> None:
        """Close the list, clear the filter line, or stop the model's speech."""
        if self._completions.close():
            self._store.dirty |= Dirty.CONTROLS
            self._store.wake()
        elif isinstance(self._screen.focused, FilterLine):
            self._screen.focused.leave(clear=True)
        else:
            self._stop_speech()
