"""Paint only the cells that changed, in place of Textual's compositor.

Textual's compositor asks every widget for all of its rows whenever a cell of the screen changes: a meter that moves
costs as much as a new screen. Here the frontmost widget paints each changed region, and no other widget does.

This builds on private parts of Textual, see `painter_guard`. An exception while painting turns the object into
Textual's own `Compositor`, for the rest of the session, before anything of the failed update was written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from textual._compositor import Compositor, CompositorUpdate
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from gemini_live_tui.painting.painted import Painted

Piece = tuple[int, int, Strip]
"""Column and row of the screen where a strip begins."""


class CellsUpdate(CompositorUpdate):
    """Parts of rows that are written over those on the screen."""

    def __init__(self, pieces: Sequence[Piece], compositor: Compositor) -> None:
        self.pieces = pieces
        self._compositor = compositor

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for x, y, strip in self.pieces:
            yield Control.move_to(x, y).segment
            yield from strip

    def render_segments(self, console: Console) -> str:
        """Return the text for the terminal, with its escape sequences."""
        try:
            return "".join(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for x, y, strip in self.pieces)
        except Exception as error:
            _fall_back(self._compositor, error)
            return self._compositor.render_full_update().render_segments(console)


class SparseCompositor(Compositor):
    """Compositor that paints what changed, each cell by the widget that is seen there."""

    def __init__(self, on_failure: Callable[[Exception], None]) -> None:
        super().__init__()
        self.on_failure = on_failure

    def render_partial_update(self) -> CompositorUpdate | None:  # type: ignore[override]
        """Return the cells that changed since the last update; None when no cell did."""
        try:
            pieces = self._changed_pieces()
        except Exception as error:
            _fall_back(self, error)
            return self.render_full_update()
        self._dirty_regions.clear()
        return CellsUpdate(pieces, self) if pieces else None

    def _changed_pieces(self) -> list[Piece]:
        screen = self.size.region
        regions = [region for dirty in self._dirty_regions if (region := dirty.intersection(screen))]
        layers = [
            (widget, region, region.intersection(clip)) for widget, (region, clip) in self.visible_widgets.items()
        ]
        return [piece for region in _outermost(regions) for piece in _paint(region, layers, 0)]


def _fall_back(compositor: Compositor, error: Exception) -> None:
    """Make a compositor Textual's own for good.

    It keeps its map of widgets, so that no layout is needed.
    """
    if isinstance(compositor, SparseCompositor):
        on_failure = compositor.on_failure
        compositor.__class__ = Compositor  # type: ignore[assignment]
        on_failure(error)


def _paint(wanted: Region, layers: Sequence[tuple[Widget, Region, Region]], first: int) -> Iterator[Piece]:
    """Yield the strips of a region.

    The layer in front paints its part, the layers behind it the rest.
    """
    for index in range(first, len(layers)):
        widget, region, seen = layers[index]
        if not seen.overlaps(wanted):
            continue
        here = wanted.intersection(seen)
        crop = here.translate((-region.x, -region.y))
        strips = widget.paint_lines(crop) if isinstance(widget, Painted) else widget.render_lines(crop)
        for y, strip in zip(here.line_range, strips, strict=False):
            yield here.x, y, strip
        for rest in _beside(wanted, here):
            yield from _paint(rest, layers, index + 1)
        return


def _beside(whole: Region, part: Region) -> Iterable[Region]:
    """Return the rest of a region without a part of it: at most four pieces."""
    if part == whole:
        return ()
    pieces = (
        Region(whole.x, whole.y, whole.width, part.y - whole.y),
        Region(whole.x, part.bottom, whole.width, whole.bottom - part.bottom),
        Region(whole.x, part.y, part.x - whole.x, part.height),
        Region(part.right, part.y, whole.right - part.right, part.height),
    )
    return (piece for piece in pieces if piece)


def _outermost(regions: Sequence[Region]) -> Sequence[Region]:
    """Return the regions that are not part of another, largest first."""
    kept: list[Region] = []
    for region in sorted(set(regions), key=lambda one: -one.area):
        if not any(other.contains_region(region) for other in kept):
            kept.append(region)
    return kept
