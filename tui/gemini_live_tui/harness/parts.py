"""Hold the three lists with their records, for the pane and its controllers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gemini_live_tui.harness.items import newer, told_notifications, with_cards, with_reasons
from gemini_live_tui.harness.lists import ItemList, MemoryList, NotificationList, TaskList
from gemini_live_tui.painting.formatting import clock_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from gemini_live_runtime.harness.memory import MemoryRecord
    from gemini_live_runtime.harness.notifications import HarnessNotification
    from gemini_live_runtime.journal.fold.harness_view import TaskCard
    from gemini_live_runtime.journal.fold.view import SessionView
    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.harness.records import Found, Name, Records
    from gemini_live_tui.painting.glyphs import Glyphs

PARTS = ("tasks", "notifications", "memory")


class Parts:
    """Lists of tasks, notifications and memories, one of which is shown.

    Without records, and for a moment of the past, the lists have what the session told.
    """

    def __init__(self, console: ConsoleContext, signs: Glyphs, on_wanted: Callable[[], None]) -> None:
        """`on_wanted` is called when values of memories are to be read."""
        self.console = console
        self.shown = "tasks"
        self.tasks, self.notifications = TaskList(signs), NotificationList(signs)
        self.memories = MemoryList(signs, on_wanted)
        lists = (self.tasks, self.notifications, self.memories)
        self.lists: dict[str, ItemList] = dict(zip(PARTS, lists, strict=True))
        self.records: Records | None = None
        self.found: Found | None = None
        self.hits: Sequence[Name] | None = None
        """Names that the search has found; None without one."""
        self._cards: Mapping[str, TaskCard] = {}
        self._filled: object = None
        """Inputs of the newest filling."""

    @property
    def list(self) -> ItemList:
        """The list on show."""
        return self.lists[self.shown]

    @property
    def is_past(self) -> bool:
        """True while a moment before the present is shown, or a recording."""
        return self.console.settings.replay or self.console.store.cursor.seq is not None

    @property
    def now(self) -> float:
        """Unix seconds of the moment on show."""
        shown = self.console.store.shown
        return shown.wall + shown.t if self.is_past else self.console.time.wall()

    def why_read_only(self) -> str:
        """Return why nothing can be changed; "" when it can."""
        if self.console.settings.replay:
            return "This is a recording: it shows what its session told."
        if self.is_past:
            return f"This is how it was at {clock_text(self.console.store.shown.t)}; end returns to the present."
        if self.records is None:
            if self.console.store.hello is None:
                return "No session runs here; gemini-live-tui tasks, notify and memory show the records."
            return "This session keeps no records: they end with it."
        return ""

    def why_nothing(self) -> str:
        """Return a sentence in place of an empty list."""
        if self.records is not None and self.found is None and not self.is_past:
            return "Reading the records."
        if self.found is not None and self.found.error and not self.is_past:
            return "The records cannot be shown."
        if self.list is self.memories and self.hits is not None:
            return "No memory has any of these words."
        if self.is_past or self.records is None:
            told = {"tasks": "no task", "notifications": "no notification", "memory": "no change of memory"}
            return f"The session has told of {told[self.shown]}."
        return self.list.nothing

    @property
    def known_memories(self) -> int:
        """Number of memories, whether a search has found them or not."""
        return self.memories.count if self.hits is None or self.found is None else len(self.found.memories)

    def notification(self, ident: str) -> HarnessNotification | None:
        """Return the record of a notification; None where it is unknown."""
        if self.found is None or self.is_past:
            return None
        return self.found.records.get(ident)

    def memory(self) -> MemoryRecord | str | None:
        """Return the memory under the cursor, or why it cannot be used."""
        name = self.memories.chosen
        return None if name is None else self.memories.value_of(name)

    def use(self, records: Records | None) -> None:
        """Show other records, or none; what was read of the former ones is forgotten."""
        self.records, self.found, self.hits, self._filled = records, None, None, None
        self.memories.forget()
        self.memories.wanted.clear()

    def counts_seconds(self) -> bool:
        """Return True when a row of the list on show tells seconds that go on."""
        return not self.is_past and self.list.counts_seconds()

    # -- filling -----------------------------------------------------------------------------------------------------

    def take_in(self, found: Found) -> None:
        """Keep the records of a look; memories of changed scopes are read again."""
        before, after = {} if self.found is None else self.found.scope_times, found.scope_times
        changed = {scope for scope in before.keys() | after.keys() if before.get(scope) != after.get(scope)}
        if changed:
            self.memories.forget(changed)
        if found != self.found:
            self.found = found

    def fill(self) -> None:
        """List what is known at the moment on show."""
        store, found, now = self.console.store, None if self.is_past else self.found, self.now
        view = store.shown
        name = "" if store.hello is None else store.hello.session_id
        harness = view.harness
        self.tasks.now = self.notifications.now = self.memories.now = now
        inputs = (found, self.hits, store.live, self.is_past)
        cards = harness.copy()
        rows = (
            [(ident, card.status, card.is_recorded) for ident, card in cards.tasks.items()],
            cards.notifications,
            cards.memories,
        )
        if self._filled == (inputs, rows):
            self._fill_progress(cards.tasks, view, live=store.live and not self.is_past)
            self.list.touch()
            return
        self._filled, self._cards = (inputs, rows), cards.tasks
        items = () if found is None else found.tasks
        self.tasks.show(with_cards(items, view, live=store.live and not self.is_past), now)
        if found is None:
            self.notifications.show(told_notifications(view), now)
        else:
            self.notifications.show(with_reasons(found.notifications, harness.notifications, view, name), now)
        if found is None:
            self._list_told_memories(view, now)
        else:
            names = found.memories if self.hits is None else self.hits
            self.memories.show(names, now, grouped=self.hits is None)

    def _fill_progress(self, cards: Mapping[str, TaskCard], view: SessionView, *, live: bool) -> None:
        """Show the progress of tasks that run as before."""
        for ident, card in cards.items():
            item = self.tasks.items.get(ident)
            if card is not self._cards.get(ident) and item is not None and item.is_running:
                self.tasks.items[ident] = newer(item, card, view, live=live)
        self._cards = cards

    def _list_told_memories(self, view: SessionView, now: float) -> None:
        """List the memories that the session has changed."""
        from gemini_live_runtime.harness.memory import MemoryAuthor, MemoryProvenance, MemoryRecord

        values: dict[Name, MemoryRecord | str | None] = {}
        for place, card in view.harness.memories.items():
            scope, _, key = place.partition("/")
            at = round((view.wall + card.t) * 1000)
            is_known = card.by in [one.value for one in MemoryAuthor]
            origin = MemoryProvenance(author=MemoryAuthor(card.by), turn=card.turn) if is_known else None
            put = MemoryRecord(
                scope=scope, key=key, created_at_ms=at, updated_at_ms=at, value=card.value, provenance=origin
            )
            values[scope, key] = None if card.action == "deleted" else put
        self.memories.show(sorted(values), now, grouped=True)
        self.memories.put_values(values)
