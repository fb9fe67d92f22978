"""Edit the message to send: several lines, with a history and completions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import TextArea

from gemini_live_runtime.text import sanitise
from gemini_live_tui.actions import bindings, in_scope
from gemini_live_tui.actions.keymap import keys_of
from gemini_live_tui.actions.slash import SLASH, Suggestion, is_command
from gemini_live_tui.console.completions import Completions
from gemini_live_tui.messages import TextSubmitted
from gemini_live_tui.widgets.ordered_keys import OrderedKeys

MAX_HISTORY = 200


class Prompt(OrderedKeys, TextArea):
    """Text to send. What cannot be sent is given back, so nothing typed is lost."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("prompt")]
    DEFAULT_CSS = """
    Prompt {
        height: auto;
        max-height: 5;
        width: 1fr;
        border: none;
        padding: 0;
        background: $background;
        color: $foreground;
        scrollbar-size-vertical: 1;
        &:focus { border: none; background-tint: $foreground 0%; }
        .text-area--cursor-line { background: $background; }
        .text-area--placeholder { color: $quiet; }
        .text-area--cursor { background: $foreground; color: $background; text-style: none; }
        &:light .text-area--cursor { background: $foreground; color: $background; }
    }
    """

    def __init__(
        self,
        completions: Completions,
        *,
        keymap: Mapping[str, str],
        suggest: Callable[[str], Sequence[Suggestion]],
        id: str | None = None,
    ) -> None:
        """`suggest` returns completions of the text written so far."""
        super().__init__(id=id, soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False, compact=True)
        # A blinking cursor would repaint an idle console twice a second.
        self.cursor_blink = False
        self._own_keys = {key: action.action for action in in_scope("prompt") for key in keys_of(action, keymap)}
        self._completions = completions
        self._suggest = suggest
        self.past: list[str] = []
        self._place = 0
        self._draft = ""

    @property
    def jump_title(self) -> str:
        """Name in the jump overlay."""
        return "Prompt"

    def jump(self) -> None:
        """Focus the prompt."""
        self.focus()

    def give_back(self, text: str) -> bool:
        """Put back a text that was not sent.

        Return False when something else is being written; the history has the text.
        """
        if self.text.strip():
            return False
        self.text = text
        self.move_cursor(self.document.end)
        self._place = len(self.past)
        return True

    def begin(self, text: str) -> None:
        """Replace the text, which stays in the history."""
        self._remember(self.text)
        self._recall(text)

    def end_command(self) -> None:
        """Remove a slash behind which nothing was written."""
        if self.text == SLASH:
            self.clear()

    def show_suggestions(self) -> None:
        """Update the completions for the text."""
        frame = self.parent
        below = self.screen.size.height - frame.region.y if isinstance(frame, Widget) else 0
        self._completions.show(self._suggest(self.text) if self.has_focus else (), below=below)

    def on_text_area_changed(self) -> None:
        """Update the completions."""
        self.show_suggestions()

    def on_focus(self) -> None:
        """Show the completions."""
        self.show_suggestions()

    def on_blur(self) -> None:
        """Hide the completions."""
        self.show_suggestions()

    async def _on_key(self, event: events.Key) -> None:
        """Handle the prompt's own keys in the order of typing.

        So none overtakes a letter.
        """
        action = self._own_keys.get(event.key)
        if action is not None:
            event.prevent_default()
            if await self.app.run_action(action, self):
                event.stop()

    async def _on_paste(self, event: events.Paste) -> None:
        """Sanitise pasted text: it may hold escape sequences."""
        event.stop()
        event.prevent_default()
        result = self.replace(sanitise(event.text), *self.selection)
        self.move_cursor(result.end_location)
        self.focus()

    def action_send(self) -> None:
        """Send the text; with the cursor on a suggestion, take that first."""
        if self._suggesting() and self._completions.cursor >= 0:
            chosen = self._completions.candidate
            self.take(chosen)
            if not chosen.whole:
                return
        text = self.text
        if not text.strip():
            return
        self._remember(text)
        self.clear()
        self.post_message(TextSubmitted(text))

    def _remember(self, text: str) -> None:
        if text.strip() and (not self.past or self.past[-1] != text):
            self.past.append(text)
            del self.past[:-MAX_HISTORY]
        self._place, self._draft = len(self.past), ""

    def _suggesting(self) -> bool:
        """Return True when a suggestion fits the present text.

        Several letters may have arrived since the list was updated.
        """
        self.show_suggestions()
        return self._completions.open

    def take(self, suggestion: Suggestion) -> None:
        """Complete the text with a suggestion."""
        if suggestion.text:
            self.text = suggestion.text
            self.move_cursor(self.document.end)
            self.show_suggestions()

    def action_complete(self) -> None:
        """Take a suggestion; outside a command, leave the key to the focus."""
        if self._suggesting():
            self.take(self._completions.candidate)
        elif not is_command(self.text):
            raise SkipAction

    def action_newline(self) -> None:
        """Insert a line break."""
        self.move_cursor(self.replace("\n", *self.selection).end_location)

    def action_history_previous(self) -> None:
        """Show an earlier message from the first row; elsewhere move up."""
        if self._suggesting():
            self._completions.move(-1)
            return
        if not self.cursor_at_first_line or not self._place:
            self.action_cursor_up()
            return
        if self._place >= len(self.past):
            self._draft = self.text
        self._place -= 1
        self._recall(self.past[self._place])

    def action_history_next(self) -> None:
        """Show a later message from the last row; elsewhere move down."""
        if self._suggesting():
            self._completions.move(1)
            return
        if not self.cursor_at_last_line or self._place >= len(self.past):
            self.action_cursor_down()
            return
        self._place += 1
        self._recall(self.past[self._place] if self._place < len(self.past) else self._draft)

    def _recall(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)
