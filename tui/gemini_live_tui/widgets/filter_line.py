"""The line in a pane on which one writes what is to be listed; it is there while it is written on or in use."""

from __future__ import annotations

from textual import events
from textual.message import Message

from gemini_live_tui.widgets.line_input import LineInput


class FilterLine(LineInput):
    """Filters as one writes. Enter and down go to the list, escape takes the filter away."""

    DEFAULT_CSS = """
    FilterLine { display: none; }
    FilterLine.-used { display: block; }
    """

    class Left(Message):
        """The operator is done with it."""

    def __init__(self, *, placeholder: str = "filter") -> None:
        super().__init__(placeholder=placeholder, max_length=200, select_on_focus=True)

    def begin(self) -> None:
        """Show it and write."""
        self.add_class("-used")
        self.focus()

    def leave(self, *, clear: bool = False) -> None:
        """Go back to the list; an empty filter hides."""
        if clear:
            self.value = ""
        self.set_class(bool(self.value), "-used")
        self.post_message(self.Left())

    def on_key(self, event: events.Key) -> None:
        """Enter and down keep the filter, escape does not."""
        if event.key in ("enter", "down", "escape"):
            event.stop()
            event.prevent_default()
            self.leave(clear=event.key == "escape")
