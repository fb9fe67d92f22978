"""Base of lists with items of a few lines; only lines in sight are painted.

An item is laid out once for each (revision, width) and kept; the first row of an item is found by bisection; a change
repaints only the rows that differ. Mouse selection and copying live here, once.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.cache import LRUCache
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip

from gemini_live_runtime.records import record
from gemini_live_tui.messages import FollowChanged
from gemini_live_tui.painting.paint import Paint
from gemini_live_tui.painting.painted import strip_of
from gemini_live_tui.painting.runs import Run, sliced
from gemini_live_tui.widgets.scrolled_list import ScrolledList

MAX_KEPT = 1024
"""Items whose lines are kept; others are laid out again when they show."""

MAX_KNOWN = 20_000
"""Approximate number of items whose heights are kept for other moments."""

TAIL = 32
"""Last items that may still change; before them only an open one may."""


@record
class Line:
    """Row of an item.

    `runs` are (text, style name); copying takes the text from character `body` on. `joins` is the text between this row
    and the one above where a line was wrapped: a space, nothing inside a word, None where a new line begins.
    """

    runs: tuple[tuple[str, str], ...]
    body: int = 0
    joins: str | None = None
    label: str = ""
    """Text before the row's when it is copied."""
    sign: tuple[int, str, str] | None = None
    """Character of the row, one cell wide, that is painted as this sign in this style."""

    @property
    def plain(self) -> str:
        """Characters of the row."""
        return "".join(text for text, _ in self.runs)


