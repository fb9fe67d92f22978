"""Base of panes that are painted whole; only rows that differ are repainted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip

from gemini_live_tui.painting.paint import Paint
from gemini_live_tui.painting.painted import Contained, strip_of
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.widgets.row import difference


class Sheet(Contained, can_focus=True, inherit_bindings=False):
    """Area of rows; a subclass implements `rows`."""

    DEFAULT_CSS = """
    Sheet { height: 1fr; width: 1fr; background: $background; color: $foreground; }
    """

    is_movable: ClassVar[bool] = False
    """True when `move` is implemented; else the scroll keys move the transcript."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._rows: list[tuple[Run, ...]] = []
        self._paint = Paint(self)

    def rows(self, width: int, height: int) -> Sequence[Sequence[Run]]:
        """Return at most `height` rows of at most `width` cells."""
        raise NotImplementedError

    def move(self, step: str) -> None:
        """Go `up`, `down`, `page_up`, `page_down`, `home` or `end`."""

    def update_rows(self) -> None:
        """Compute the rows again and repaint those that changed."""
        width, height = self.size
        if width <= 0 or height <= 0:
            return
        old, self._rows = self._rows, [tuple(run for run in row if run[0]) for row in self.rows(width, height)]
        for y in range(max(len(old), len(self._rows))):
            before, after = (rows[y] if y < len(rows) else None for rows in (old, self._rows))
            if before is None or after is None:
                self.refresh(Region(0, y, width, 1))
            elif before != after:
                start, end = difference(before, after, width)
                self.refresh(Region(start, y, end - start, 1))

    def on_resize(self) -> None:
        """Compute the rows for the new size."""
        self._rows = []
        self.update_rows()
        self.refresh()

    def paint_line(self, y: int) -> Strip:
        """Paint one row."""
        if y >= len(self._rows):
            return Strip.blank(self.size.width, self._paint.style(""))
        segments = [Segment(text, self._paint.style(name)) for text, name in self._rows[y]]
        return strip_of(segments, self.size.width, self._paint.style(""))

    @property
    def plain(self) -> str:
        """Characters of the rows."""
        return "\n".join("".join(text for text, _ in row).rstrip() for row in self._rows)

    def notify_style_update(self) -> None:
        """Forget painted rows: their colours changed."""
        super().notify_style_update()
        self._paint.forget()
