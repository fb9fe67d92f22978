"""Break text into lines of terminal cells. Pure functions."""

from __future__ import annotations

from rich.cells import cell_len, split_graphemes

Slice = tuple[int, int]
"""Start and end of a line in the text it was cut from."""


def wrap(text: str, width: int) -> list[Slice]:
    """Cut `text` into lines of at most `width` cells (>= 1), at spaces if possible.

    Newlines always break; the spaces at a break belong to no line. A single grapheme wider than `width` gets a line of
    its own. The empty text is one empty line.
    """
    width = max(1, width)
    lines: list[Slice] = []
    start = 0
    while True:
        newline = text.find("\n", start)
        end = len(text) if newline < 0 else newline
        paragraph = text[start:end]
        if len(paragraph) <= width and paragraph.isascii():
            lines.append((start, end))
        elif paragraph.isascii():
            _wrap_cells(text, start, end, width, lines)
        else:
            _wrap_graphemes(text, start, end, width, lines)
        if newline < 0:
            return lines
        start = newline + 1


def wrap_grown(text: str, width: int, before: str, lines: list[Slice]) -> list[Slice]:
    """Return `wrap(text, width)`, where `lines` is `wrap(before, width)`.

    Quick where `text` begins with `before`: text that follows changes no line but the last.
    """
    if not text.startswith(before):
        return wrap(text, width)
    if text == before:
        return lines
    # One line more than the last: a character that follows may change the width of the one before it.
    kept = lines[:-2]
    at = lines[len(kept)][0]
    return [*kept, *((at + start, at + end) for start, end in wrap(text[at:], width))]


def _wrap_cells(text: str, start: int, end: int, width: int, lines: list[Slice]) -> None:
    """Wrap a paragraph in which every character is one cell."""
    while end - start > width:
        space = text.rfind(" ", start, start + width + 1)
        stop = _trim(text, start, space) if space > start else start
        if stop == start:
            stop = resume = start + width
        else:
            resume = space
        lines.append((start, stop))
        start = _skip(text, resume, end)
        if start == end:
            return
    lines.append((start, end))


def _wrap_graphemes(text: str, start: int, end: int, width: int, lines: list[Slice]) -> None:
    spans, total = split_graphemes(text[start:end])
    if total <= width:
        lines.append((start, end))
        return
    offset, line_start, cells, space = start, start, 0, -1
    index = 0
    while index < len(spans):
        first, _last, size = spans[index]
        at = offset + first
        if text[at] == " ":
            space = at
        if cells + size > width and at > line_start:
            stop = _trim(text, line_start, space) if space > line_start else line_start
            # No usable space: break inside the word.
            stop, resume = (at, at) if stop == line_start else (stop, space)
            lines.append((line_start, stop))
            line_start = _skip(text, resume, end)
            if line_start == end:
                return
            while index and offset + spans[index][0] > line_start:
                index -= 1
            while offset + spans[index][0] < line_start:
                index += 1
            cells, space = 0, -1
            continue
        cells += size
        index += 1
    lines.append((line_start, end))


def _trim(text: str, start: int, stop: int) -> int:
    while stop > start and text[stop - 1] == " ":
        stop -= 1
    return stop


def _skip(text: str, start: int, end: int) -> int:
    while start < end and text[start] == " ":
        start += 1
    return start


def fit(text: str, width: int, ellipsis: str = "…") -> str:
    """Return `text` in at most `width` cells, with an ellipsis where it is cut."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(ellipsis)
    if room < 0:
        return "." * width
    spans, _ = split_graphemes(text)
    cells = stop = 0
    for _first, last, size in spans:
        if cells + size > room:
            break
        cells, stop = cells + size, last
    return text[:stop] + ellipsis
