"""Show tasks, notifications and memory in a pane: one list of three."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.journal.fold.view import Dirty
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.harness.parts import PARTS, Parts
from gemini_live_tui.messages import PaneChanged
from gemini_live_tui.painting.glyphs import UNICODE, Glyphs
from gemini_live_tui.painting.painted import Contained, Guarded
from gemini_live_tui.painting.runs import Run
from gemini_live_tui.widgets.filter_line import FilterLine
from gemini_live_tui.widgets.row import Row
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.view import SessionView
    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.harness.records import Name, Records
    from gemini_live_tui.harness.row_changes import RowChanges
    from gemini_live_tui.harness.row_details import RowDetails
    from gemini_live_tui.messages import Level
    from gemini_live_tui.panes.base import Frame

POLL_S = 5.0
"""Seconds between looks for what other programs have changed; engines look as often."""

TICK_S = 1.0
"""Seconds between two paintings while something counts seconds."""

_OF_PART: Mapping[str, frozenset[str]] = {
    "tasks": frozenset(("cancel-task",)),
    "notifications": frozenset(("acknowledge", "queue-again", "harness-delete")),
    "memory": frozenset(("memory-edit", "memory-add", "memory-search", "harness-delete")),
}
"""Actions that a part has for itself."""

_WITH_RECORDS = frozenset().union(*_OF_PART.values(), ("harness-file",)) - {"memory-search"}
"""Actions that need the records of the present."""

_WITH_ROWS = _WITH_RECORDS - {"memory-add"}
"""Actions on the row under the cursor."""


class PartsRow(Contained, Row):
    """Names of the three parts with their numbers; a click shows one."""

    # Textual takes the style of the first base only.
    DEFAULT_CSS = Row.DEFAULT_CSS.replace("Row", "PartsRow")

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, part: str) -> None:
            super().__init__()
            self.part = part

    def __init__(self, parts: Parts) -> None:
        super().__init__(id="tasks-parts")
        self._parts = parts
        self._places: list[tuple[int, int, str]] = []

    def runs(self, width: int) -> Sequence[Run]:
        """Return the names, the one on show in brackets, with as many words as fit."""
        names = self._names(brief=False)
        if sum(len(name) + 1 for name in names) > width:
            names = self._names(brief=True)
        runs: list[Run] = []
        self._places = []
        at = 0
        for part, name in zip(PARTS, names, strict=True):
            self._places.append((at, at + len(name), part))
            runs += [(name, "strong" if part == self._parts.shown else "quiet"), (" ", "")]
            at += len(name) + 1
        return runs

    def _names(self, *, brief: bool) -> list[str]:
        parts = self._parts
        running, waiting, known = parts.tasks.running, parts.notifications.waiting, parts.known_memories
        words = {
            "tasks": ("Tasks", running, "running"),
            "notifications": ("Notifications", waiting, "waiting"),
            "memory": ("Memory", known, ""),
        }
        texts = []
        for part in PARTS:
            title, count, word = words[part]
            text = " ".join(
                (title, *([f"{count:,}"] if count else []), *([word] if word and count and not brief else []))
            )
            # Brackets, as those of the panes: colour alone must not tell which part is shown.
            texts.append(f"[{text}]" if part == parts.shown else f" {text} ")
        return texts

    def on_click(self, event: events.Click) -> None:
        """Show the part under the pointer."""
        for start, end, part in self._places:
            if start <= event.x < end:
                self.post_message(self.Chosen(part))


class TasksPane(Guarded, Container):
    """Names of the parts, above the list of the one on show.

    A thread reads the records, while the pane is in sight: when the session tells of a change, and every `POLL_S`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("tasks")]
    DEFAULT_CSS = """
    TasksPane { background: $background; }
    TasksPane Static { width: 1fr; height: auto; background: $background; padding: 0 1; display: none; }
    TasksPane Static.-shown { display: block; }
    TasksPane #tasks-nothing { color: $quiet; }
    TasksPane #tasks-note { color: $caution; max-height: 3; }
    """
    dirty = Dirty.HARNESS | Dirty.HEADER

    def __init__(self, console: ConsoleContext, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(id="tasks")
        self.console = console
        self.parts = Parts(console, glyphs, self._read_values)
        self._row = PartsRow(self.parts)
        self.filter = FilterLine(placeholder="words to find")
        self._nothing = Static("", id="tasks-nothing", markup=False)
        self._note = Static("", id="tasks-note", markup=False)
        self._is_looking = self._looks_again = self._is_reading = self._is_arriving = False
        self._told: tuple[object, ...] = ()
        self._root = ""
        self._shown_unusable: frozenset[str] = frozenset()
        self._look_due = 0.0
        """Time of the next look, on the console's clock."""

    @cached_property
    def details(self) -> RowDetails:
        """Commands that look closer at a row."""
        from gemini_live_tui.harness.row_details import RowDetails

        return RowDetails(self)

    @cached_property
    def changes(self) -> RowChanges:
        """Commands that change a row."""
        from gemini_live_tui.harness.row_changes import RowChanges

        return RowChanges(self)

    def compose(self) -> ComposeResult:
        """Yield the names of the parts, the lists, and the notes."""
        yield self._row
        yield self.filter
        yield self._nothing
        yield from self.parts.lists.values()
        yield self._note

    def on_mount(self) -> None:
        """Show one of the lists."""
        self._show_list()

    def on_unmount(self) -> None:
        """Let the thread end."""
        self._close()

    def focus(self, scroll_visible: bool = True) -> TasksPane:
        """Focus the list on show, its cursor on what goes on."""
        self._arrive()
        self.parts.list.focus(scroll_visible)
        return self

    # -- showing -----------------------------------------------------------------------------------------------------

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Show the moment of `view`, and read the records when they may have changed."""
        self._open()
        harness = view.harness
        told = (
            [(ident, card.status, card.is_recorded) for ident, card in harness.tasks.items()],
            [(ident, card.status, card.attempts) for ident, card in harness.notifications.items()],
            list(harness.memories.items()),
        )
        if (
            self.parts.records is not None
            and not self.parts.is_past
            and (told != self._told or frame.now >= self._look_due)
        ):
            self._told, self._look_due = told, frame.now + POLL_S
            self.look()
        self.parts.fill()
        self._show_state()
        if self._is_arriving:
            self.parts.list.leave_closed()
            self._is_arriving = self._is_looking
        return None if self.parts.is_past else self._wait(frame.now)

    def _wait(self, now: float) -> float | None:
        """Return the seconds until something shows another time, or is to be read."""
        if self.parts.counts_seconds():
            return TICK_S
        return None if self.parts.records is None else max(TICK_S, self._look_due - now)

    def note(self) -> str:
        """Return how many memories a search has found."""
        hits = self.parts.hits if self.parts.shown == "memory" else None
        return "" if hits is None else f"{len(hits):,} found"

    def _show_state(self) -> None:
        parts = self.parts
        self._row.update_row()
        _write(self._nothing, "" if parts.list.rows else parts.why_nothing())
        _write(self._note, self._notes())
        if (unusable := frozenset(self.unusable)) != self._shown_unusable:
            self._shown_unusable = unusable
            self.console.store.dirty |= Dirty.CONTROLS
            self.console.store.wake()

    def _notes(self) -> str:
        """Return why nothing can be changed, and which files cannot be used."""
        notes = [self.parts.why_read_only()]
        if (found := self.parts.found) is not None and not self.parts.is_past:
            notes += [found.error, *found.problems[:1]]
            if len(found.problems) > 1:
                notes.append(f"{len(found.problems) - 1} more files cannot be used; the others are shown.")
        return sanitise_line(" ".join(one for one in notes if one), 400)

    @property
    def unusable(self) -> Collection[str]:
        """Ids of the pane's actions that mean nothing now, for the key bar."""
        own = _OF_PART[self.parts.shown]
        others = frozenset().union(*_OF_PART.values()) - own
        if self.parts.why_read_only():
            return others | _WITH_RECORDS
        return others if self.parts.list.rows else others | _WITH_ROWS

    def say(self, message: str, level: Level = "info") -> None:
        """Show one sentence above the transcript, or on the screen in front."""
        if message:
            self.console.say(sanitise_line(message, 400), level, passing=level != "error")

    # -- reading -----------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        """Open the records of the session, which may begin after the pane is shown."""
        hello = self.console.store.hello
        root = "" if hello is None or self.console.settings.replay else hello.harness_root
        if root != self._root:
            self._close()
            self._root = root
            if root:
                from gemini_live_tui.harness.records import Records

                self.parts.use(Records(root, self.console.time))
                self._look_due = 0.0

    def _close(self) -> None:
        if self.parts.records is not None:
            self.parts.records.close()
        self.parts.use(None)

    @work(group="look")
    async def look(self) -> None:
        """Read what has changed; while that is done, once more at most."""
        self._looks_again = True
        if self._is_looking:
            return
        self._is_looking = True
        try:
            while self._looks_again and (records := self.parts.records) is not None:
                self._looks_again = False
                found = await records.call(type(records).look)
                if records is self.parts.records:
                    self.parts.take_in(found)
        except HarnessError as error:
            self.say(str(error), "error")
        finally:
            self._is_looking = False
            self.post_message(PaneChanged("tasks"))

    def _read_values(self) -> None:
        """Read the values of memories that have come into sight."""
        records = self.parts.records
        if records is not None and not self._is_reading and not self.parts.is_past:
            self._is_reading = True
            self._read_wanted(records)

    @work(group="values")
    async def _read_wanted(self, records: Records) -> None:
        wanted = self.parts.memories.wanted
        try:
            while wanted:
                names = tuple(wanted)
                values = await records.call(partial(type(records).memories, names=names))
                for name in names:
                    wanted.pop(name, None)
                if self.is_mounted:
                    self.parts.memories.put_values(values)
        except HarnessError as error:
            self.say(str(error), "error")
        finally:
            self._is_reading = False

    # -- moving ------------------------------------------------------------------------------------------------------

    def action_part(self, part: str) -> None:
        """Show one of the parts."""
        self._show_part(part)
        self._arrive()
        # At once: keys may follow that were pressed together with this one.
        self.screen.set_focus(self.parts.list)

    def _arrive(self) -> None:
        """Put the cursor on what goes on, also when that is still to be read."""
        self._is_arriving = True
        self.post_message(PaneChanged("tasks"))

    def _show_part(self, part: str) -> None:
        self.parts.shown = part
        self._show_list()

    def _show_list(self) -> None:
        parts = self.parts
        for part, one in parts.lists.items():
            one.display = part == parts.shown
        self.filter.set_class(parts.shown == "memory" and bool(self.filter.value), "-used")
        self._show_state()
        self.post_message(PaneChanged("tasks"))

    def action_next_part(self, step: int) -> None:
        """Show the part beside the present one."""
        self.action_part(PARTS[(PARTS.index(self.parts.shown) + step) % len(PARTS)])

    @on(PartsRow.Chosen)
    def _chosen(self, message: PartsRow.Chosen) -> None:
        message.stop()
        self.action_part(message.part)

    # -- the row under the cursor ------------------------------------------------------------------------------------

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.details.show()

    def explain(self) -> bool:
        """Explain the row under the cursor; return False without one."""
        return self.details.explain()

    def action_open_file(self) -> None:
        """Open the file of the row under the cursor."""
        self.details.open_file()

    def action_change(self, name: str, part: str = "") -> None:
        """Run a command of `RowChanges`, one of a certain part there."""
        if part and part != self.parts.shown:
            self.action_part(part)
        getattr(self.changes, name)()

    # -- searching ---------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        """Type words of memories to find."""
        if self.parts.shown != "memory":
            self._show_part("memory")
        self.filter.begin()

    @on(Input.Changed)
    def _typed(self, message: Input.Changed) -> None:
        message.stop()
        self._search(self.filter.value)

    @work(group="search", exclusive=True)
    async def _search(self, text: str) -> None:
        hits: Sequence[Name] | None = None
        if text.strip() and self.parts.records is not None and not self.parts.is_past:
            try:
                hits = await self.parts.records.call(lambda records: records.search(text))
            except HarnessError as error:
                self.say(str(error), "error")
                return
        self.parts.hits = hits
        self.post_message(PaneChanged("tasks"))

    @on(FilterLine.Left)
    def _left(self, message: FilterLine.Left) -> None:
        message.stop()
        self.parts.list.focus()


def _write(widget: Static, text: str) -> None:
    if str(widget.content) != text:
        widget.update(Content(text))
        widget.set_class(bool(text), "-shown")
