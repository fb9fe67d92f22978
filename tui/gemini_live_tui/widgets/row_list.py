"""Base of lists of rows, of which only those in sight are painted.

A pane sets the ids of its rows and paints a row on request. The cursor stays on its row when rows move.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip

from gemini_live_tui.painting.paint import Paint
from gemini_live_tui.painting.painted import strip_of
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.widgets.scrolled_list import ScrolledList


class RowList(ScrolledList, can_focus=True, inherit_bindings=False):
    """List of one-row items with a cursor, which shows while the list has the focus.

    A pane implements `row_runs`, and calls `set_rows` with the ids of its rows and `touch` when rows may look
    different.
    """

    ALLOW_SELECT = True
    DEFAULT_CSS = """
    RowList {
        height: 1fr;
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    class Opened(Message):
        """The operator pressed enter on a row, or clicked the row under the cursor."""

        def __init__(self, pane: RowList, row: str) -> None:
            super().__init__()
            self.pane = pane
            self.row = row

        @property
        def control(self) -> RowList:
            """List that posted the message."""
            return self.pane

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: Sequence[str] = ()
        self._painted: dict[int, tuple[Run, ...]] = {}
        self._paint = Paint(self)
        self.cursor = 0

    # -- what a pane provides ----------------------------------------------------------------------------------------

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return the runs of a row, at most `width` cells."""
        raise NotImplementedError

    def selectable(self, row: str) -> bool:
        """Return True when the cursor may rest on a row, e.g. not on a heading."""
        return True

    # -- what a pane calls -------------------------------------------------------------------------------------------

    def set_rows(self, rows: Sequence[str]) -> None:
        """List other rows; the cursor stays on its row if that is still there."""
        if rows != self._rows:
            held = self.row_at_cursor
            self._rows = rows
            if held and held in rows:
                self.cursor = rows.index(held)
            else:
                self.cursor = self._nearest(min(self.cursor, max(0, len(rows) - 1)))
            width = max(1, self.scrollable_content_region.width)
            self.set_extent(width, len(rows))
            self.show_bar()
        self.touch()

    def touch(self) -> None:
        """Repaint the rows in sight that look different now."""
        width = self.scrollable_content_region.width
        if width <= 0 or not self.is_attached:
            return
        top, window = round(self.scroll_y), self.window()
        for y in range(window.height):
            runs = self._runs(top + y, width)
            if self._painted.get(top + y) != runs:
                self.refresh(Region(0, y, window.width, 1))

    @property
    def row_at_cursor(self) -> str:
        """Id of the row under the cursor; "" for none."""
        return self._rows[self.cursor] if 0 <= self.cursor < len(self._rows) else ""

    @property
    def rows(self) -> Sequence[str]:
        """Ids of the listed rows."""
        return self._rows

    def go_to(self, row: str) -> bool:
        """Move the cursor to a row and show it; return False when it is not listed."""
        if row not in self._rows:
            return False
        self._put_cursor(self._rows.index(row))
        return True

    # -- moving ------------------------------------------------------------------------------------------------------

    def move(self, step: str) -> None:
        """Move the cursor `up`, `down`, `page_up`, `page_down`, `home` or `end`."""
        page = max(1, self.size.height - 1)
        last = len(self._rows) - 1
        by = {"up": -1, "down": 1, "page_up": -page, "page_down": page, "home": -last, "end": last}[step]
        target = max(0, min(last, self.cursor + by))
        self._put_cursor(self._nearest(target, forward=by > 0))

    def open_row(self) -> None:
        """Post `Opened` for the row under the cursor."""
        if self.row_at_cursor and self.selectable(self.row_at_cursor):
            self.post_message(self.Opened(self, self.row_at_cursor))

    def _nearest(self, index: int, *, forward: bool = True) -> int:
        """Return the nearest selectable row, first in the direction of travel."""
        rows = self._rows
        if not rows:
            return 0
        ahead = range(index, len(rows)) if forward else range(index, -1, -1)
        behind = range(index, -1, -1) if forward else range(index, len(rows))
        return next((at for way in (ahead, behind) for at in way if self.selectable(rows[at])), index)

    def _put_cursor(self, index: int) -> None:
        if not self._rows:
            return
        self.cursor = index
        top, height = round(self.scroll_y), max(1, self.size.height)
        if index < top or index >= top + height:
            first = index if index < top else index - height + 1
            if index <= 2:
                first = 0
            self.scroll_to(y=first, animate=False, immediate=True, force=True)
        self.touch()

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row; the second click opens it."""
        at = round(self.scroll_y) + event.y
        if not 0 <= at < len(self._rows) or not self.selectable(self._rows[at]):
            return
        if at == self.cursor and self.has_focus and event.chain > 1:
            self.open_row()
        else:
            self._put_cursor(at)

    def on_focus(self) -> None:
        """Show the cursor."""
        self.touch()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.touch()

    def on_resize(self) -> None:
        """Paint all rows for the new width."""
        self._painted.clear()
        self.set_extent(max(1, self.scrollable_content_region.width), len(self._rows))
        self.show_bar()
        self.refresh()

    # -- painting ----------------------------------------------------------------------------------------------------

    def _runs(self, index: int, width: int) -> tuple[Run, ...]:
        if not 0 <= index < len(self._rows):
            return ()
        runs = tuple(run for run in self.row_runs(self._rows[index], width) if run[0])
        return (*runs, ("", "cursor")) if index == self.cursor and self.has_focus else runs

    def render_line(self, y: int) -> Strip:
        """Return a row of the window, with offsets for selecting by mouse."""
        return self.paint_line(y).apply_offsets(0, round(self.scroll_y) + y)

    def paint_line(self, y: int) -> Strip:
        """Paint a row of the window."""
        width = self.size.width
        index = round(self.scroll_y) + y
        runs = self._runs(index, self.scrollable_content_region.width)
        self._painted[index] = runs
        if len(self._painted) > 512:
            self._painted = {index: runs}
        base = self._paint.style("")
        marked = bool(runs) and runs[-1] == ("", "cursor")
        if marked:
            cursor = self._paint.style("cursor")
            strip = strip_of([Segment(text, cursor) for text, _ in runs if text], width, cursor)
        else:
            strip = strip_of([Segment(text, self._paint.style(name)) for text, name in runs if text], width, base)
        selection = self.text_selection
        span = None if selection is None else selection.get_span(index)
        if span is not None:
            start, end = span
            end = strip.cell_length if end == -1 else end
            style = self.screen.get_component_rich_style("screen--selection")
            strip = Strip.join([strip.crop(0, start), strip.crop(start, end).apply_style(style), strip.crop(end)])
        return strip

    def notify_style_update(self) -> None:
        """Forget painted rows: their colours changed."""
        super().notify_style_update()
        self._paint.forget()
        self._painted.clear()

    # -- selecting ---------------------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected rows' text."""
        width = max(1, self.scrollable_content_region.width)
        rows = ("".join(text for text, _ in self._runs(index, width)).rstrip() for index in range(len(self._rows)))
        return selection.extract("\n".join(rows)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Repaint with the new selection."""
        self.refresh()
