"""Rows of one block of the transcript, laid out when they are looked at.

An answer may have tens of thousands of rows and grow many times a second, while some thirty of them are in sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from rich.cells import cell_len

from gemini_live_tui.painting.runs import Run, sliced
from gemini_live_tui.painting.wrapping import Slice, wrap, wrap_grown
from gemini_live_tui.widgets.line_list import Line


class BlockRows(Sequence[Line]):
    """Rows of wrapped runs beside a gutter.

    `before` are the rows of the same block at an earlier moment: what they have wrapped is not wrapped again.
    """

    __slots__ = (
        "_gutter",
        "_is_spaced",
        "_label",
        "_made",
        "_runs",
        "_sign",
        "_spans",
        "_suffix",
        "_text",
        "_used",
        "_width",
    )

    def __init__(
        self,
        gutter: Sequence[Run],
        label: str,
        runs: Sequence[Run],
        width: int,
        *,
        is_spaced: bool,
        sign: tuple[int, str, str] | None,
        before: BlockRows | None,
        suffix: str = "",
    ) -> None:
        """Wrap `runs` to `width` cells; an empty row comes first when `is_spaced`.

        `sign` is painted at the given character of `runs`, or beside it. `suffix` follows the last row if it has room
        there, and is left out otherwise: alone on a row it would belong to no text.
        """
        self._gutter, self._label, self._runs, self._width = tuple(gutter), label, tuple(runs), width
        self._used = sum(len(text) for text, _ in gutter)
        self._is_spaced = is_spaced
        self._sign = sign
        self._suffix = suffix
        self._text = "".join(text for text, _ in runs)
        if before is not None and before._width == width:
            self._spans: list[Slice] = wrap_grown(self._text, width, before._text, before._spans)
        else:
            self._spans = wrap(self._text, width)
        self._made: dict[int, Line] = {}

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._is_spaced + len(self._spans)

    @overload
    def __getitem__(self, row: int) -> Line: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[Line]: ...

    def __getitem__(self, row: int | slice) -> Line | Sequence[Line]:
        """Return a row, which is laid out once."""
        if isinstance(row, slice):
            return [self[number] for number in range(len(self))[row]]
        number = range(len(self))[row]
        line = self._made.get(number)
        if line is None:
            line = self._made[number] = self._line(number - self._is_spaced)
        return line

    def _line(self, number: int) -> Line:
        if number < 0:
            return Line(())
        start, end = self._spans[number]
        gutter = self._gutter if number == 0 else ((" " * self._used, ""),)
        row = (*gutter, *sliced(self._runs, start, end))
        if self._suffix and number == len(self._spans) - 1:
            fits = cell_len(self._text[start:end]) + cell_len(self._suffix) <= self._width
            row = (*row, (self._suffix, "quiet")) if fits else row
        sign = self._sign_in(start, end)
        if number == 0:
            return Line(row, self._used, label=self._label, sign=sign)
        before = self._text[start - 1]
        joins = None if before == "\n" else " " if before == " " else ""
        return Line(row, self._used, joins=joins, sign=sign)

    def _sign_in(self, start: int, end: int) -> tuple[int, str, str] | None:
        """Return the sign, placed in the row of the characters [start, end)."""
        if self._sign is None:
            return None
        at, sign, style = self._sign
        if not start <= at < end:
            return None
        # In the blank before the word, else in the gutter: the words keep their places while they light up.
        place = self._used + at - start if at > start and self._runs[0][0][-1:] == " " else self._used
        return max(0, place - 1), sign, style
