"""Base of painted lists that grow without a new layout of the screen.

A further row repaints the scrollbar only where that looks different.
"""

from __future__ import annotations

from math import ceil

from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar, ScrollBarRender

from gemini_live_tui.painting.painted import Contained

STEPS = len(ScrollBarRender.VERTICAL_BARS)
"""Parts of a cell in which the ends of a scrollbar's thumb are drawn."""


class ScrolledList(Contained, ScrollView):
    """List; a subclass sets its size with `set_extent`, then calls `show_bar`."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._thumb = (-1, -1, -1)

    def set_extent(self, width: int, rows: int) -> None:
        """Set the size to `rows` rows of `width` cells."""
        size = Size(width, rows)
        if size == self.virtual_size:
            return
        if self.show_vertical_scrollbar and width == self.virtual_size.width and rows > self.size.height:
            self.set_reactive(ScrolledList.virtual_size, size)
            self.vertical_scrollbar.set_reactive(ScrollBar.window_virtual_size, rows)
        else:
            self.virtual_size = size
        if self.scroll_y > self.max_scroll_y:
            # No layout follows that would repaint it.
            self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True, force=True)

    def show_bar(self) -> None:
        """Repaint the scrollbar if its thumb moved or changed its length."""
        if not self.show_vertical_scrollbar:
            return
        bar = self.vertical_scrollbar
        thumb = _thumb(bar.size.height, self.virtual_size.height, bar.window_size, bar.position)
        if thumb != self._thumb:
            self._thumb = thumb
            bar.refresh()

    def window(self) -> Region:
        """Return the region of the rows, without the scrollbar."""
        bar = self.scrollbar_size_vertical if self.show_vertical_scrollbar else 0
        return Region(0, 0, self.size.width - bar, self.size.height)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Show other rows."""
        if self.show_vertical_scrollbar:
            bar = self.vertical_scrollbar
            bar.set_reactive(ScrollBar.position, bar.validate_position(new_value))
        if round(old_value) != round(new_value):
            self.refresh(self.window())
        self.show_bar()

    def watch_show_vertical_scrollbar(self) -> None:
        """Place a new scrollbar's thumb: it does not know the window's position yet."""
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = round(self.scroll_y)


def _thumb(size: int, rows: int, window: float, position: float) -> tuple[int, int, int]:
    """Return the bar's size in cells, and the thumb's ends in parts of a cell.

    The thumb is computed as Textual draws it.
    """
    if not (0 < window < rows and size):
        return size, 0, 0
    length = max(1.0, ceil(window) * size / rows)
    start = int((size - length) * position / (rows - ceil(window)) * STEPS)
    return size, start, start + ceil(length * STEPS)
