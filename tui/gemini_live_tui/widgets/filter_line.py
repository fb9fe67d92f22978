"""Filter a pane's list; the line is visible while it is edited or in use."""

from __future__ import annotations

from textual import events
from textual.message import Message

from gemini_live_tui.widgets.line_input import LineInput


class FilterLine(LineInput):
    """Filter line. Enter and down go to the list, escape clears the filter."""

    DEFAULT_CSS = """
    FilterLine { display: none; }
    FilterLine.-used { display: block; }
    """

    class Left(Message):
        """The operator left the line."""

    leaving = "Clear filter"
    """Title of what escape does, for the key bar."""

    def __init__(self, *, placeholder: str = "filter", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, max_length=200, select_on_focus=True, id=id)

    @property
    def in_use(self) -> bool:
        """True while the line is shown."""
        return self.has_class("-used")

    def begin(self) -> None:
        """Show and focus the line."""
        self.add_class("-used")
        # At once: letters may follow that were typed together with the key.
        self.screen.set_focus(self)

    def leave(self, *, clear: bool = False) -> None:
        """Go back to the list; hide an empty filter."""
        if clear:
            self.value = ""
        self.set_class(bool(self.value), "-used")
        self.post_message(self.Left())

    def on_key(self, event: events.Key) -> None:
        """Leave with enter and down, clear with escape."""
        if event.key in ("enter", "down", "escape"):
            event.stop()
            event.prevent_default()
            self.leave(clear=event.key == "escape")
