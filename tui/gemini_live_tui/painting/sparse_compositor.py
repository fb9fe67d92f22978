"""A compositor that paints only the cells that changed, for which it reaches behind Textual's public interface.

Textual's own asks every widget for all of its rows whenever a cell of the screen changes: a meter that moves costs as
much as a new screen. Here each changed region is painted by whatever widget is in front there, and by no other. When
this version of Textual is not the one that was read (see `fits`), its own compositor stays in place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.control import Control
from textual._compositor import Compositor, CompositorUpdate
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from gemini_live_tui.painting.painted import Painted

Piece = tuple[int, int, Strip]
"""Column and row of the screen where a strip begins."""


class CellsUpdate(CompositorUpdate):
    """Parts of rows that are written over what is there."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = pieces

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for x, y, strip in self.pieces:
            yield Control.move_to(x, y).segment
            yield from strip

    def render_segments(self, console: Console) -> str:
        """What is sent to the terminal."""
        return "".join(f"\x1b[{y + 1};{x + 1}H{strip.render(console)}" for x, y, strip in self.pieces)


class SparseCompositor(Compositor):
    """Paints what changed, each cell by the widget that is seen there."""

    def render_partial_update(self) -> CellsUpdate | None:  # type: ignore[override]
        """The cells that changed since the last update."""
        screen = self.size.region
        regions = [region for dirty in self._dirty_regions if (region := dirty.intersection(screen))]
        self._dirty_regions.clear()
        layers = [
            (widget, region, region.intersection(clip)) for widget, (region, clip) in self.visible_widgets.items()
        ]
        pieces: list[Piece] = []
        for region in _outermost(regions):
            pieces.extend(_painted(region, layers, 0))
        return CellsUpdate(pieces) if pieces else None


def _painted(wanted: Region, layers: Sequence[tuple[Widget, Region, Region]], first: int) -> Iterator[Piece]:
    """A region of the screen, by the widgets from the `first` backwards."""
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
            yield from _painted(rest, layers, index + 1)
        return


def _beside(whole: Region, part: Region) -> Iterable[Region]:
    """What is left of a region without a part of it: at most four pieces."""
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
    """The regions that are not part of another, largest first."""
    kept: list[Region] = []
    for region in sorted(set(regions), key=lambda one: -one.area):
        if not any(other.contains_region(region) for other in kept):
            kept.append(region)
    return kept


def fits() -> bool:
    """Whether Textual is built as it was when this was written."""
    if not all(hasattr(Compositor, name) for name in ("visible_widgets", "render_partial_update", "render_update")):
        return False
    wanted: dict[Callable[..., object], list[str]] = {
        Compositor.render_partial_update: ["self"],
        CompositorUpdate.render_segments: ["self", "console"],
        Widget.render_lines: ["self", "crop"],
    }
    return all(list(inspect.signature(method).parameters) == names for method, names in wanted.items())


def install(screen: Screen[Any]) -> None:
    """Let a screen that was not shown yet be composed sparsely, where that fits."""
    if fits() and type(getattr(screen, "_compositor", None)) is Compositor:
        screen._compositor = SparseCompositor()
