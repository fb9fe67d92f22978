"""List the events that a filter lets through, found in portions.

Without a filter all events are listed, and none is read.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, overload

from gemini_live_runtime.json_values import encode_line
from gemini_live_runtime.records import record

if TYPE_CHECKING:
    from gemini_live_runtime.events import Event
    from gemini_live_runtime.journal.history.session_history import History

STRETCH = 100
"""Events looked at between two looks at the clock."""


@record
class EventFilter:
    """Filter of events.

    One of `types` must fit, names or patterns with `*`; every one of `texts` must occur. Empty ones let all through.
    """

    types: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    @classmethod
    def read(cls, written: str) -> EventFilter:
        """Parse a filter: words with a dot or star are types, quotes keep words together."""
        types: list[str] = []
        texts: list[str] = []
        for number, part in enumerate(written.split('"')):
            if number % 2:
                if part:
                    texts.append(part.lower())
                continue
            for word in part.split():
                (types if "." in word or "*" in word else texts).append(word.lower())
        return cls(tuple(types), tuple(texts))

    def __bool__(self) -> bool:
        return bool(self.types or self.texts)

    def lets(self, event: Event) -> bool:
        """Return True when an event is shown."""
        if self.types and not any(fnmatchcase(event.type, one) for one in self.types):
            return False
        if not self.texts:
            return True
        line = event.to_line().lower()
        return all(text in line or (not text.isascii() and _escaped(text) in line) for text in self.texts)


def _escaped(text: str) -> str:
    return encode_line(text)[1:-1].lower()


class Numbers(Sequence[str]):
    """Ordered numbers as texts, made on access."""

    __slots__ = ("numbers",)

    def __init__(self, numbers: Sequence[int]) -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [str(number) for number in self.numbers[index]]
        return str(self.numbers[index])

    def __contains__(self, row: object) -> bool:
        if not isinstance(row, str) or not row.isdecimal():
            return False
        at = bisect_left(self.numbers, int(row))
        return at < len(self.numbers) and self.numbers[at] == int(row)

    def index(self, row: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the position of a number."""
        if row not in self:
            raise ValueError(row)
        return bisect_left(self.numbers, int(row))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbers) and self.numbers == other.numbers

    def __hash__(self) -> int:
        return len(self.numbers)


class EventIndex:
    """Rows of one history under one filter; `scan` finds them, newest first."""

    def __init__(self, history: History, only: EventFilter) -> None:
        self.history = history
        self.only = only
        self._older: list[int] = []
        self._newer: list[int] = []
        self._low = history.last_seq + 1
        """First event looked at; from here to `_high` all were."""
        self._high = history.last_seq

    @property
    def rows(self) -> Sequence[str]:
        """Numbers of the events to show, oldest first."""
        if not self.only:
            return Numbers(range(self.history.first_seq, self.history.last_seq + 1))
        return Numbers([*reversed(self._older), *self._newer])

    @property
    def searched(self) -> float:
        """Share of the history that was looked at, 0 to 1."""
        first, last = self.history.first_seq, self.history.last_seq
        if not self.only or last < first:
            return 1.0
        return min(1.0, (self._high - max(self._low, first) + 1) / (last - first + 1))

    def scan(self, budget_s: float = 0.01) -> bool:
        """Look at new events, then at older ones for about `budget_s` seconds.

        Return True while there are more to look at.
        """
        if not self.only:
            return False
        history = self.history
        deadline = time.perf_counter() + budget_s
        while self._high < history.last_seq:
            end = min(history.last_seq, self._high + STRETCH)
            self._newer.extend(event.seq for event in history.events(self._high + 1, end) if self.only.lets(event))
            self._high = end
            if time.perf_counter() > deadline:
                return True
        while self._low > history.first_seq:
            first = max(history.first_seq, self._low - STRETCH)
            found = [event.seq for event in history.events(first, self._low - 1) if self.only.lets(event)]
            self._older.extend(reversed(found))
            self._low = first
            if time.perf_counter() > deadline:
                return self._low > history.first_seq
        return False