class LineList(ScrolledList, can_focus=True, inherit_bindings=False):
    """List of items; a pane implements the four methods at the end of the class."""

    ALLOW_SELECT = True
    DEFAULT_CSS = """
    LineList {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._width = 0
        self._forgotten = 0
        self._revs: list[int] = []
        self._starts = array("q", (0,))
        """First rows of the items, and the row after the last."""
        self._open: set[int] = set()
        self._heights: dict[int, tuple[int, int]] = {}
        """Revision and rows of items at this width, kept for moving between moments."""
        self._lines: LRUCache[int, Sequence[Line]] = LRUCache(MAX_KEPT)
        self._strips: LRUCache[tuple[int, int], tuple[Line, Strip]] = LRUCache(4 * MAX_KEPT)
        """Painted rows, each with the row that it shows."""
        self._paint = Paint(self)
        self.following = True

    # -- keeping up with the items -----------------------------------------------------------------------------------

    @property
    def line_count(self) -> int:
        """Number of rows of all items."""
        return self._starts[-1]

    def sync(self, *, forgotten: int = 0, reset: bool = False) -> None:
        """Take in new and grown items.

        `forgotten` is the number of items dropped at the front so far; `reset` lays all items out again.
        """
        self._take_in(forgotten, reset=reset)
        self.show_bar()

    def _take_in(self, forgotten: int, *, reset: bool) -> None:
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        if reset or width != self._width or forgotten < self._forgotten:
            self._lay_out_all(width, forgotten)
            return
        if forgotten > self._forgotten:
            self._forget(forgotten - self._forgotten)
        count, known = self.item_count(), len(self._revs)
        before = self._starts[-1]
        tail = range(max(0, known - TAIL), known)
        other = [index for index in {i for i in self._open if i < known}.union(tail) if self._is_other(index)]
        changed = self._renew(sorted(other))
        for index in range(known, count):
            self._append(index)
        after = self._starts[-1]
        if after != before:
            self._resize(after)
            if after > before:
                changed.append(self._rows(before, after))
        if self.following:
            self._to_end()
        if not changed:
            return
        top, window = self.scroll_offset.y, self.window()
        for rows in changed:
            self.refresh(rows.translate((0, -top)).intersection(window))

    def rebase(self, *, forgotten: int = 0) -> None:
        """Take in the items of another moment; only new and different ones are laid out.

        An item is the same when its number, counted from the very first one, and its revision are.
        """
        width = self.scrollable_content_region.width
        if width <= 0 or width != self._width:
            self.sync(forgotten=forgotten)
            return
        starts = self._starts
        for index, rev in enumerate(self._revs):
            self._heights[self._forgotten + index] = (rev, starts[index + 1] - starts[index])
        before, self._forgotten = self._forgotten, forgotten
        old = dict(enumerate(self._revs, before))
        self._open.clear()
        self._revs, self._starts = [], array("q", (0,))
        for index in range(self.item_count()):
            key, rev = forgotten + index, self.item_rev(index)
            known = self._heights.get(key)
            if old.get(key, rev) != rev or (key not in old and self._lines.get(key) is not None):
                self._lines.discard(key)
            if known is not None and known[0] == rev:
                self._revs.append(rev)
                self._starts.append(self._starts[-1] + known[1])
                if self.item_open(index):
                    self._open.add(index)
            else:
                self._append(index)
        if len(self._heights) > 4 * MAX_KNOWN:
            self._heights.clear()
        self._resize(self._starts[-1])
        if self.following:
            self._to_end()
        self.show_bar()
        self.refresh()

    def _lay_out_all(self, width: int, forgotten: int) -> None:
        anchor = self._anchor() if not self.following and width != self._width else None
        self._width, self._forgotten = width, forgotten
        self._lines.clear()
        self._strips.clear()
        self._open.clear()
        self._heights.clear()
        self._revs, self._starts = [], array("q", (0,))
        for index in range(self.item_count()):
            self._append(index)
        self._resize(self._starts[-1])
        if self.following:
            self._to_end()
        elif anchor is not None and anchor < len(self._revs):
            self._scroll_quietly(self._starts[anchor])
        self.refresh()

    def _anchor(self) -> int:
        """Return the item at the top of the window."""
        return max(0, bisect_right(self._starts, self.scroll_offset.y) - 1)

    def _append(self, index: int) -> None:
        lines = self.item_lines(index, self._width)
        self._keep(index, lines)
        self._revs.append(self.item_rev(index))
        self._starts.append(self._starts[-1] + len(lines))
        if self.item_open(index):
            self._open.add(index)

    def _is_other(self, index: int) -> bool:
        return self.item_rev(index) != self._revs[index]

    def _renew(self, indices: Sequence[int]) -> list[Region]:
        """Lay items out again, in order; return the rows in sight that differ."""
        top = self.scroll_offset.y
        bottom = top + self.size.height
        regions: list[Region] = []
        heights: dict[int, int] = {}
        """Heights from the first item on whose height changed."""
        for index in indices:
            start, height = self._starts[index], self._starts[index + 1] - self._starts[index]
            old = self._lines.get(self._forgotten + index) or []
            new = self.item_lines(index, self._width)
            self._keep(index, new)
            self._revs[index] = self.item_rev(index)
            if not self.item_open(index):
                self._open.discard(index)
            if heights or len(new) != height:
                heights[index] = len(new)
                continue
            # Others are compared when they come into sight: an item may have tens of thousands of rows.
            regions += (
                self._rows(start + row, start + row + 1)
                for row in range(max(0, top - start), min(height, bottom - start))
                if row >= len(old) or old[row] != new[row]
            )
        if heights:
            # Shift the items behind once: thousands may have changed.
            first, before = next(iter(heights)), self._starts
            self._starts = before[: first + 1]
            for index in range(first, len(before) - 1):
                self._starts.append(self._starts[-1] + heights.get(index, before[index + 1] - before[index]))
            regions.append(self._rows(before[first], max(before[-1], self._starts[-1])))
        return regions

    def _keep(self, index: int, lines: Sequence[Line]) -> None:
        key = self._forgotten + index
        # Textual's cache does not replace the value of a known key.
        self._lines.discard(key)
        self._lines[key] = lines

    def _forget(self, count: int) -> None:
        """Drop items at the front, keeping the rows in sight where they are."""
        if count >= len(self._revs):
            self._lay_out_all(self._width, self._forgotten + count)
            return
        gone = self._starts[count]
        self._forgotten += count
        del self._revs[:count]
        self._starts = array("q", [start - gone for start in self._starts[count:]])
        self._open = {index - count for index in self._open if index >= count}
        top = max(0, self.scroll_offset.y - gone)
        self._resize(self._starts[-1])
        self._scroll_quietly(top)

    def _rows(self, start: int, end: int) -> Region:
        return Region(0, start, max(1, self.size.width), max(0, end - start))

    def _resize(self, rows: int) -> None:
        self.set_extent(self._width, rows)

    # -- scrolling ---------------------------------------------------------------------------------------------------

    def _scroll_quietly(self, y: int) -> None:
        # Force it: right after the first rows Textual has no scrollbar yet and would refuse.
        self.scroll_to(y=y, animate=False, immediate=True, force=True)

    def _to_end(self) -> None:
        if round(self.scroll_y) != self.max_scroll_y:
            self._scroll_quietly(self.max_scroll_y)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Repaint, and follow the end exactly while it is in sight."""
        super().watch_scroll_y(old_value, new_value)
        self._set_following(round(new_value) >= self.max_scroll_y)
        if not self.following:
            # The number of rows below changed.
            self.post_message(FollowChanged(False))

    def _set_following(self, following: bool) -> None:
        if following != self.following:
            self.following = following
            self.post_message(FollowChanged(following))

    @property
    def rows_below(self) -> int:
        """Number of rows below the window."""
        return max(0, self.max_scroll_y - round(self.scroll_y))

    def show_row(self, index: int, row: int) -> None:
        """Scroll so that a row of an item is in the middle, unless it is in sight."""
        at, height = self._starts[index] + row, self.scrollable_content_region.height
        if not round(self.scroll_y) <= at < round(self.scroll_y) + height:
            self._scroll_quietly(max(0, min(self.max_scroll_y, at - height // 2)))

    def repaint_items(self) -> None:
        """Lay out the items in sight again; their heights are the same."""
        self._lines.clear()
        self._strips.clear()
        self.refresh()

    def scroll_by(self, step: str) -> None:
        """Scroll `up`, `down`, `page_up`, `page_down`, `home` or `end`, without animation."""
        page = max(1, self.scrollable_content_region.height - 1)
        top = round(self.scroll_y)
        target = {
            "up": top - 1,
            "down": top + 1,
            "page_up": top - page,
            "page_down": top + page,
            "home": 0,
            "end": self.max_scroll_y,
        }[step]
        self._scroll_quietly(max(0, min(self.max_scroll_y, target)))

    def on_resize(self, event: events.Resize) -> None:
        """Lay out for the new width; keep the end in sight if it was."""
        self.sync(forgotten=self._forgotten)
        if self.following:
            self._to_end()

    # -- painting ----------------------------------------------------------------------------------------------------

    def _line_at(self, row: int) -> tuple[int, int] | None:
        """Return an item and the row within it."""
        if not 0 <= row < self._starts[-1]:
            return None
        index = bisect_right(self._starts, row) - 1
        return index, row - self._starts[index]

    def kept_lines(self, index: int) -> Sequence[Line] | None:
        """Return the rows of an item as they were laid out last, if they are kept."""
        return self._lines.get(self._forgotten + index)

    def _item(self, index: int) -> Sequence[Line]:
        key = self._forgotten + index
        lines = self._lines.get(key)
        if lines is None:
            lines = self._lines[key] = self.item_lines(index, self._width)
        return lines

    def render_line(self, y: int) -> Strip:
        """Return a row of the window, with offsets for selecting by mouse."""
        row = self.scroll_offset.y + y
        strip = self.paint_line(y)
        return strip.apply_offsets(0, row) if self._line_at(row) is not None else strip

    def paint_line(self, y: int) -> Strip:
        """Paint a row of the window."""
        return self.paint_rows(range(y, y + 1))[0]

    def paint_rows(self, rows: range) -> list[Strip]:
        """Paint rows of the window."""
        # Textual computes each of these from the layout of the whole screen.
        width, top, selection = self.size.width, self.scroll_offset.y, self.text_selection
        return [self._painted_row(top + y, width, selection) for y in rows]

    def _painted_row(self, row: int, width: int, selection: Selection | None) -> Strip:
        found = self._line_at(row)
        if found is None:
            return Strip.blank(width, self._paint.style(""))
        index, within = found
        lines = self._item(index)
        if within >= len(lines):
            return Strip.blank(width, self._paint.style(""))
        span = None if selection is None else selection.get_span(row)
        if span is not None:
            return self._strip(lines[within], width, span)
        key = (self._forgotten + index, within)
        line, painted = lines[within], self._strips.get(key)
        if painted is not None and painted[1].cell_length == width and painted[0] == line:
            return painted[1]
        strip = self._strip(line, width)
        self._strips.discard(key)
        self._strips[key] = (line, strip)
        return strip

    def _strip(self, line: Line, width: int, selected: tuple[int, int] | None = None) -> Strip:
        runs = line.runs if line.sign is None else _signed(line.runs, *line.sign)
        segments = [Segment(text, self._paint.style(name)) for text, name in runs]
        if selected is not None:
            start, end = selected
            marked = self.screen.get_component_rich_style("screen--selection")
            segments = _mark(segments, start, end, marked)
        return strip_of(segments, width, self._paint.style(""))

    def notify_style_update(self) -> None:
        """Forget painted rows: their colours changed."""
        super().notify_style_update()
        self._paint.forget()
        self._strips.clear()

    # -- selecting ---------------------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text without gutters, wrapped rows joined again."""
        parts: list[str] = []
        first = 0 if selection.start is None else max(0, selection.start.y)
        last = self._starts[-1] - 1 if selection.end is None else min(selection.end.y, self._starts[-1] - 1)
        for row in range(first, last + 1):
            span, found = selection.get_span(row), self._line_at(row)
            if span is None or found is None:
                continue
            line = self._item(found[0])[found[1]]
            plain = line.plain
            start, end = span[0], len(plain) if span[1] == -1 else span[1]
            text = plain[max(start, line.body) : end].rstrip()
            if line.label and start < line.body and end > 0:
                text = f"{line.label}{text}"
            if line.joins is not None and parts:
                parts[-1] = f"{parts[-1]}{line.joins}{text}".rstrip()
            else:
                parts.append(text)
        return "\n".join(parts), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Repaint with the new selection."""
        self.refresh()

    # -- what a pane provides ----------------------------------------------------------------------------------------

    def item_count(self) -> int:
        """Return the number of items."""
        raise NotImplementedError

    def item_rev(self, index: int) -> int:
        """Return a number that changes with the item's looks."""
        raise NotImplementedError

    def item_open(self, index: int) -> bool:
        """Return True when the item may change however far it is from the end."""
        raise NotImplementedError

    def item_lines(self, index: int, width: int) -> Sequence[Line]:
        """Return the item's rows, none wider than `width` cells.

        An item of many rows may lay each of them out when it is looked at.
        """
        raise NotImplementedError


def _signed(runs: Sequence[Run], at: int, sign: str, style: str) -> list[Run]:
    """Return `runs` with a sign in place of character `at`."""
    length = sum(len(text) for text, _ in runs)
    return [*sliced(runs, 0, at), (sign, style), *sliced(runs, at + 1, length)]


def _mark(segments: list[Segment], start: int, end: int, style: Style) -> list[Segment]:
    """Put `style` over characters [`start`, `end`); -1 is the end of the row."""
    marked: list[Segment] = []
    at = 0
    for text, own, _ in segments:
        stop = at + len(text)
        low, high = max(at, start), stop if end == -1 else min(stop, end)
        if low >= high:
            marked.append(Segment(text, own))
        else:
            pieces = (
                (text[: low - at], own),
                (text[low - at : high - at], (own or Style()) + style),
                (text[high - at :], own),
            )
            marked.extend(Segment(piece, look) for piece, look in pieces if piece)
        at = stop
    return marked
