"""The history of a session: the view at any of its events, and the way from one to another.

`History` takes the events of a live session as they come, `recorded.RecordedHistory` reads them from a file. Both keep
in memory only a sparse index, the open page and bounded caches. Everything else waits compressed on a `Shelf`: the
events of a page, and the view before its first event (a keyframe). A seek restores one keyframe and folds at most one
page on, so that its time does not depend on the length of the session.

Imports pydantic: a console imports it with the first events, after its first paint.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.keeping import PageKeeper, uncollected
from gemini_live_runtime.journal.pages import Page
from gemini_live_runtime.journal.view import Dirty, SessionView

if TYPE_CHECKING:
    from gemini_live_runtime.journal.recorded import RecordedHistory

WRITER_BEHIND_S = 2.0
"""Seconds that the end of a recording is waited for, when its session goes on."""

_LOOK_EVERY_S = 0.05

TURNS = frozenset({"turn.started"})
TRANSITIONS = frozenset({"phase.entered"})
"""Event types that one may step by, see `History.following`."""


class History(PageKeeper):
    """The events of a live session, in reach from `first_seq` to `last_seq`.

    `base` is the view to begin with: that of a `Snapshot` when attaching, nothing for a session seen from its start.
    `live` is the view after the last event. The history owns it: events reach it through `append` alone; samples may
    be folded into it, no other view shows them. While the session is not recorded nothing is written to disk: what
    fits into `MAX_HELD` can be reached. Otherwise a nameless temporary file takes what is not in memory.

    Numbers between `first_seq` and `last_seq` that no event has (they were lost on the way) stand for the event before.
    All methods that read raise `JournalError` with a sentence when they are asked for what is out of reach, or when
    the disk fails. Views that they return belong to the caller.
    """

    def __init__(self, base: SessionView | None = None) -> None:
        super().__init__(SessionView() if base is None else base)
        self.earlier: RecordedHistory | None = None
        """What was before `base`, once `load_earlier` has brought it."""
        self._session_id = self.live.session_id

    # -- filling ------------------------------------------------------------------------------------------------------

    def append(self, event: Event, line: str = "") -> Dirty:
        """Fold the next event into `live` and keep it; says what changed. `line` is its wire form, if that is at hand.

        An event that is not newer than the last is passed over. Takes microseconds, and once a page some
        milliseconds. What does not survive its wire form unchanged is in the past as the wire form says.
        """
        if event.seq <= self.live.seq:
            return Dirty.NONE
        line = line or event.to_line()
        self._open_lines.append(line)
        return self._take(event, len(line))

    async def load_earlier(self, path: Path, progress: Callable[[float], None] | None = None) -> None:
        """Read what was before `base` from the session's recording at `path`, in between other tasks.

        `progress` is told a share from 0 to 1 now and then. After it `first_seq` is that of the recording. Its writer
        may be a moment behind the link: that is waited for. Raises `JournalError` when the recording is not this
        session's, or does not reach up to what is here.
        """
        from gemini_live_runtime.journal.recorded import RecordedHistory

        if self.earlier is not None or self.first_seq <= 1:
            return
        earlier = RecordedHistory(path, until=self.first_seq - 1)
        try:
            await earlier.load_all(progress)
            waited = 0.0
            while earlier.last_seq < self.first_seq - 1 and waited < WRITER_BEHIND_S:
                await asyncio.sleep(_LOOK_EVERY_S)
                waited += _LOOK_EVERY_S
                earlier.load()
            self.join(earlier)
        except BaseException:
            earlier.close()
            raise

    def join(self, earlier: RecordedHistory) -> None:
        """Put a loaded recording in front; raises `JournalError` when it does not fit. It is closed with this."""
        if earlier.live.session_id != self._session_id or earlier.last_seq != self.first_seq - 1:
            raise JournalError(
                f"The recording ends with event {earlier.last_seq} of session {earlier.live.session_id or 'unknown'}, "
                f"needed is event {self.first_seq - 1} of session {self._session_id or 'unknown'}",
                field="seq",
                value=earlier.last_seq,
            )
        self.earlier = earlier

    def close(self) -> None:
        """Let go of files; nothing can be read any more."""
        if self.earlier is not None:
            self.earlier.close()
        self._shelf.close()

    def _drop_oldest(self) -> None:
        super()._drop_oldest()
        if self.earlier is not None:
            # It would no longer reach up to what is here.
            self.earlier.close()
            self.earlier = None

    # -- reach --------------------------------------------------------------------------------------------------------

    @property
    def first_seq(self) -> int:
        """The first event in reach; `view_at` also answers for the moment before it. `last_seq` + 1: there is none."""
        if self.earlier is not None:
            return self.earlier.first_seq
        return self._own_first

    @property
    def last_seq(self) -> int:
        """The last event, `live.seq`."""
        return self.live.seq

    @property
    def count(self) -> int:
        """How many events are in reach."""
        own = sum(page.count for page in self._pages) + self._open.count
        return own + (self.earlier.count if self.earlier is not None else 0)

    # -- views and events ---------------------------------------------------------------------------------------------

    def view_at(self, seq: int) -> SessionView:
        """The view after event `seq`, as if events 1 to `seq` had been folded from nothing.

        `seq` goes from `first_seq` - 1 (before the first event in reach) to `last_seq`; above, it is the last view.
        """
        if seq >= self.live.seq:
            return self._now()
        if seq < self._own_first - 1:
            if self.earlier is not None:
                return self.earlier.view_at(seq)
            raise self._out_of_reach(seq)
        with uncollected():
            return self._view_in(self._page_of(max(seq, self._own_first)), seq).snapshot()

    def event(self, seq: int) -> Event:
        """The event with number `seq`."""
        for event in self.events(seq, seq):
            return event
        raise self._out_of_reach(seq)

    def events(self, first: int, last: int) -> Iterator[Event]:
        """The events with numbers from `first` to `last`, in order; those that are not in reach are left out."""
        if self.earlier is not None:
            yield from self.earlier.events(first, last)
        for page in self._pages_from(first):
            if page.first > last:
                return
            for event in self._events(page):
                if first <= event.seq <= last:
                    yield event

    def events_back(self, last: int) -> Iterator[Event]:
        """The events in reach from number `last` back, newest first."""
        for page in self._pages_back_from(last):
            for event in reversed(self._events(page)):
                if event.seq <= last:
                    yield event
        if self.earlier is not None:
            yield from self.earlier.events_back(last)

    # -- finding ------------------------------------------------------------------------------------------------------

    def following(self, seq: int, types: Collection[str]) -> int | None:
        """The number of the first event after `seq` with one of `types`, such as `TURNS`; None when there is none."""
        if self.earlier is not None and (found := self.earlier.following(seq, types)) is not None:
            return found
        marks = self._marks.any_of(types)
        for page in self._pages_from(seq + 1):
            if page.types & marks:
                for event in self._events(page):
                    if event.seq > seq and event.type in types:
                        return event.seq
        return None

    def preceding(self, seq: int, types: Collection[str]) -> int | None:
        """The number of the last event before `seq` with one of `types`; None when there is none in reach."""
        marks = self._marks.any_of(types)
        for page in self._pages_back_from(seq - 1):
            if page.types & marks:
                for event in reversed(self._events(page)):
                    if event.seq < seq and event.type in types:
                        return event.seq
        return self.earlier.preceding(seq, types) if self.earlier is not None else None

    def seq_at_time(self, t: float) -> int:
        """The number of the last event at or before `t` seconds; `first_seq` - 1 when all in reach are later."""
        pages = self._all_pages()
        index = bisect_right(pages, t, key=_begins_at) - 1
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
        """The numbers of the first and the last event of a turn; None when none in reach is stamped with it.

        A turn ends where a later one begins; an event that is stamped with an earlier turn than others before it
        belongs to theirs.
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
        """The first event stamped with `turn` or a later one."""
        pages = self._all_pages()
        index = bisect_left(pages, turn, key=_turn)
        if index >= len(pages):
            return None
        return next((event for event in self._events(pages[index]) if event.turn >= turn), None)

    def _before(self, seq: int) -> int:
        """The number of the event before `seq`."""
        for page in self._pages_back_from(seq - 1):
            return max(event.seq for event in self._events(page) if event.seq < seq)
        return seq - 1

    def _out_of_reach(self, seq: int) -> JournalError:
        reach = f"events {self.first_seq} to {self.last_seq} are" if self.count else "nothing is"
        return JournalError(f"Event {seq} is not in reach: {reach}", field="seq", value=seq)


def _begins_at(page: Page) -> float:
    return page.begins_at


def _turn(page: Page) -> int:
    return page.turn
