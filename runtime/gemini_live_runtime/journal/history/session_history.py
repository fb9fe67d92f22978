"""Read a session's history: the view at any event, and the events between.

`LiveHistory` takes the events of a live session as they come, `RecordedHistory` reads them from a file. Both keep in
memory only a sparse index, the open page and bounded caches. The rest is stored compressed: the events of a page, and
the view before its first event (a keyframe). A seek restores one keyframe and folds at most one page on, so that its
time does not depend on the length of the session.

Imports pydantic: a console imports it with the first events, after its first paint.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator
from operator import attrgetter

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.fold.view import SessionView
from gemini_live_runtime.journal.history.page_store import PageStore, without_gc

TURNS = frozenset({"turn.started"})
TRANSITIONS = frozenset({"phase.entered"})
"""Event types to step by, see `History.following`."""


class History(PageStore):
    """Read access to the events of a session, from `first_seq` to `last_seq`.

    `base` is the view to begin with, `live` the view after the last event. The history owns `live`: samples may be
    folded into it, no other view shows them.

    Numbers between `first_seq` and `last_seq` that no event has (they were lost on the way) stand for the event before.
    All methods that read raise `JournalError` when they are asked for an event out of reach, or when the disk fails.
    Views that they return belong to the caller.
    """

    def __init__(self, base: SessionView | None = None) -> None:
        super().__init__(SessionView() if base is None else base)
        self.earlier: History | None = None
        """History that ends where this one begins, read from a recording; None when `base` is the beginning."""

    def close(self) -> None:
        """Close the files, those of `earlier` too; no events can be read afterwards."""
        if self.earlier is not None:
            self.earlier.close()
        self._store.close()

    # -- reach --------------------------------------------------------------------------------------------------------

    @property
    def first_seq(self) -> int:
        """Number of the first event in reach; `last_seq` + 1 without one.

        `view_at` also takes the number before it.
        """
        if self.earlier is not None:
            return self.earlier.first_seq
        return self._own_first

    @property
    def last_seq(self) -> int:
        """Number of the last event, `live.seq`."""
        return self.live.seq

    @property
    def count(self) -> int:
        """Number of events in reach."""
        own = sum(page.count for page in self._pages) + self._open.count
        return own + (self.earlier.count if self.earlier is not None else 0)

    # -- views and events ---------------------------------------------------------------------------------------------

    def view_at(self, seq: int) -> SessionView:
        """Return the view after event `seq`: the fold of events 1 to `seq`.

        `seq` goes from `first_seq` - 1 (before the first event in reach) to `last_seq`; above, it is the last view.
        """
        if seq >= self.live.seq:
            return self._now()
        if seq < self._own_first - 1:
            if self.earlier is not None:
                return self.earlier.view_at(seq)
            raise self._out_of_reach(seq)
        with without_gc():
            return self._view_in(self._page_of(max(seq, self._own_first)), seq).snapshot()

    def event(self, seq: int) -> Event:
        """Return the event with number `seq`."""
        for event in self.events(seq, seq):
            return event
        raise self._out_of_reach(seq)

    def events(self, first: int, last: int) -> Iterator[Event]:
        """Yield the events from `first` to `last`, in order, without those out of reach."""
        if self.earlier is not None:
            yield from self.earlier.events(first, last)
        for page in self._pages_from(first):
            if page.first > last:
                return
            for event in self._events(page):
                if first <= event.seq <= last:
                    yield event

    def events_back(self, last: int) -> Iterator[Event]:
        """Yield the events in reach from number `last` back, newest first."""
        for page in self._pages_back_from(last):
            for event in reversed(self._events(page)):
                if event.seq <= last:
                    yield event
        if self.earlier is not None:
            yield from self.earlier.events_back(last)

    # -- finding ------------------------------------------------------------------------------------------------------

    def following(self, seq: int, types: Collection[str]) -> int | None:
        """Return the number of the first event of `types` after `seq`, or None.

        `types` are names of event types, such as `TURNS`.
        """
        if self.earlier is not None and (found := self.earlier.following(seq, types)) is not None:
            return found
        bits = self._types.any_of(types)
        for page in self._pages_from(seq + 1):
            if page.types & bits:
                for event in self._events(page):
                    if event.seq > seq and event.type in types:
                        return event.seq
        return None

    def preceding(self, seq: int, types: Collection[str]) -> int | None:
        """Return the number of the last event of `types` before `seq`, or None."""
        bits = self._types.any_of(types)
        for page in self._pages_back_from(seq - 1):
            if page.types & bits:
                for event in reversed(self._events(page)):
                    if event.seq < seq and event.type in types:
                        return event.seq
        return self.earlier.preceding(seq, types) if self.earlier is not None else None

    def seq_at_time(self, t: float) -> int:
        """Return the number of the last event at or before `t` seconds.

        `first_seq` - 1 when all events in reach are later.
        """
        pages = self._all_pages()
        index = bisect_right(pages, t, key=attrgetter("begins_at")) - 1
        found = None
        if index >= 0:
            for event in self._events(pages[index]):
                if event.t > t:
                    break
                found = event.seq
        if found is not None:
            return found
        return self.earlier.seq_at_time(t) if self.earlier is not None else self._own_first - 1

    def turn_bounds(self, turn: int) -> tuple[int, int] | None:
        """Return the numbers of a turn's first and last event in reach, or None.

        A turn ends before the first event of a later one; an event stamped with an earlier turn than an event before
        it belongs to that event's turn.
        """
        own = self._own_turn_bounds(turn)
        before = self.earlier.turn_bounds(turn) if self.earlier is not None else None
        if before is None or own is None:
            return before or own
        return before[0], own[1]

    def _own_turn_bounds(self, turn: int) -> tuple[int, int] | None:
        first = self._first_of_turn(turn)
        if first is None or first.turn != turn:
            return None
        after = self._first_of_turn(turn + 1)
        return first.seq, self.live.seq if after is None else self._before(after.seq)

    def _first_of_turn(self, turn: int) -> Event | None:
        """Return the first event stamped with `turn` or a later one."""
        pages = self._all_pages()
        index = bisect_left(pages, turn, key=attrgetter("turn"))
        if index >= len(pages):
            return None
        return next((event for event in self._events(pages[index]) if event.turn >= turn), None)

    def _before(self, seq: int) -> int:
        """Return the number of the event before `seq`."""
        for page in self._pages_back_from(seq - 1):
            return max(event.seq for event in self._events(page) if event.seq < seq)
        return seq - 1

    def _out_of_reach(self, seq: int) -> JournalError:
        reach = f"events {self.first_seq} to {self.last_seq} are" if self.count else "nothing is"
        return JournalError(f"Event {seq} is not in reach: {reach}", field="seq", value=seq)
