"""A compositor that renders only the rows that changed. The one place that reaches behind Textual's public interface.

Textual's own asks every widget for all of its rows whenever a cell of the screen changes: a meter that moves costs as
much as a new screen. Here the rows of a change are rendered, and changes that are far apart are not joined. When this
version of Textual is not the one that was read (see `fits`), its own compositor stays in place.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from textual.screen import Screen
from textual.strip import Strip


class SparseCompositor(Compositor):
    """Renders bands of rows instead of the smallest rectangle around everything that changed."""

    def _get_renders(self, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
        if crop is None:
            yield from super()._get_renders(None)
            return
        intersection = Region.intersection
        for widget, (region, clip) in self.visible_widgets.items():
            band = intersection(clip, crop)
            _, y, width, height = intersection(region, band)
            if not (width and height):
                continue
            # Whole widgets from side to side: where they begin and end is where chops do.
            left, _, breadth, _ = intersection(region, clip)
            rows = Region(left - region.x, y - region.y, breadth, height)
            yield region, Region(left, y, breadth, height), widget.render_lines(rows)

    def render_partial_update(self) -> ChopsUpdate | None:
        """The cells that changed since the last update."""
        screen = self.size.region
        regions = [region for dirty in self._dirty_regions if (region := dirty.intersection(screen))]
        self._dirty_regions.clear()
        if not regions:
            return None
        spans = list(self._regions_to_spans(regions))
        cuts = self.cuts
        chops: list[dict[int, Strip | None]] = [dict.fromkeys(line[:-1]) for line in cuts]
        for group in _bands(regions):
            rows = {y for region in group for y in region.line_range}
            hull = Region.from_union(group)
            part: Sequence[Any] = self._render_chops(hull, rows.__contains__)
            for y in rows:
                line = chops[y]
                # Beside the hull stands only what lies behind the widgets there, which were not asked.
                for cut, end in pairwise(cuts[y]):
                    if cut < hull.right and end > hull.x:
                        line[cut] = part[y][cut]
        return ChopsUpdate(chops, spans, [line[1:] for line in cuts])


def _bands(regions: list[Region]) -> list[list[Region]]:
    """Regions in groups: those whose rows touch and whose columns overlap belong together."""
    groups: list[tuple[Region, list[Region]]] = []
    for region in sorted(regions, key=lambda r: (r.y, r.x)):
        joined, members = region, [region]
        rest = []
        for hull, others in groups:
            if hull.grow((1, 0, 1, 0)).overlaps(joined):
                joined, members = hull.union(joined), [*others, *members]
            else:
                rest.append((hull, others))
        groups = [*rest, (joined, members)]
    return [members for _, members in groups]


def fits() -> bool:
    """Whether Textual is built as it was when this was written."""
    names = ("_render_chops", "_regions_to_spans", "visible_widgets", "cuts", "render_partial_update", "_get_renders")
    if not all(hasattr(Compositor, name) for name in names):
        return False
    return list(inspect.signature(Compositor._render_chops).parameters) == [
        "self",
        "crop",
        "is_rendered_line",
    ] and list(inspect.signature(ChopsUpdate.__init__).parameters) == ["self", "chops", "spans", "chop_ends"]


def install(screen: Screen[Any]) -> None:
    """Let a screen that was not shown yet be composed sparsely, where that fits."""
    if fits() and type(getattr(screen, "_compositor", None)) is Compositor:
        screen._compositor = SparseCompositor()
