"""Let widgets paint their own rows, and keep their failures in their pane.

Such a widget has neither border nor padding. `SparseCompositor` takes its rows as they are, without what Textual does
to a row on its way to the screen: offsets for the mouse, links, borders.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.filter import ANSIToTruecolor
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from gemini_live_tui.messages import PaneFailed


class Painted(Widget):
    """Base of painted widgets; a subclass implements `paint_line`."""

    def paint_line(self, y: int) -> Strip:
        """Return row `y` of the window, `size.width` cells."""
        raise NotImplementedError

    def render_line(self, y: int) -> Strip:
        """Return the same row to Textual, for whole screens and for the mouse."""
        return self.paint_line(y)

    def paint_rows(self, rows: range) -> list[Strip]:
        """Return some rows of the window; those of one frame may share lookups."""
        return [self.paint_line(y) for y in rows]

    def paint_lines(self, crop: Region) -> list[Strip]:
        """Return the cells of `crop`, in the widget's coordinates."""
        size = self.size
        if size != self.outer_size:
            return self.render_lines(crop)
        strips = self.paint_rows(crop.line_range)
        for line_filter in self.get_line_filters():
            # `paint` uses true colours, or the terminal's own on purpose: no conversion.
            if not isinstance(line_filter, ANSIToTruecolor):
                _, background = self.background_colors
                strips = [strip.apply_filter(line_filter, background) for strip in strips]
        start, end = crop.column_span
        return strips if (start, end) == (0, size.width) else [strip.crop(start, end) for strip in strips]


class Guarded(Widget):
    """Widget whose failures in messages and events stay in its pane."""

    async def _on_message(self, message: Message) -> None:
        try:
            await super()._on_message(message)
        except Exception as error:
            self.post_message(PaneFailed(error))


class Contained(Guarded, Painted):
    """Painted widget whose failures while painting go to its pane, too."""

    def paint_lines(self, crop: Region) -> list[Strip]:
        """Return the cells of `crop`; blank ones after a failure."""
        try:
            return super().paint_lines(crop)
        except Exception as error:
            return self._failed(error, crop)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the cells of `crop` to Textual; blank ones after a failure."""
        try:
            return super().render_lines(crop)
        except Exception as error:
            return self._failed(error, crop)

    def _failed(self, error: Exception, crop: Region) -> list[Strip]:
        self.post_message(PaneFailed(error))
        return [Strip.blank(crop.width, self.rich_style)] * crop.height


def strip_of(segments: Iterable[Segment], width: int, base: Style) -> Strip:
    """Return segments as a row of `width` cells, cut or filled in the style `base`."""
    # Not Strip.adjust_cell_length: Rich's set_cell_size raises IndexError for a text that begins with joiners.
    parts: list[Segment] = []
    rest = width
    for part in segments:
        size = cell_len(part.text)
        if size > rest:
            part = part.split_cells(rest)[0]
            size = cell_len(part.text)
        parts.append(part)
        rest -= size
        if rest <= 0:
            break
    if rest > 0:
        parts.append(Segment(" " * rest, base))
    return Strip(parts, width)
