"""List tasks, notifications and memories; only rows in sight are painted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.harness.items import NotificationItem, TaskItem
from gemini_live_tui.painting.formatting import date_clock_text, seconds_text, share_bar, whole_seconds_text
from gemini_live_tui.painting.glyphs import Glyphs
from gemini_live_tui.painting.runs import Run, filled, fitted, spread
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.harness.memory import MemoryRecord
    from gemini_live_tui.harness.records import Name

BAR = 10
"""Cells of a progress bar."""

NARROW = 60
"""Cells of a row below which it has no columns, and the less important ones are left out."""

_TASK_STYLES = {"running": "key", "succeeded": "good", "cancelled": "warn", "interrupted": "warn"}
"""Styles of the words for a task's status; the others are errors."""

_WORDS = {
    "queued": ("waits", "key"),
    "delivered": ("announced", "strong"),
    "expired": ("expired", "warn"),
    "failed": ("given up", "error"),
}
"""Words and styles of a notification's status."""

_KINDS = {
    "taskSucceeded": "task",
    "taskFailed": "task",
    "taskCancelled": "task",
    "taskInterrupted": "task",
}


class ItemList(RowList):
    """List of one kind of record."""

    def __init__(self, signs: Glyphs, *, id: str) -> None:
        super().__init__(id=id)
        self.signs = signs
        self.nothing = ""
        """Sentence without any."""
        self.now = 0.0
        """Unix seconds."""

    def counts_seconds(self) -> bool:
        """Return True when a row tells seconds that go on."""
        return False

    def is_open(self, row: str) -> bool:
        """Return True for a row that has not ended; such rows are the first."""
        return False

    def leave_closed(self) -> None:
        """Move the cursor from a row that has ended to the first one that has not."""
        if self.rows and self.is_open(self.rows[0]) and not self.is_open(self.row_at_cursor):
            self.move("home")


class TaskList(ItemList):
    """Tasks: those that run, then the newest."""

    def __init__(self, signs: Glyphs) -> None:
        super().__init__(signs, id="harness-tasks")
        self.nothing = "No call goes on as a task. Tools declared with spillable=True do when they take long."
        self.items: dict[str, TaskItem] = {}
        self.running = 0
        """Number of tasks that run."""

    def show(self, items: Sequence[TaskItem], now: float) -> None:
        """List tasks as they are at `now`, Unix seconds."""
        self.now = now
        self.items = {item.id: item for item in items}
        self.running = sum(item.is_running for item in items)
        self.set_rows(list(self.items))

    @property
    def chosen(self) -> TaskItem | None:
        """Task under the cursor."""
        return self.items.get(self.row_at_cursor)

    def is_open(self, row: str) -> bool:
        """Return True for a task that runs."""
        return row in self.items and self.items[row].is_running

    def counts_seconds(self) -> bool:
        """Return True while a task runs."""
        return self.running > 0

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return tool, status, progress, duration and newest sentence."""
        item = self.items.get(row)
        if item is None:
            return ()
        ellipsis = self.signs.ellipsis
        seconds = (self.now if item.end is None else item.end) - item.start
        took = whole_seconds_text(max(0.0, seconds)) if item.end is None else seconds_text(seconds)
        style = _TASK_STYLES.get(item.status, "error")
        runs: list[Run]
        if width < NARROW:
            runs = [(f" {filled(item.tool, 12, ellipsis)} ", "strong"), (f"{item.status} ", style)]
            if item.fraction is not None and item.is_running:
                runs += [*share_bar(item.fraction, BAR // 2, self.signs), (f" {item.fraction:.0%} ", "said")]
            runs.append((f"{took} ", "quiet"))
        else:
            bar = BAR if width >= 70 else BAR // 2
            runs = [
                (f" {filled(item.tool, max(10, width // 4), ellipsis)} ", "strong"),
                (f"{item.status:11} ", style),
            ]
            if item.fraction is not None:
                runs += [*share_bar(item.fraction, bar, self.signs), (f" {item.fraction:>4.0%}  ", "said")]
            else:
                runs.append((" " * (bar + 7), ""))
            runs.append((f"{took:>10}  ", "quiet"))
        if not item.is_end_recorded:
            runs.append(("not recorded yet  ", "warn"))
        runs.append((item.text, "said"))
        if item.is_running and not item.is_here and item.is_recorded:
            where = "in another program" if item.lives else "its program has ended"
            runs.append((f" ({where})" if item.text else where, "quiet"))
        return fitted(runs, width, ellipsis)


class NotificationList(ItemList):
    """Notifications: open ones in their order, then closed ones, newest first."""

    def __init__(self, signs: Glyphs) -> None:
        super().__init__(signs, id="harness-notifications")
        self.nothing = 'No notification waits, and none was told. Queue one: gemini-live-tui notify "the oven is ready"'
        self.items: dict[str, NotificationItem] = {}
        self.waiting = 0
        """Number of notifications that wait or are announced."""

    def show(self, items: Sequence[NotificationItem], now: float) -> None:
        """List notifications as they are at `now`, Unix seconds."""
        self.now = now
        self.items = {item.id: item for item in items}
        self.waiting = sum(item.is_open for item in items)
        self.set_rows(list(self.items))

    @property
    def chosen(self) -> NotificationItem | None:
        """Notification under the cursor."""
        return self.items.get(self.row_at_cursor)

    def is_open(self, row: str) -> bool:
        """Return True for one that waits or is announced."""
        return row in self.items and self.items[row].is_open

    def counts_seconds(self) -> bool:
        """Return True while one waits, or is young."""
        first = next(iter(self.items.values()), None)
        return first is not None and (first.is_open or self.now - first.changed < 60)

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return status, age, source, title and why it waits."""
        item = self.items.get(row)
        if item is None:
            return ()
        word, style = _WORDS.get(item.status, ("told", "good") if item.attempts else ("dismissed", "quiet"))
        source = _KINDS.get(item.kind, item.source)
        title: Run = (item.title, "strong" if item.is_open else "said")
        age = short_age(self.now - item.created)
        left: list[Run] = [(f" {word:10}", style)]
        if width < NARROW:
            left += [(f"{age:>6} ", "quiet"), title]
        else:
            left += [(f"{age:>6}  ", "quiet"), (f"{filled(source, 8, self.signs.ellipsis)}  ", "quiet"), title]
        why = why_words(item, self.now)
        return fitted([*left, (f"  {why}", "quiet")] if why else left, width, self.signs.ellipsis)


