"""Store the events of a session in pages with keyframes, and read them back.

The open page holds its events decoded. With `PAGE` events it is closed: its lines are compressed into a `BlobStore`,
and so is the keyframe, the view before its first event. To restore a view, decode the keyframe of its page and fold
the page's events up to the wanted one: at most `PAGE` events, however long the session is.

Keyframes share one archive of transcript blocks (see `keyframes`). A block may change after a keyframe with its old
version was made; `_close_page` then stores that version with each page that needs it.

Two caches serve moving to and fro: `_base` is the last decoded keyframe, `_cursor` a view folded on from it that only
moves forwards. Both belong to one page; a page number that differs invalidates them.
"""

from __future__ import annotations

import gc
import json
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from operator import attrgetter
from typing import Any

from gemini_live_runtime import vocabulary
from gemini_live_runtime.errors import JournalError, ProtocolError
from gemini_live_runtime.events import Event, Meters
from gemini_live_runtime.journal.fold.session_fold import apply
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.journal.history.blob_store import BlobStore
from gemini_live_runtime.journal.history.keyframes import BlockArchive, decode_view, encode_view
from gemini_live_runtime.journal.history.pages import Page, TypeBits

PAGE = 500
"""Events of a page, and so the most that a seek folds."""

PAGE_BYTES = 1024 * 1024
"""Bytes of lines after which a page ends early."""

MAX_MEMORY_BYTES = 4 * 1024 * 1024
"""Bytes of compressed pages and keyframes in memory; beyond it the oldest pages are dropped."""

KEYFRAME_EVERY = 4
"""Pages per keyframe when memory has no room for one per page."""

CACHED_PAGES = 4
"""Pages kept decoded, for moving to and fro."""

_SEQ = attrgetter("seq")


@contextmanager
def without_gc() -> Iterator[None]:
    """Pause the garbage collector.

    Decoded events have no cycles, and looking for some costs more than decoding.
    """
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


