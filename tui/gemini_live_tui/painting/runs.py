"""Cut, fill and fold styled runs of text to a width in cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, chop_cells

from gemini_live_tui.painting.wrapping import wrap

Run = tuple[str, str]
"""Text and the name of a style, see `painting.paint`."""


def cut(text: str, width: int, ellipsis: str = "…") -> str:
    """Return `text` in at most `width` cells, with an ellipsis where it is cut."""
    if width <= 0:
        return ""
    if len(text) <= width and text.isascii():
        return text
    if cell_len(text) <= width:
        return text
    room = width - len(ellipsis)
    if room <= 0:
        return ellipsis[:width]
    return chop_cells(text, room)[0].rstrip() + ellipsis


def filled(text: str, width: int, ellipsis: str = "…") -> str:
    """Return `text` in exactly `width` cells."""
    text = cut(text, width, ellipsis).rstrip("\u200d")  # a joiner at the end would take the first space
    return text + " " * (width - cell_len(text))


def width_of(runs: Iterable[Run]) -> int:
    """Return the width of runs in cells."""
    return sum(cell_len(text) for text, _ in runs)


def fitted(runs: Sequence[Run], width: int, ellipsis: str = "…") -> list[Run]:
    """Return runs in at most `width` cells; the last one that has room is cut."""
    left = width
    kept: list[Run] = []
    for text, style in runs:
        size = cell_len(text)
        if size > left:
            if shorter := cut(text, left, ellipsis):
                kept.append((shorter, style))
            break
        kept.append((text, style))
        left -= size
    return kept


def spread(left: Sequence[Run], right: Sequence[Run], width: int, ellipsis: str = "…") -> list[Run]:
    """Return `left` at the left edge and `right` at the right one, two cells apart.

    `left` goes first where there is no room.
    """
    room = width - width_of(left) - 2
    right = fitted(right, room, ellipsis) if room > 3 else []
    if not right:
        return fitted(left, width, ellipsis)
    gap = width - width_of(left) - width_of(right)
    return [*left, (" " * gap, ""), *right]


def folded(runs: Sequence[Run], width: int, indent: int = 0) -> Iterator[list[Run]]:
    """Yield one line in as many as it needs, later ones indented."""
    text = "".join(part for part, _ in runs)
    first = True
    for start, end in _slices(text, width, indent):
        yield [*([] if first else [(" " * indent, "")]), *sliced(runs, start, end)]
        first = False


def sliced(runs: Sequence[Run], start: int, end: int) -> list[Run]:
    """Return the runs of the characters [start, end)."""
    found: list[Run] = []
    at = 0
    for part, style in runs:
        low, high = max(start, at), min(end, at + len(part))
        if low < high:
            found.append((part[low - at : high - at], style))
        at += len(part)
    return found


def joined(cells: Sequence[Run]) -> list[Run]:
    """Return cells as runs: neighbours of one style are joined."""
    runs: list[Run] = []
    for text, style in cells:
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + text, style)
        else:
            runs.append((text, style))
    return runs


def _slices(text: str, width: int, indent: int) -> Iterator[tuple[int, int]]:
    head = wrap(text, max(1, width))
    yield head[0]
    if len(head) > 1:
        at = head[1][0]
        for start, end in wrap(text[at:], max(1, width - indent)):
            yield at + start, at + end


Line = tuple[int, Sequence[Run]]
"""Line of a screen: its indentation in cells, and its runs."""


def laid_out(lines: Iterable[Line], width: int) -> Iterator[list[Run]]:
    """Yield lines in a width; longer ones are folded and hang below their beginning."""
    for indent, runs in lines:
        indent = min(indent, max(0, width - 20))
        rest = folded(runs, max(1, width - indent), 2) if runs else iter([[]])
        for line in rest:
            yield [(" " * indent, ""), *line]


def plain(lines: Iterable[Line]) -> str:
    """Return the characters of lines, for copying."""
    return "\n".join((" " * indent + "".join(text for text, _ in runs)).rstrip() for indent, runs in lines)
