"""Edit one line of text in a screen; pasted text is sanitised."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import Input

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.widgets.ordered_keys import OrderedKeys

_EDITING = {
    key.strip(): binding.action
    for binding in Input.BINDINGS
    if isinstance(binding, Binding)
    for key in binding.key.split(",")
}


class LineInput(OrderedKeys, Input, inherit_bindings=False):
    """Field without a frame and without a blinking cursor.

    A blinking one would repaint an idle screen. Keys that scroll are the screen's: a line does not scroll by them.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*Input.BINDINGS]

    DEFAULT_CSS = """
    LineInput, LineInput:focus {
        height: 1;
        border: none;
        padding: 0;
        background: $background;
        background-tint: $foreground 0%;
        color: $foreground;
        width: 1fr;
        & > .input--placeholder, & > .input--suggestion { color: $quiet; }
        & > .input--cursor { background: $foreground; color: $background; text-style: none; }
    }
    """

    def on_mount(self) -> None:
        """Stop the cursor's blinking."""
        self.cursor_blink = False

    async def _on_key(self, event: events.Key) -> None:
        """Handle editing keys in the order of typing, so that none overtakes a letter."""
        action = _EDITING.get(event.key)
        if action is not None:
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        lines = event.text.splitlines()
        if lines:
            self.replace(sanitise_line(lines[0], self.max_length or 10_000), *self.selection)