class PageStore:
    """Pages of events, their keyframes and the view `live` after the last event."""

    def __init__(self, base: SessionView) -> None:
        self.live = base
        self._store = BlobStore()
        self._archive = BlockArchive(self._store)
        self._types = TypeBits()
        self._pages: list[Page] = []
        self._meters = base.meters
        self._t = base.t
        self._cache: OrderedDict[int, list[Event]] = OrderedDict()
        self._base: tuple[int, SessionView] | None = None
        self._cursor: tuple[int, SessionView] | None = None
        self._open_lines: list[str] = []
        self._open_page(0)

    @property
    def memory_bytes(self) -> int:
        """Bytes of compressed pages in memory, at most about `MAX_MEMORY_BYTES`."""
        return self._store.memory_bytes

    # -- adding -------------------------------------------------------------------------------------------------------

    def _add(self, event: Event, size: int) -> Dirty:
        page = self._open
        if not page.count:
            page.first, page.begins_at = event.seq, max(page.t, event.t)
        page.last, page.t, page.turn = event.seq, max(page.t, event.t), max(page.turn, event.turn)
        page.count += 1
        page.size += size
        page.types |= self._types.bit(event.type)
        self._open_events.append(event)
        dirty = apply(self.live, event)
        self._t = event.t
        if isinstance(event.payload, Meters):
            self._meters = self.live.meters
        if page.count >= PAGE or page.size >= PAGE_BYTES:
            self._close_page()
        return dirty

    def _open_page(self, number: int) -> None:
        # The view before the page's first event: it becomes the keyframe when the page is closed.
        view = self._open_view = self._now()
        t, turn = (self._pages[-1].t, self._pages[-1].turn) if self._pages else (view.t, view.turn)
        page = self._open = Page(number, first=view.seq + 1, last=view.seq, begins_at=t, t=t, turn=turn)
        page.blocks = (view.blocks_forgotten + 1, view.next_block)
        self._open_events: list[Event] = []
        if number == 0:
            self._archive.sync(view, 0, disk=False)

    def _close_page(self) -> None:
        page, disk = self._open, self._may_write
        self._pages.append(page)
        oldest = self._pages[0].number
        for block, since in self._archive.sync(self.live, page.number + 1, disk=disk):
            # Keyframes of pages from `since` on refer to this version, which the archive has just replaced.
            for earlier in self._pages[max(0, since - oldest) :]:
                earlier.late[block.id] = block
        # The keyframe of the page being closed takes its versions along; earlier keyframes are encoded already.
        page.keyframe = self._store.put(encode_view(self._open_view, page.late.values()), disk=disk)
        page.late = {}
        self._store_lines(page)
        self._open_page(page.number + 1)
        self._limit_memory()

    def _store_lines(self, page: Page) -> None:
        page.lines = self._store.put("\n".join(self._open_lines).encode("utf-8", "surrogatepass"), disk=self._may_write)
        self._open_lines = []

    @property
    def _may_write(self) -> bool:
        return self.live.record != "off"

    def _limit_memory(self) -> None:
        """Drop three of four keyframes, then the oldest pages, to fit the memory."""
        if self._store.memory_bytes <= MAX_MEMORY_BYTES:
            return
        for page in self._pages[1:-1]:
            if page.number % KEYFRAME_EVERY and isinstance(page.keyframe, bytes):
                self._drop_keyframe(page)
                if self._store.memory_bytes <= MAX_MEMORY_BYTES:
                    return
        while self._store.memory_bytes > MAX_MEMORY_BYTES and len(self._pages) > 1:
            self._drop_oldest()

    def _drop_keyframe(self, page: Page) -> None:
        if page.keyframe is not None:
            self._store.drop(page.keyframe)
        page.keyframe = None

    def _drop_oldest(self) -> None:
        """Drop the oldest pages up to the next one that has a keyframe."""
        # A page without a keyframe is restored from an earlier page's: as the first it would be out of reach.
        while True:
            page = self._pages.pop(0)
            self._drop_keyframe(page)
            if page.lines is not None:
                self._store.drop(page.lines)
            self._cache.pop(page.number, None)
            if len(self._pages) == 1 or self._pages[0].keyframe is not None:
                break
        self._archive.forget(self._pages[0].blocks[0])

    # -- reading back -------------------------------------------------------------------------------------------------

    @property
    def _own_first(self) -> int:
        return self._pages[0].first if self._pages else self._open.first

    def _all_pages(self) -> list[Page]:
        return [*self._pages, self._open] if self._open.count else self._pages

    def _page_of(self, seq: int) -> Page:
        """Return the page that contains `seq`, or the last one before it."""
        if self._open.count and seq >= self._open.first:
            return self._open
        return self._pages[max(0, bisect_right(self._pages, seq, key=attrgetter("first")) - 1)]

    def _pages_from(self, seq: int) -> Iterator[Page]:
        """Yield the pages with events from `seq` on, in order."""
        pages = self._all_pages()
        yield from pages[bisect_left(pages, seq, key=attrgetter("last")) :]

    def _pages_back_from(self, seq: int) -> Iterator[Page]:
        """Yield the pages with events up to `seq`, newest first."""
        pages = self._all_pages()
        yield from reversed(pages[: bisect_right(pages, seq, key=attrgetter("first"))])

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
        return decode_lines(self._store.get(page.lines))

    def _view_in(self, page: Page, seq: int) -> SessionView:
        """Return the view after `seq`, an event of `page`; the caller must copy it."""
        number, view = self._cursor or (-1, None)
        # A fold cannot go back: for an earlier event start again from the keyframe.
        if view is None or number != page.number or view.seq > seq:
            view = self._keyframe(page)
        events = self._events(page)
        for event in islice(events, bisect_right(events, view.seq, key=_SEQ), bisect_right(events, seq, key=_SEQ)):
            apply(view, event)
        self._cursor = (page.number, view)
        return view

    def _keyframe(self, page: Page) -> SessionView:
        """Return the view before the first event of `page`."""
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
        start = self._pages[nearest]
        assert start.keyframe is not None
        first, end = start.blocks
        with self._reading(start.first):
            view = decode_view(self._store.get(start.keyframe))
            blocks, view.blocks = view.blocks, self._archive.blocks(first, end)
        # The archive has the newest version of each block; put those of that moment in their places.
        for block in (*blocks, *start.late.values()):
            view.blocks[block.id - first] = block
        for between in self._pages[nearest:index]:
            for event in self._events(between):
                apply(view, event)
        return view

    def _now(self) -> SessionView:
        """Return a copy of the live view without the samples that were folded into it."""
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


def decode_lines(lines: bytes) -> list[Event]:
    """Return the events of lines that were decoded before.

    Raises `ValueError` when one has changed since.
    """
    # Decoding one JSON list takes a quarter of the time of decoding its lines one by one.
    values = parse_json(b"[%b]" % lines.strip().replace(b"\n", b","))
    try:
        return [vocabulary.event_from_json(value) for value in values]
    except (ProtocolError, AttributeError) as error:
        raise ValueError(str(error)) from None


def parse_json(text: bytes) -> Any:
    """Return the value of JSON text, as `json.loads` does.

    Raises `ValueError`.
    """
    # pydantic's parser takes two thirds of the time, and refuses single surrogates and what is nested deeply.
    from pydantic_core import from_json

    try:
        return from_json(text)
    except ValueError:
        return json.loads(text)
