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
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_runtime import vocabulary
from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.events import Event, Meters
from gemini_live_runtime.journal.fold import apply
from gemini_live_runtime.journal.keyframes import BlockArchive, decode_view, encode_view
from gemini_live_runtime.journal.pages import Page, TypeMarks
from gemini_live_runtime.journal.shelf import Shelf
from gemini_live_runtime.journal.view import Dirty, SessionView

if TYPE_CHECKING:
    from gemini_live_runtime.journal.recorded import RecordedHistory

PAGE = 500
"""Events of a page: what a seek folds at most."""

PAGE_BYTES = 1024 * 1024
"""Bytes of lines after which a page ends early."""

MAX_HELD = 4 * 1024 * 1024
"""Bytes of compressed pages and keyframes in memory; beyond, the oldest events can no longer be reached."""

KEYFRAME_EVERY = 4
"""Pages for each keyframe, where memory has no room for one a page."""

WRITER_BEHIND_S = 2.0
"""Seconds that the end of a recording is waited for, when its session goes on."""

_LOOK_EVERY_S = 0.05

CACHED_PAGES = 4
"""Pages kept decoded, for scrubbing to and fro."""

TURNS = frozenset({"turn.started"})
TRANSITIONS = frozenset({"phase.entered"})
FIRINGS = frozenset({"watcher.fired", "pattern.fired"})
MARKS = frozenset({"mark.set"})
"""Event types that one may step by, see `History.following`."""


