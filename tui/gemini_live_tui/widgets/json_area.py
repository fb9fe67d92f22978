"""Edit several lines of text in a screen; pasted text is sanitised, tab leaves."""

from __future__ import annotations

from textual import events
from textual.message import Message
from textual.widgets import TextArea

from gemini_live_runtime.text import sanitise
from gemini_live_tui.widgets.ordered_keys import OrderedKeys


class JsonArea(OrderedKeys, TextArea):
    """Text area without a frame, colours of its own, or a blinking cursor."""

    DEFAULT_CSS = """
    JsonArea, JsonArea:focus {
        height: auto;
        min-height: 3;
        max-height: 8;
        border: none;
        padding: 0;
        background: $background;
        background-tint: $foreground 0%;
        color: $foreground;
        scrollbar-size-vertical: 1;
        & .text-area--cursor-line { background: $background; }
        & .text-area--placeholder { color: $quiet; }
        & .text-area--cursor { background: $foreground; color: $background; text-style: none; }
    }
    """

    class Submitted(Message):
        """Enter was pressed in a text of one line that can be submitted."""

    def __init__(self, text: str = "", *, placeholder: str = "", id: str | None = None) -> None:
        super().__init__(
            text,
            id=id,
            soft_wrap=True,
            tab_behavior="focus",
            highlight_cursor_line=False,
            compact=True,
            placeholder=placeholder,
        )
        self.cursor_blink = False
        self.submits_line = False
        """True while enter submits a text of one line; else it begins another line."""

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "enter" and self.submits_line and self.document.line_count == 1:
            event.stop()
            event.prevent_default()
            self.post_message(self.Submitted())

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        result = self.replace(sanitise(event.text), *self.selection)
        self.move_cursor(result.end_location)
