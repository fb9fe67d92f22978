"""Base of one-row widgets, repainted only where their row changed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip

from gemini_live_tui.painting.paint import Paint
from gemini_live_tui.painting.painted import Painted, strip_of
from gemini_live_tui.painting.runs import Run


class Row(Painted):
    """Row of text without a border; a subclass implements `runs`."""

    DEFAULT_CSS = """
    Row { height: 1; width: 1fr; background: $background; color: $foreground; }
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._runs: tuple[Run, ...] = ()
        self._strip: Strip | None = None
        self._paint = Paint(self)

    def runs(self, width: int) -> Sequence[Run]:
        """Return the row's runs, at most `width` cells."""
        raise NotImplementedError

    def update_row(self) -> None:
        """Compute the row again and repaint the part that changed."""
        width = self.size.width
        if width <= 0:
            return
        runs = tuple(run for run in self.runs(width) if run[0])
        if self._strip is not None and runs == self._runs:
            return
        old, self._runs, self._strip = self._runs, runs, None
        start, end = difference(old, runs, width)
        self.refresh(Region(start, 0, end - start, 1))

    def on_resize(self) -> None:
        """Compute the row for the new width."""
        self._strip = None
        self.update_row()

    def paint_line(self, y: int) -> Strip:
        """Paint the row."""
        if y:
            return Strip.blank(self.size.width, self._paint.style(""))
        width = self.size.width
        if self._strip is None or self._strip.cell_length != width:
            segments = [Segment(text, self._paint.style(name)) for text, name in self._runs]
            self._strip = strip_of(segments, width, self._paint.style(""))
        return self._strip

    def run_at(self, x: int) -> Run | None:
        """Return the run at column `x`."""
        at = 0
        for run in self._runs:
            at += cell_len(run[0])
            if x < at:
                return run
        return None

    @property
    def plain(self) -> str:
        """Characters of the row."""
        return "".join(text for text, _ in self._runs)

    def notify_style_update(self) -> None:
        """Forget the painted row: its colours changed."""
        super().notify_style_update()
        self._paint.forget()
        self._strip = None


def difference(old: Sequence[Run], new: Sequence[Run], width: int) -> tuple[int, int]:
    """Return the columns [start, end) outside of which two rows are equal."""
    start = 0
    common = 0
    for before, after in zip(old, new, strict=False):
        if before != after:
            break
        start += cell_len(after[0])
        common += 1
    old_rest, new_rest = list(old[common:]), list(new[common:])
    old_width, new_width = (sum(cell_len(text) for text, _ in rest) for rest in (old_rest, new_rest))
    if old_width != new_width:
        return min(start, width - 1), width
    end = start + new_width
    while old_rest and new_rest and old_rest[-1] == new_rest[-1]:
        end -= cell_len(new_rest.pop()[0])
        old_rest.pop()
    start = min(start, width - 1)
    return start, max(start + 1, min(end, width))