class History:
    """The events of a live session, in reach from `first_seq` to `last_seq`.

    `base` is the view to begin with: that of a `Snapshot` when attaching, nothing for a session seen from its start.
    `live` is the view after the last event. The history owns it: events reach it through `append` alone; samples may
    be folded into it, no other view shows them. While the session is not recorded nothing is written to disk: what
    fits into `MAX_HELD` can be reached. Otherwise a nameless temporary file takes what is not in memory.

    Numbers between `first_seq` and `last_seq` that no event has (they were lost on the way) stand for the event before.
    All methods that read raise `JournalError` with a sentence when they are asked for what is out of reach, or when
    the disk fails. Views and events that they return belong to the caller.
    """

    def __init__(self, base: SessionView | None = None) -> None:
        self.live = SessionView() if base is None else base
        self.earlier: RecordedHistory | None = None
        """What was before `base`, once `load_earlier` has brought it."""
        self._session_id = self.live.session_id
        self._shelf = Shelf()
        self._archive = BlockArchive(self._shelf)
        self._marks = TypeMarks()
        self._pages: list[Page] = []
        self._meters = self.live.meters
        self._t = self.live.t
        self._cache: OrderedDict[int, list[Event]] = OrderedDict()
        self._base: tuple[int, SessionView] | None = None
        self._cursor: tuple[int, SessionView] | None = None
        self._open_lines: list[str] = []
        self._open_page(0)

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

    def _take(self, event: Event, size: int) -> Dirty:
        page = self._open
        if not page.count:
            page.first, page.begins_at = event.seq, max(page.t, event.t)
        page.last, page.t, page.turn = event.seq, max(page.t, event.t), max(page.turn, event.turn)
        page.count += 1
        page.size += size
        page.types |= self._marks.bit(event.type)
        self._open_events.append(event)
        dirty = apply(self.live, event)
        self._t = event.t
        if isinstance(event.payload, Meters):
            self._meters = self.live.meters
        if page.count >= PAGE or page.size >= PAGE_BYTES:
            self._turn_page()
        return dirty

    def _open_page(self, number: int) -> None:
        view = self._open_view = self._now()
        t, turn = (self._pages[-1].t, self._pages[-1].turn) if self._pages else (view.t, view.turn)
        page = self._open = Page(number, first=view.seq + 1, last=view.seq, begins_at=t, t=t, turn=turn)
        page.blocks = (view.blocks_forgotten + 1, view.next_block)
        self._open_events: list[Event] = []
        if number == 0:
            self._archive.sync(view, 0, disk=False)

    def _turn_page(self) -> None:
        page, disk = self._open, self._may_write
        self._pages.append(page)
        oldest = self._pages[0].number
        for block, since in self._archive.sync(self.live, page.number + 1, disk=disk):
            for earlier in self._pages[max(0, since - oldest) :]:
                earlier.late[block.id] = block
        page.keyframe = self._shelf.put(encode_view(self._open_view, page.late.values()), disk=disk)
        page.late = {}
        self._keep_lines(page)
        self._open_page(page.number + 1)
        self._make_room()

    def _keep_lines(self, page: Page) -> None:
        page.lines = self._shelf.put("\n".join(self._open_lines).encode("utf-8", "surrogatepass"), disk=self._may_write)
        self._open_lines = []

    @property
    def _may_write(self) -> bool:
        return self.live.record != "off"

    def _make_room(self) -> None:
        """Keep within `MAX_HELD`: first three of four keyframes go, then the oldest pages."""
        if self._shelf.held <= MAX_HELD:
            return
        for page in self._pages[1:-1]:
            if page.number % KEYFRAME_EVERY and isinstance(page.keyframe, bytes):
                self._drop_keyframe(page)
                if self._shelf.held <= MAX_HELD:
                    return
        while self._shelf.held > MAX_HELD and len(self._pages) > 1:
            self._drop_oldest()

    def _drop_keyframe(self, page: Page) -> None:
        if page.keyframe is not None:
            self._shelf.drop(page.keyframe)
        page.keyframe = None

    def _drop_oldest(self) -> None:
        """Drop the oldest pages up to the next one that has a keyframe."""
        while True:
            page = self._pages.pop(0)
            self._drop_keyframe(page)
            if page.lines is not None:
                self._shelf.drop(page.lines)
            self._cache.pop(page.number, None)
            if len(self._pages) == 1 or self._pages[0].keyframe is not None:
                break
        self._archive.forget(self._pages[0].blocks[0])
        if self.earlier is not None:
            self.earlier.close()
            self.earlier = None

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

    # -- reach --------------------------------------------------------------------------------------------------------

    @property
    def first_seq(self) -> int:
        """The first event in reach; `view_at` also answers for the moment before it. `last_seq` + 1: there is none."""
        if self.earlier is not None:
            return self.earlier.first_seq
        return self._pages[0].first if self._pages else self._open.first

    @property
    def last_seq(self) -> int:
        """The last event, `live.seq`."""
        return self.live.seq

    @property
    def count(self) -> int:
        """How many events are in reach."""
        own = sum(page.count for page in self._pages) + self._open.count
        return own + (self.earlier.count if self.earlier is not None else 0)

    @property
    def held_bytes(self) -> int:
        """Bytes of compressed pages in memory, at most about `MAX_HELD`."""
        return self._shelf.held

    # -- views and events ---------------------------------------------------------------------------------------------

    def view_at(self, seq: int) -> SessionView:
        """The view after event `seq`, as if events 1 to `seq` had been folded from nothing.

        `seq` goes from `first_seq` - 1 (before the first event in reach) to `last_seq`; above, it is the last view.
        """
        if seq >= self.live.seq:
            return self._now()
        if self._is_earlier(seq + 1):
            assert self.earlier is not None
            return self.earlier.view_at(seq)
        if seq < self._own_first - 1:
            raise self._out_of_reach(seq)
        page = self._page_of(max(seq, self._own_first))
        with self._reading(seq):
            return self._view_in(page, seq).snapshot()

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

    # -- pages --------------------------------------------------------------------------------------------------------

    @property
    def _own_first(self) -> int:
        return self._pages[0].first if self._pages else self._open.first

    def _is_earlier(self, seq: int) -> bool:
        return self.earlier is not None and seq < self._own_first

    def _all_pages(self) -> list[Page]:
        return [*self._pages, self._open] if self._open.count else self._pages

    def _page_of(self, seq: int) -> Page:
        if self._open.count and seq >= self._open.first:
            return self._open
        index = bisect_right(self._pages, seq, key=_first) - 1
        if index < 0:
            raise self._out_of_reach(seq)
        return self._pages[index]

    def _pages_from(self, seq: int) -> Iterator[Page]:
        """Pages with events from `seq` on, in order."""
        pages = self._all_pages()
        yield from pages[bisect_left(pages, seq, key=_last) :]

    def _pages_back_from(self, seq: int) -> Iterator[Page]:
        """Pages with events up to `seq`, newest first."""
        pages = self._all_pages()
        yield from reversed(pages[: bisect_right(pages, seq, key=_first)])

    def _events(self, page: Page) -> list[Event]:
        if page is self._open:
            return self._open_events
        events = self._cache.get(page.number)
        if events is None:
            with self._reading(page.first):
                events = self._read(page)
            if (len(events), events[-1].seq if events else 0) != (page.count, page.last):
                raise JournalError(
                    f"Events {page.first} to {page.last} can no longer be read: the session file was changed",
                    remedy="Open it again",
                    field="seq",
                    value=page.first,
                )
            self._cache[page.number] = events
            while len(self._cache) > CACHED_PAGES:
                self._cache.popitem(last=False)
        self._cache.move_to_end(page.number)
        return events

    def _read(self, page: Page) -> list[Event]:
        assert page.lines is not None
        return [vocabulary.event_from_line(line) for line in self._shelf.get(page.lines).split(b"\n")]

    def _view_in(self, page: Page, seq: int) -> SessionView:
        """The view after `seq`, which is in `page`; it belongs to the history."""
        number, view = self._cursor or (-1, None)
        if view is None or number != page.number or view.seq > seq:
            view = self._keyframe(page)
        for event in self._events(page):
            if event.seq > seq:
                break
            if event.seq > view.seq:
                apply(view, event)
        self._cursor = (page.number, view)
        return view

    def _keyframe(self, page: Page) -> SessionView:
        """The view before the first event of `page`."""
        if page is self._open:
            return self._open_view.snapshot()
        number, base = self._base or (-1, None)
        if base is None or number != page.number:
            base = self._restored(page)
            self._base = (page.number, base)
        return base.snapshot()

    def _restored(self, page: Page) -> SessionView:
        index = page.number - self._pages[0].number
        nearest = index
        while self._pages[nearest].keyframe is None:
            nearest -= 1
        kept = self._pages[nearest]
        assert kept.keyframe is not None
        view = decode_view(self._shelf.get(kept.keyframe))
        blocks = view.blocks
        first, end = kept.blocks
        view.blocks = self._archive.blocks(first, end)
        for block in (*blocks, *kept.late.values()):
            view.blocks[block.id - first] = block
        for between in self._pages[nearest:index]:
            for event in self._events(between):
                apply(view, event)
        return view

    def _now(self) -> SessionView:
        """A copy of the live view without the samples that were folded into it."""
        view = self.live.snapshot()
        view.meters, view.t = self._meters, self._t
        return view

    @contextmanager
    def _reading(self, seq: int) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            # ValueError: a file that is closed.
            reason = getattr(error, "strerror", None) or error
            raise JournalError(
                f"The session at event {seq} cannot be read back: {reason}", field="seq", value=seq
            ) from None

    def _out_of_reach(self, seq: int) -> JournalError:
        reach = f"events {self.first_seq} to {self.last_seq} are" if self.count else "nothing is"
        return JournalError(f"Event {seq} is not in reach: {reach}", field="seq", value=seq)


def _first(page: Page) -> int:
    return page.first


def _last(page: Page) -> int:
    return page.last


def _begins_at(page: Page) -> float:
    return page.begins_at


def _turn(page: Page) -> int:
    return page.turn
