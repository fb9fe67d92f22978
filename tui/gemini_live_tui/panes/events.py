"""List all events in order; only those in sight are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.cache import LRUCache

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.fold.view import Dirty, SessionView
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.messages import ExplainEvent, GoToEvent, OpenScreen, PaneChanged, ShowDetails, ShowHint
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.pane_layout import FOLLOWING
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.panes.why_calls import is_explained
from gemini_live_tui.session_data.event_index import EventFilter, EventIndex
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.events import Event

EMPTY = "Nothing has happened yet."
UNREAD = "What was before this console came is not read yet; going back reads it."
NONE_FOUND = "No event fits the filter; f changes it."
TYPE_WIDTH = 22
NARROW = 64
"""Width in cells below which a type's name has less room."""

AGAIN_S = 0.5
"""Seconds between two updates for events that change nothing else on the screen."""

_STYLES = {
    "wire": "quiet",
    "meters": "quiet",
    "log": "quiet",
    "transcript": "said",
    "state": "lane-state",
    "phase": "lane-phase",
    "watcher": "lane-watcher",
    "watchers": "quiet",
    "pattern": "lane-watcher",
    "tool": "lane-tool",
    "turn": "strong",
    "mark": "mark",
    "code": "error",
    "agent": "key",
}
"""Styles by the first part of a type's name."""


