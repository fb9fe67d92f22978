"""List completions above the prompt, for the command that is being typed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from gemini_live_tui.actions.slash import Suggestion
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.paint import Paint
from gemini_live_tui.painting.painted import strip_of
from gemini_live_tui.painting.wrapping import fit

ROWS = 6
"""Rows of suggestions; the others are reached with the cursor."""


class Completions(Widget):
    """Completions of the prompt, hidden while there are none.

    The list never has the focus: the prompt's keys move in it.
    """

    DEFAULT_CSS = """
    Completions {
        layer: above;
        dock: bottom;
        display: none;
        height: auto;
        border: round $frame;
        border-title-color: $quiet;
        border-title-style: none;
        border-subtitle-color: $quiet;
        border-subtitle-style: none;
        padding: 0 1;
        background: $background;
        color: $foreground;
        &.-ascii { border: ascii $frame; }
    }
    """

    class Chosen(Message):
        """A suggestion was clicked."""

        def __init__(self, suggestion: Suggestion) -> None:
            super().__init__()
            self.suggestion = suggestion

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self.border_title = "Commands"
        self._glyphs = glyphs
        self._paint = Paint(self)
        self._top = 0
        self.suggestions: Sequence[Suggestion] = ()
        self.cursor = -1
        """Index of the suggestion under the cursor; -1 before the cursor was moved."""

    @property
    def open(self) -> bool:
        """True while a suggestion can be taken."""
        return self.display and any(suggestion.text for suggestion in self.suggestions)

    def show(self, suggestions: Sequence[Suggestion], *, below: int) -> None:
        """Show suggestions, or hide when there are none.

        `below` is the number of screen rows that the list is above.
        """
        self.styles.margin = (0, 0, below, 0)
        if suggestions == self.suggestions:
            return
        self.suggestions, self.cursor, self._top = suggestions, -1, 0
        self.set_class(self._glyphs is not UNICODE, "-ascii")
        self.display = bool(suggestions)
        self._tell()
        self.refresh(layout=True)

    def close(self) -> bool:
        """Hide until the suggestions change; return False when nothing was shown."""
        was = bool(self.display)
        self.display = False
        return was

    def move(self, by: int) -> None:
        """Move the cursor; it wraps around at the ends."""
        count = len(self.suggestions)
        self.cursor = (self.cursor + by) % count if self.cursor >= 0 else (0 if by > 0 else count - 1)
        self._top = max(min(self._top, self.cursor), self.cursor - ROWS + 1)
        self._tell()
        self.refresh()

    @property
    def candidate(self) -> Suggestion:
        """Suggestion to take: the one under the cursor, else the likeliest."""
        return self.suggestions[max(0, self.cursor)]

    def _tell(self) -> None:
        dot, count = f" {self._glyphs.separator} ", len(self.suggestions)
        hidden = f"{max(0, self.cursor) + 1} of {count}{dot}" if count > ROWS else ""
        self.border_subtitle = f"{hidden}tab takes{dot}esc closes" if self.open else "esc closes"

    # -- painting ----------------------------------------------------------------------------------------------------

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return one row for each suggestion."""
        return min(ROWS, len(self.suggestions))

    def render_line(self, y: int) -> Strip:
        """Paint label and explanation of one suggestion."""
        width, at = self.size.width, self._top + y
        if not 0 <= at < len(self.suggestions):
            return Strip.blank(width, self.rich_style)
        suggestion = self.suggestions[at]
        ellipsis = self._glyphs.ellipsis
        column = min(max(cell_len(one.label) for one in self.suggestions), max(8, width * 2 // 5))
        label = fit(suggestion.label, column, ellipsis)
        about = fit(suggestion.about, width - column - 2, ellipsis)
        gap = " " * (column - cell_len(label) + 2)
        chosen = at == self.cursor
        looks = ("cursor", "cursor") if chosen else ("key", "quiet")
        segments = [Segment(label + gap, self._paint.style(looks[0])), Segment(about, self._paint.style(looks[1]))]
        base = self._paint.style("cursor") if chosen else self.rich_style
        return strip_of(segments, width, base)

    def notify_style_update(self) -> None:
        """Forget cached rows: their colours changed."""
        super().notify_style_update()
        self._paint.forget()

    # -- the mouse ---------------------------------------------------------------------------------------------------

    def on_click(self, event: events.Click) -> None:
        """Take the suggestion under the pointer."""
        event.stop()
        at = self._top + event.y - self.gutter.top
        if 0 <= at < len(self.suggestions) and self.suggestions[at].text:
            self.post_message(self.Chosen(self.suggestions[at]))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move the cursor down."""
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move the cursor up."""
        event.stop()
        self.move(-1)
