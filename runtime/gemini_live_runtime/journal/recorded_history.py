"""The history of a session that is read from a recording: its lines stay in their file."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from gemini_live_runtime.events import Event
from gemini_live_runtime.journal import page_store
from gemini_live_runtime.journal.history import History
from gemini_live_runtime.journal.page_store import decode_lines, without_gc
from gemini_live_runtime.journal.pages import Page
from gemini_live_runtime.journal.reader import EventLines, Problem, events_between, open_regular, read_journal

SLICE_S = 0.01
"""Seconds that reading goes on before other tasks get a turn."""

_CLOCK_EVERY = 32
"""Lines read between two looks at the clock."""


class RecordedHistory(History):
    """The history of the session folder, or of the `events.jsonl`, at `path`.

    It begins empty and grows with `load` or `load_all`; everything read so far can be sought at once, and `live` is
    the view at the last event read. Nothing in the file is trusted: what is malformed, repeated or torn is passed
    over and told in `problems`. Of a session that is still being recorded, loading again reads what was added. With
    `until` it ends with that event.

    Raises `JournalError` for what is no session, `NewerFormatError` for a newer format.
    """

    def __init__(self, path: Path, *, until: int | None = None) -> None:
        self.journal = read_journal(path)
        super().__init__()
        self._until = until
        self._file = open_regular(self.journal.path)
        self._entries = EventLines(self._file, self.journal)
        self._ended = False

    @property
    def folder(self) -> Path:
        """Where the tracks of this session are, if it has any."""
        return self.journal.folder

    @property
    def problems(self) -> list[Problem]:
        """What was wrong with the lines read so far; `journal.problem_count` counts those beyond the limit too."""
        return self.journal.problems

    @property
    def torn(self) -> bool:
        """Whether the last line is incomplete: the writer was killed, or is writing right now."""
        return self._entries.torn

    @property
    def loaded(self) -> float:
        """The share of the file that has been read, from 0 to 1."""
        if self._ended:
            return 1.0
        try:
            size = self.journal.path.stat().st_size
        except OSError:
            return 1.0
        return min(1.0, self._entries.offset / size) if size else 1.0

    def load(self, budget_s: float = SLICE_S) -> bool:
        """Read on for about `budget_s` seconds; whether there is more. Raises `JournalError` when the disk fails."""
        if self.live.seq == self._until:
            return False
        deadline = time.perf_counter() + budget_s
        self._ended = False
        with without_gc(), self._reading(self.live.seq + 1):
            for number, (event, offset, end) in enumerate(self._entries, 1):
                if event is not None:
                    if self._until is not None and event.seq > self._until:
                        break
                    self._add(event, offset, end)
                if self.live.seq == self._until:
                    break
                if number % _CLOCK_EVERY == 0 and time.perf_counter() > deadline:
                    return True
        self._ended = True
        return False

    async def load_all(self, progress: Callable[[float], None] | None = None) -> None:
        """`load` to the end in between other tasks; `progress` is told `loaded` after each slice."""
        more = True
        while more:
            more = self.load()
            if progress is not None:
                progress(self.loaded)
            await asyncio.sleep(0)

    def close(self) -> None:
        """Let go of files; nothing can be read any more."""
        super().close()
        self._file.close()

    def _add(self, event: Event, offset: int, end: int) -> None:
        begin = self._open.span[0] if self._open.count else offset
        self._open.span = (begin, end)
        self._take(event, end - offset)

    def _keep_lines(self, page: Page) -> None:
        """They stay where they are."""

    @property
    def _may_write(self) -> bool:
        # What is recorded is on disk already.
        return True

    def _read(self, page: Page) -> list[Event]:
        offset, end = page.span
        if page.size < end - offset:
            # There are lines among them that are no events, or come twice.
            return events_between(self._file, offset, end, page.first - 1)
        self._file.seek(offset)
        lines = self._file.read(end - offset)
        try:
            return decode_lines(lines)
        except (ValueError, RecursionError):
            return []  # the file is not what it was

    def _make_room(self) -> None:
        """Without a disk for keyframes every second one goes: seeks fold further, everything stays in reach."""
        while self._store.held > page_store.MAX_HELD:
            kept = [page for page in self._pages if page.keyframe is not None]
            if len(kept) < 2:
                return
            for page in kept[1::2]:
                self._drop_keyframe(page)