class Events(RowList):
    """Events, a row each, newest last; the end is followed."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("events")]
    dirty = ~Dirty.NONE
    whole = True
    every_s = 0.2

    def __init__(self, *, id: str | None = None, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id=id)
        self._glyphs = glyphs
        self._index: EventIndex | None = None
        self._only = EventFilter()
        self.written = ""
        """Filter as it was typed."""
        self._texts: LRUCache[int, tuple[str, str, str]] = LRUCache(2048)
        self._following = True
        self._live = False
        self._at: int | None = None
        self._seen: int | None = None

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """List the events of the whole session, those after the cursor's moment in quiet."""
        history, self._live = frame.history, frame.live
        if history is None or not history.count:
            self.set_rows([UNREAD if history is not None and history.live.seq else EMPTY])
            return None
        if self._index is None or self._index.history is not history or self._index.only != self._only:
            self._index = EventIndex(history, self._only)
            self._texts.clear()
        try:
            more = self._index.scan()
        except JournalError as error:
            # The disk failed: show that, and try again.
            self.set_rows([f"{str(error).rstrip('.')}."])
            return 1.0 if frame.going else None
        self._at = None if frame.whole is None else view.seq
        rows = self._index.rows
        self.set_rows(rows or [EMPTY if not self._only else "searching" if more else NONE_FOUND])
        if self._at is not None and self._at != self._seen:
            self.go_to(self._nearest_row(rows, self._at))
        elif self._following and self._at is None:
            self._put_cursor(len(self.rows) - 1)
        self._seen = self._at
        return 0.0 if more else AGAIN_S if frame.going else None

    def _nearest_row(self, rows: Sequence[str], seq: int) -> str:
        """Return the last row at or before an event."""
        low, high = 0, len(rows)
        while low < high:
            middle = (low + high) // 2
            if int(rows[middle]) <= seq:
                low = middle + 1
            else:
                high = middle
        return rows[max(0, low - 1)] if rows else ""

    def note(self) -> str:
        """Return the number of events, the filter, and in a live session the following."""
        index, sign = self._index, f" {self._glyphs.separator} "
        if index is None:
            return ""
        parts = []
        if self._only:
            parts.append(f"filter {fit(sanitise_line(self.written), 30, self._glyphs.ellipsis)}")
            parts.append(f"{len(index.rows):,} of {index.history.count:,}")
            if index.searched < 1:
                parts.append(f"searched {index.searched:.0%}")
        else:
            parts.append(f"{index.history.count:,} events")
        if self._live:
            parts.append(f"{self._glyphs.down} {FOLLOWING}" if self._following else "stopped")
        return sign.join(parts)

    def selectable(self, row: str) -> bool:
        """Return True for an event, False for the sentence of an empty list."""
        return row.isdecimal()

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return number, time, type, and as much of the content as fits."""
        if not row.isdecimal():
            return [(f"  {fit(row, width - 2, self._glyphs.ellipsis)}", "quiet")]
        seq = int(row)
        when, name, text = self._text(seq)
        here = seq == self._at
        later = self._at is not None and seq > self._at
        left = f"{self._glyphs.prompt if here else ' '}{row:>6} {when}  "
        room = TYPE_WIDTH if width >= NARROW else TYPE_WIDTH - 6
        kind = f"{fit(name, room, self._glyphs.ellipsis):<{room}} "
        style = _STYLES.get(name.partition(".")[0], "said")
        rest = fit(text, width - len(left) - len(kind), self._glyphs.ellipsis)
        if later:
            return [(left + kind + rest, "quiet")]
        return [(left, "key" if here else "quiet"), (kind, style), (rest, "quiet" if style == "quiet" else "said")]

    def _text(self, seq: int) -> tuple[str, str, str]:
        """Return time, type and content of an event, fit to show."""
        found = self._texts.get(seq)
        if found is None:
            event = self._event(seq)
            if event is None:
                return "     ", "(not here)", "lost on the way, or no longer in memory"
            text = sanitise_line(brief(event.to_json()["data"]), 300)
            found = self._texts[seq] = (clock_text(event.t), sanitise_line(event.type, 40), text)
        return found

    def _event(self, seq: int) -> Event | None:
        if self._index is None:
            return None
        try:
            return self._index.history.event(seq)
        except JournalError:
            return None

    # -- what one can do ---------------------------------------------------------------------------------------------

    def move(self, step: str) -> None:
        """Move the cursor; the end is followed while the cursor is there."""
        super().move(step)
        self._follow(self.cursor >= len(self.rows) - 1)

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Show the details of an event."""
        message.stop()
        event = self._event(int(message.row)) if message.row.isdecimal() else None
        if event is None:
            return
        sign = f" {self._glyphs.separator} "
        facts = sign.join((f"{event.t:.3f} s", f"turn {event.turn}", f"generation {event.gen}"))
        value = event.to_json()
        title = f"event {event.seq:,}{sign}{sanitise_line(event.type, 60)}"
        parts = [("", facts), ("Content", value["data"])]
        self.post_message(ShowDetails(title, parts, value))

    def explain(self) -> bool:
        """Explain the event under the cursor; return False for one without an explanation."""
        event = self._event(int(self.row_at_cursor)) if self.row_at_cursor.isdecimal() else None
        if event is None or not is_explained(event):
            return False
        self.post_message(ExplainEvent(event.seq))
        return True

    def action_filter_events(self) -> None:
        """Open the dialog for a filter."""
        self.post_message(OpenScreen("events-filter"))

    def action_copy_event(self) -> None:
        """Copy the event under the cursor as JSON."""
        event = self._event(int(self.row_at_cursor)) if self.row_at_cursor.isdecimal() else None
        if event is not None:
            self.app.copy_to_clipboard(json.dumps(event.to_json(), indent=2))
            self.post_message(ShowHint(f"Copied event {event.seq:,}."))

    def action_stand_at_event(self) -> None:
        """Move the time cursor after the event under the list's cursor."""
        if self.row_at_cursor.isdecimal():
            self._seen = int(self.row_at_cursor)
            self.post_message(GoToEvent(self._seen))

    def on_mouse_scroll_up(self) -> None:
        """Stop following."""
        self._follow(False)

    def _follow(self, following: bool) -> None:
        if following != self._following:
            self._following = following
        self.post_message(PaneChanged("events"))

    def filter(self, written: str) -> None:
        """Show only the events that a typed filter lets through; "" shows all."""
        self.written = written.strip()
        self._only = EventFilter.read(written)
        self.post_message(PaneChanged("events"))

    def on_click(self, event: events.Click) -> None:
        """Stop following, unless the last row was clicked."""
        super().on_click(event)
        self._follow(self.cursor >= len(self.rows) - 1)


def brief(data: object) -> str:
    """Return an event's content on one line: `key="app:plan" new="gold"`.

    Empty values are left out. The text is not sanitised.
    """
    if not isinstance(data, dict):
        return json.dumps(data, ensure_ascii=False, default=str)[:600]
    pairs = (
        f"{key}={json.dumps(value, ensure_ascii=False, default=str)[:200]}"
        for key, value in data.items()
        if value not in (None, "", [], {}, (), False)
    )
    return "  ".join(pairs)[:600]
