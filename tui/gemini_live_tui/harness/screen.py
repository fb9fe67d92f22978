"""Show tasks, notifications and memory: three lists, of which one is on show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.dialogs.move_keys import MOVES
from gemini_live_tui.harness.parts import PARTS, Parts
from gemini_live_tui.harness.records import Name, Records
from gemini_live_tui.harness.row_changes import RowChanges
from gemini_live_tui.harness.row_details import RowDetails
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.screen_stack import take_out
from gemini_live_tui.widgets.filter_line import FilterLine
from gemini_live_tui.widgets.modal import TopModalScreen
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.view import SessionView
    from gemini_live_tui.context import ConsoleContext, Level

POLL_S = 5.0
"""Seconds between looks for what other programs have changed; engines look as often."""

TICK_S = 1.0
"""Seconds between two paintings of what counts seconds."""

_KEYS = {
    "tasks": ("{harness-open} details", "{cancel-task} cancels", "{harness-why} why", "{harness-file} file"),
    "notifications": (
        "{acknowledge} acknowledges",
        "{queue-again} again",
        "{harness-delete} deletes",
        "{harness-why} why",
    ),
    "memory": (
        "{memory-search} finds",
        "{memory-edit} edits",
        "{memory-add} adds",
        "{harness-delete} deletes",
        "{harness-file} file",
    ),
}
"""Keys at the lower edge, by part."""


_READING_KEYS = ("{harness-open} details", "{harness-why} why")
"""Keys at the lower edge where nothing can be changed."""


class _Tab(Static):
    """Name of a part, which a click shows."""

    def __init__(self, part: str) -> None:
        super().__init__("", id=f"harness-tab-{part}", classes="harness-tab", markup=False)
        self.part = part

    def on_click(self, event: events.Click) -> None:
        """Show the part."""
        event.stop()
        if isinstance(self.screen, HarnessScreen):
            self.screen.action_part(self.part)


class HarnessScreen(TopModalScreen[None]):
    """Screen that escape closes.

    A thread reads the records, when the session tells of a change and every `POLL_S`.
    """

    CSS_PATH = "screen.tcss"
    FIRST: ClassVar[str] = "tasks"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Close", show=False),
        Binding("q,T", "dismiss", "Close", show=False),
        *MOVES,
        *bindings("harness"),
    ]
    place = "harness"

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.console = console
        self.parts = Parts(console, glyphs(console.settings.ascii), self._read_values)
        self.parts.shown = self.FIRST
        self.details = RowDetails(self)
        self.changes = RowChanges(self)
        self._offer_actions(self.details, self.changes)
        self._tabs = {part: _Tab(part) for part in PARTS}
        self.filter = FilterLine(placeholder="words to find", id="harness-filter")
        self._nothing = Static("", id="harness-nothing", markup=False)
        self._note = Static("", id="harness-note", markup=False)
        self._message = Static("", id="harness-message", markup=False)
        self._box = Container(id="harness-box")
        self._is_looking = self._looks_again = self._is_reading = False
        self._told: tuple[object, ...] = ()

    def _offer_actions(self, *controllers: object) -> None:
        # Textual looks for the method of a key's action on this screen.
        for controller in controllers:
            for name in dir(controller):
                if name.startswith("action_"):
                    setattr(self, name, getattr(controller, name))

    def compose(self) -> ComposeResult:
        """Yield the names of the parts, the lists, and the rows below them."""
        self._box.border_title = "Tasks, notifications, memory"
        with self._box:
            with Horizontal(id="harness-tabs"):
                yield from self._tabs.values()
            yield self.filter
            yield self._nothing
            yield from self.parts.lists.values()
            yield self._note
            yield self._message

    def on_mount(self) -> None:
        """Show what the session knows, and read the records."""
        for other in self.app.screen_stack[:-1]:
            if isinstance(other, HarnessScreen) and take_out(self.app, other, keep_callback=True):
                other.remove()
        root = "" if self.console.store.hello is None else self.console.store.hello.harness_root
        if root and not self.console.settings.replay:
            self.parts.records = Records(root, self.console.time)
        self._show()
        self.action_part(self.parts.shown)
        self.look()
        self.set_interval(POLL_S, self.look)
        self.set_interval(TICK_S, self._tick)

    def on_unmount(self) -> None:
        """Let the thread end."""
        if self.parts.records is not None:
            self.parts.records.close()

    # -- reading -----------------------------------------------------------------------------------------------------

    @work(group="look")
    async def look(self) -> None:
        """Read what has changed; while that is done, once more at most."""
        self._looks_again = True
        if self._is_looking or self.parts.records is None:
            return
        self._is_looking = True
        try:
            while self._looks_again:
                self._looks_again = False
                found = await self.parts.records.call(Records.look)
                if self.is_mounted:
                    self.parts.take_in(found)
                    self._show()
        except HarnessError as error:
            self.say(str(error), "error")
        finally:
            self._is_looking = False

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
                values = await records.call(partial(Records.memories, names=names))
                for name in names:
                    wanted.pop(name, None)
                if self.is_mounted:
                    self.parts.memories.put_values(values)
        except HarnessError as error:
            self.say(str(error), "error")
        finally:
            self._is_reading = False

    def show_view(self, view: SessionView) -> None:
        """Show what the session tells, and read the records when it tells of a change."""
        harness = self.console.store.shown.harness
        told = (
            [(ident, card.status, card.is_recorded) for ident, card in harness.tasks.items()],
            [(ident, card.status, card.attempts) for ident, card in harness.notifications.items()],
            list(harness.memories.items()),
        )
        if told != self._told:
            self._told = told
            self.look()
        self._show()

    def _tick(self) -> None:
        """Count seconds on."""
        if not self.parts.is_past:
            self.parts.list.now = self.parts.now
            self.parts.list.touch()

    # -- showing -----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        self.parts.fill()
        self._show_state()

    def _show_state(self) -> None:
        parts = self.parts
        running, waiting, known = parts.tasks.running, parts.notifications.waiting, len(parts.memories.rows)
        counts = {
            "tasks": f"Tasks {running} running" if running else "Tasks",
            "notifications": f"Notifications {waiting} waiting" if waiting else "Notifications",
            "memory": f"Memory {parts.memories.count}" if known else "Memory",
        }
        for number, part in enumerate(PARTS, 1):
            _write(self._tabs[part], f"{number} {counts[part]}")
            self._tabs[part].set_class(part == parts.shown, "-shown")
            # An empty list is there, too: without a focused widget no key would arrive.
            if parts.lists[part].display != (part == parts.shown):
                parts.lists[part].display = part == parts.shown
        _write(self._nothing, "" if parts.list.rows else parts.why_nothing())
        self._nothing.display = not parts.list.rows
        note = self._notes()
        _write(self._note, note)
        self._note.display = bool(note)

    def _notes(self) -> str:
        """Return why nothing can be changed, and which files cannot be used."""
        notes = [self.parts.why_read_only()]
        if (found := self.parts.found) is not None and not self.parts.is_past:
            notes += [found.error, *found.problems[:1]]
            if len(found.problems) > 1:
                notes.append(f"{len(found.problems) - 1} more files cannot be used; the others are shown.")
        return sanitise_line(" ".join(one for one in notes if one), 400)

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show one sentence above the keys; "" removes it."""
        self._message.update(Content(sanitise_line(message, 400)))
        for name in ("warning", "error"):
            self._message.set_class(level == name, f"-{name}")

    # -- moving ------------------------------------------------------------------------------------------------------

    def action_part(self, part: str) -> None:
        """Show one of the parts."""
        self.parts.shown = part
        self.say("")
        self.filter.set_class(part == "memory" and bool(self.filter.value), "-used")
        self._show_state()
        self.set_focus(self.parts.list)
        self._show_keys()

    def _show_keys(self) -> None:
        settings = self.console.settings
        keys = _READING_KEYS if self.parts.why_read_only() else _KEYS[self.parts.shown]
        shown = [*hints(keys, settings.keymap, ascii_only=settings.ascii), "esc closes"]
        self._box.border_subtitle = Content(", ".join(shown))

    def action_next_part(self, step: int) -> None:
        """Show the part beside the present one."""
        self.action_part(PARTS[(PARTS.index(self.parts.shown) + step) % len(PARTS)])

    def action_move(self, step: str) -> None:
        """Move the cursor."""
        self.parts.list.move(step)

    def action_leave(self) -> None:
        """Leave the search, then close."""
        if self.parts.shown == "memory" and (self.filter.value or self.filter.has_focus):
            self.filter.leave(clear=True)
        else:
            self.dismiss()

    @on(RowList.Opened)
    def _opened(self, message: RowList.Opened) -> None:
        message.stop()
        self.details.show()

    # -- searching ---------------------------------------------------------------------------------------------------

    def action_search(self) -> None:
        """Type words to find."""
        self.filter.begin()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave letters to the line of the search while it has the focus."""
        return action != "search" or (self.parts.shown == "memory" and self.focused is not self.filter)

    @on(Input.Changed, "#harness-filter")
    def _typed(self) -> None:
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
        self._show()

    @on(FilterLine.Left)
    def _left(self) -> None:
        self.set_focus(self.parts.list)


class TasksScreen(HarnessScreen):
    """The screen with the tasks in front."""


class NotificationsScreen(HarnessScreen):
    """The screen with the notifications in front."""

    FIRST = "notifications"


class MemoryScreen(HarnessScreen):
    """The screen with the memory in front."""

    FIRST = "memory"


def _write(widget: Static, text: str) -> None:
    if str(widget.content) != text:
        widget.update(Content(text))
