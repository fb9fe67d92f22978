"""Give escape a single effect in each place, and name it for the key bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.view import Dirty

if TYPE_CHECKING:
    from gemini_live_tui.console.completions import Completions
    from gemini_live_tui.console.conversation import Conversation
    from gemini_live_tui.console.pane_grid import PaneGrid
    from gemini_live_tui.console.prompt_pane import PromptPane
    from gemini_live_tui.console.utterance_sound import UtteranceSound
    from gemini_live_tui.session_data.store import Store
    from gemini_live_tui.widgets.filter_line import FilterLine


class EscapeKey:
    """Effect of escape on the main screen.

    It closes an open list of completions, clears the filter line that has the cursor, and else stops what is heard.
    While nothing is, it clears the filter line of the focused pane. It neither leaves the prompt nor closes a message.
    """

    def __init__(
        self,
        store: Store,
        grid: PaneGrid,
        prompt_pane: PromptPane,
        completions: Completions,
        conversation: Conversation,
        utterance_sound: UtteranceSound,
    ) -> None:
        self._store = store
        self._grid = grid
        self._prompt_pane = prompt_pane
        self._completions = completions
        self._conversation = conversation
        self._utterance_sound = utterance_sound

    @property
    def title(self) -> str:
        """Title for the key bar; "" when escape stops the speech."""
        if self._completions.suggestions and self._completions.display:
            return "Close list"
        line = self._line
        return line.leaving if line is not None else ""

    @property
    def _line(self) -> FilterLine | None:
        """Filter line that escape clears; None for none."""
        line = self._grid.filter_in_use
        sounds = self._utterance_sound.is_playing or self._conversation.is_answering
        return None if line is None or (sounds and not line.has_focus) else line

    def action_interrupt(self) -> None:
        """Close the list, clear the filter line, or stop the model's speech."""
        if self._completions.close():
            self._prompt_pane.prompt.end_command()
            self._show_keys()
        elif (line := self._line) is not None:
            line.leave(clear=True)
            self._show_keys()
        elif not self._utterance_sound.stop():
            self._conversation.stop_speech()

    def _show_keys(self) -> None:
        self._store.dirty |= Dirty.CONTROLS
        self._store.wake()