class MemoryList(ItemList):
    """Memories by scope, or those that a search found.

    Values are read when they come into sight.
    """

    def __init__(self, signs: Glyphs, on_wanted: Callable[[], None]) -> None:
        """`on_wanted` is called when `wanted` has names of values to read."""
        super().__init__(signs, id="harness-memories")
        self.nothing = "Nothing is remembered. Agents with .memory(...) do; a adds one."
        self._on_wanted = on_wanted
        self._grouped = True
        self._names: dict[str, Name] = {}
        self._values: dict[Name, MemoryRecord | str | None] = {}
        self.wanted: dict[Name, None] = {}
        """Names whose values are to be read, the newest wish last."""

    def show(self, names: Sequence[Name], now: float, *, grouped: bool) -> None:
        """List memories in their order, `grouped` below headings of their scopes."""
        self.now, self._grouped = now, grouped
        self._names = {f"memory:{scope}/{key}": (scope, key) for scope, key in names}
        if not grouped:
            self.set_rows(list(self._names))
            return
        rows: list[str] = []
        before = ""
        for row, (scope, _) in self._names.items():
            if scope != before:
                rows.append(f"scope:{scope}")
                before = scope
            rows.append(row)
        self.set_rows(rows)

    def forget(self, scopes: set[str] | None = None) -> None:
        """Read values again when they come into sight: of some scopes, or of all."""
        self._values = {} if scopes is None else {n: v for n, v in self._values.items() if n[0] not in scopes}

    def put_values(self, values: dict[Name, MemoryRecord | str | None]) -> None:
        """Show values that were read."""
        self._values.update(values)
        self.touch()

    def value_of(self, name: Name) -> MemoryRecord | str | None:
        """Return a value that was read, or why it cannot be used."""
        return self._values.get(name)

    def selectable(self, row: str) -> bool:
        """Return True for a memory."""
        return row.startswith("memory:")

    @property
    def chosen(self) -> Name | None:
        """Scope and key of the memory under the cursor."""
        return self._names.get(self.row_at_cursor)

    @property
    def count(self) -> int:
        """Number of memories in the list."""
        return len(self._names)

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return key and value, with author and age at the right."""
        kind, _, rest = row.partition(":")
        if kind == "scope":
            return [(f" {rest}", "strong")]
        name = self._names.get(row)
        if name is None:
            return ()
        ellipsis = self.signs.ellipsis
        text = f"  {name[1]}" if self._grouped else "/".join(name)
        left: list[Run] = [(f" {filled(text, max(12, width // 4 + 2), ellipsis)} ", "key")]
        if name not in self._values:
            if name not in self.wanted:
                self.wanted[name] = None
                self._on_wanted()
            return left
        memory = self._values[name]
        if memory is None:
            return fitted([*left, ("deleted", "quiet")], width, ellipsis)
        if isinstance(memory, str):
            return fitted([*left, (sanitise_line(memory, 300), "error")], width, ellipsis)
        by = "unknown" if memory.provenance is None else memory.provenance.author.value
        age = short_age(self.now - memory.updated_at_ms / 1000)
        end: list[Run] = [(f"  {by:>8} {age:>6}", "quiet")]
        room = max(0, width - sum(len(text) for text, _ in end))
        left = fitted([*left, (text_of(memory.value), "said")], room, ellipsis)
        return spread(left, [(end[0][0].lstrip(), "quiet")], width, ellipsis)


def why_words(item: NotificationItem, now: float) -> str:
    """Return why a notification waits or was closed, in a few words; "" for nothing."""
    if item.status in ("expired", "failed"):
        return item.reason
    if item.status == "delivered":
        return f"by {item.deliverer}" if item.deliverer else ""
    if item.status != "queued":
        return f"at {date_clock_text(item.told, now)}" if item.told is not None else ""
    if item.due is not None and item.due > now:
        return f"due {date_clock_text(item.due, now)}"
    if not item.has_deliverer:
        return "no session announces now"
    if item.deliverer:
        return "another engine announces"
    if item.retry is None:
        return item.reason
    wait_s = math.ceil(item.retry - now)
    return f"retry in {wait_s} s" if wait_s > 0 else "about to be tried again"


def short_age(seconds: float) -> str:
    """Return an age in its largest unit."""
    seconds = max(0.0, seconds)
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def text_of(value: object) -> str:
    """Return a memory's value in one line."""
    import json

    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return sanitise_line(text[:2000], 400)
