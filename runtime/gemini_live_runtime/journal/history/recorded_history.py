"""Read the history of a session from a recording, whose lines stay in their file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from gemini_live_runtime.events import Event
from gemini_live_runtime.journal.history import page_store
from gemini_live_runtime.journal.history.page_store import decode_lines, without_gc
from gemini_live_runtime.journal.history.pages import Page
from gemini_live_runtime.journal.history.session_history import History
from gemini_live_runtime.journal.recording.reader import EventLines, Problem, events_between, open_regular, read_journal

SLICE_S = 0.01
"""Seconds of reading before other tasks run."""

_CLOCK_EVERY = 32
"""Lines read between two reads of the clock."""


class RecordedHistory(History):
    """History of a recorded session; `path` is its folder or its `events.jsonl`.

    It begins empty and grows with `load` or `load_all`; all events read so far can be reached, and `live` is the view
    after the last event read. Nothing in the file is trusted: malformed, repeated and torn lines are skipped and
    listed in `problems`. While the session is still being recorded, loading again reads what was added. With `until`
    it ends with that event.

    Raises `JournalError` for a file that is no session, `NewerFormatError` for a newer format.
    """

    def __init__(self, path: Path, *, until: int | None = None) -> None:
        self.journal = read_journal(path)
        super().__init__()
        self._until = until
        self._file = open_regular(self.journal.path)
        self._entries = EventLines(self._file, self.journal.report, has_header=bool(self.journal.header))
        self._ended = False
        self.is_whole = False
        """True once an event after `until` was seen: what was not read before it is not in the recording."""

    @property
    def folder(self) -> Path:
        """Folder of the session, with its audio tracks if it has any."""
        return self.journal.folder

    @property
    def problems(self) -> list[Problem]:
        """Problems of the lines read so far, at most `MAX_PROBLEMS`.

        `journal.problem_count` counts them all.
        """
        return self.journal.problems

    @property
    def torn(self) -> bool:
        """True when the last line is incomplete.

        Its writer was killed, or is writing right now.
        """
        return self._entries.torn

    @property
    def loaded(self) -> float:
        """Share of the file that has been read, 0 to 1."""
        if self._ended:
            return 1.0
        try:
            size = self.journal.path.stat().st_size
        except OSError:
            return 1.0
        return min(1.0, self._entries.offset / size) if size else 1.0

    def load(self, budget_s: float = SLICE_S) -> bool:
        """Read for about `budget_s` seconds and return True when there is more.

        Raises `JournalError` when the disk fails.
        """
        if self.is_whole or self.live.seq == self._until:
            return False
        deadline = time.perf_counter() + budget_s
        self._ended = False  # a session that is still being recorded may have more by now
        with without_gc(), self._reading(self.live.seq + 1):
            for number, (event, offset, end) in enumerate(self._entries, 1):
                if event is not None:
                    if self._until is not None and event.seq > self._until:
                        self.is_whole = True
                        break
                    self._append(event, offset, end)
                if self.live.seq == self._until:
                    break
                if number % _CLOCK_EVERY == 0 and time.perf_counter() > deadline:
                    return True
        self._ended = True
        return False

    async def load_all(self, progress: Callable[[float], None] | None = None) -> None:
        """Load to the end, in slices between other tasks.

        `progress` gets `loaded` after each slice.
        """
        more = True
        while more:
            more = self.load()
            if progress is not None:
                progress(self.loaded)
            await asyncio.sleep(0)

    def close(self) -> None:
        """Close the files; no events can be read afterwards."""
        super().close()
        self._file.close()

    def _append(self, event: Event, offset: int, end: int) -> None:
        begin = self._open.span[0] if self._open.count else offset
        self._open.span = (begin, end)
        self._add(event, end - offset)

    def _store_lines(self, page: Page) -> None:
        """No-op: `page.span` says where the lines are in the recording."""

    @property
    def _may_write(self) -> bool:
        # A recording is on disk already: a temporary file holds nothing that the user chose not to store.
        return True

    def _read(self, page: Page) -> list[Event]:
        offset, end = page.span
        if page.size < end - offset:
            # Some lines between are malformed or repeated: read line by line and skip them as the first time.
            return events_between(self._file, offset, end, page.first - 1)
        self._file.seek(offset)
        lines = self._file.read(end - offset)
        try:
            return decode_lines(lines)
        except (ValueError, RecursionError):
            # Lines may be readable one by one, e.g. with a byte order mark each. If the file was changed events are
            # missing then, which `_events` reports.
            return events_between(self._file, offset, end, page.first - 1)

    def _limit_memory(self) -> None:
        """Drop every second keyframe until the rest fits the memory.

        Seeks fold more events then; all stay in reach, since the lines are in the recording.
        """
        while self._store.memory_bytes > page_store.MAX_MEMORY_BYTES:
            keyframed = [page for page in self._pages if page.keyframe is not None]
            if len(keyframed) < 2:
                return
            for page in keyframed[1::2]:
                self._drop_keyframe(page)
