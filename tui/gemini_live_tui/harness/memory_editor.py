"""Edit a memory: its value as text or JSON, over no change by another program."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.memory import MemoryAuthor, MemoryProvenance, MemoryRecord, MemoryWrite
from gemini_live_runtime.harness.memory_store import MemoryChangedError
from gemini_live_runtime.paths import is_safe_name
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.editors.value_parser import read_value
from gemini_live_tui.harness.lists import text_of
from gemini_live_tui.widgets.box_screen import BOX_STYLES, BoxScreen
from gemini_live_tui.widgets.json_area import JsonArea
from gemini_live_tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.harness.records import Records

_NAME = "letters, digits, '.', '_' and '-', at most 80"


class MemoryEditor(BoxScreen):
    """Editor of one memory, or of a new one with its scope and key.

    A text stays a text; every other value is JSON, and `memory-kind` changes between the two. What is typed stays
    until it is written, or left twice.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = [BOX_STYLES, "memory_editor.tcss"]
    HINT = "{memory-write} writes, {memory-kind} text or JSON, esc cancels"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False), *bindings("memory")]

    def __init__(
        self,
        console: ConsoleContext,
        records: Records,
        memory: MemoryRecord | None,
        *,
        on_written: Callable[[MemoryRecord], None],
        scope: str = "",
    ) -> None:
        """Edit `memory`, or a new one for None, which is to be in `scope`."""
        super().__init__(console)
        self._records = records
        self._known = memory
        self._on_written = on_written
        self._theirs: MemoryRecord | None = None
        self._is_conflict = False
        self.is_json = memory is not None and not isinstance(memory.value, str)
        self._first = "" if memory is None else _editable(memory.value)
        self.area = JsonArea(self._first, placeholder="what is to be known", id="memory-area")
        self.scope_field = LineInput(placeholder=_NAME, max_length=80, id="memory-scope")
        self.key_field = LineInput(placeholder=_NAME, max_length=80, id="memory-key")
        self.scope_field.value = self._first_scope = scope
        self.reading = Static("", id="memory-reading", markup=False)
        self.conflict = Static("", id="memory-conflict", markup=False)
        self._is_leaving = self._is_writing = False

    def contents(self) -> Iterator[Widget]:
        """Yield the names of a new memory, the text and its meaning."""
        if self._known is None:
            yield Horizontal(Static("scope", markup=False), self.scope_field, classes="field")
            yield Horizontal(Static("key", markup=False), self.key_field, classes="field")
        yield self.area
        yield self.reading
        yield self.conflict

    def on_mount(self) -> None:
        """Show the name, and focus what is to be typed first."""
        known = self._known
        title = "New memory" if known is None else f"Edit {known.scope}/{known.key}"
        self.query_one("#box").border_title = Content(title)
        self.area.move_cursor(self.area.document.end)
        first = self.area if known is not None else self.key_field if self.scope_field.value else self.scope_field
        first.focus()
        self._look()

    # -- the text ----------------------------------------------------------------------------------------------------

    @property
    def unsaved(self) -> bool:
        """True when closing would lose typed text."""
        names = (self.scope_field.value, self.key_field.value) != (self._first_scope, "")
        return self.area.text != self._first or (self._known is None and names)

    @on(TextArea.Changed)
    @on(Input.Changed)
    def _typed(self) -> None:
        self._is_leaving = False
        self.say("")
        self._look()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        (self.key_field if event.input is self.scope_field else self.area).focus()

    def read(self) -> tuple[Any, str]:
        """Return the typed value, or a sentence about why it cannot be used."""
        text = self.area.text
        if self._known is None:
            for field, name in ((self.scope_field, "scope"), (self.key_field, "key")):
                if not is_safe_name(field.value):
                    return None, f"The {name} {field.value[:40]!r} is no name: {_NAME}."
        if self.is_json:
            read = read_value(text)
            return read.value, read.problem
        return text, "" if text.strip() else "Nothing is written."

    def _look(self) -> None:
        value, problem = self.read()
        if problem:
            text = f"{self.signs.no} {problem}"
        else:
            kind = "JSON" if self.is_json else "text"
            text = f"{self.signs.yes} {kind}: {text_of(value)[:60]}"
        self.reading.update(Content(sanitise_line(text, 300)))

    def action_change_kind(self) -> None:
        """Read what is typed as JSON, or as text."""
        self.is_json = not self.is_json
        self.say("")
        self._look()

    # -- writing -----------------------------------------------------------------------------------------------------

    def action_write(self) -> None:
        """Write the memory, unless another program has changed it."""
        value, problem = self.read()
        if problem:
            self.say(problem, "error")
        elif self._is_conflict:
            self.say("Another program has changed it: keep yours or take theirs first.", "warning")
        elif not self._is_writing:
            self._is_writing = True
            self._write(value)

    @work(group="write")
    async def _write(self, value: Any) -> None:
        known = self._known
        write = MemoryWrite(
            scope=self.scope_field.value if known is None else known.scope,
            key=self.key_field.value if known is None else known.key,
            value=value,
            # A summary and other data were about the former value.
            provenance=MemoryProvenance(author=MemoryAuthor.OPERATOR),
        )
        try:
            memory = await self._records.call(lambda records: records.write(known, write))
        except MemoryChangedError as error:
            self._show_conflict(error.found)
        except HarnessError as error:
            self.say(f"Not written: {error}", "error")
        else:
            self.dismiss()
            self._on_written(memory)
        finally:
            self._is_writing = False

    # -- another program meanwhile -----------------------------------------------------------------------------------

    def _show_conflict(self, theirs: MemoryRecord | None) -> None:
        self._theirs, self._is_conflict = theirs, True
        done = "deleted it" if theirs is None else f"written {text_of(theirs.value)[:80]!r}"
        settings = self.console.settings
        named = ("{memory-keep-mine} keeps yours", "{memory-take-theirs} takes theirs")
        ways = ", ".join(hints(named, settings.keymap, ascii_only=settings.ascii))
        self.conflict.update(Content(f"Another program has {done} meanwhile: {ways}."))
        self.conflict.add_class("-shown")

    def _settle(self) -> None:
        self._is_conflict = False
        self.conflict.remove_class("-shown")
        self.say("")

    def action_keep_mine(self) -> None:
        """Write what is typed over the other program's value."""
        if self._is_conflict:
            self._settle()
            self._known_now(self._theirs)
            self.action_write()

    def action_take_theirs(self) -> None:
        """Take the other program's value; close when it was deleted."""
        if not self._is_conflict:
            return
        self._settle()
        if self._theirs is None:
            self.dismiss()
            return
        self._known_now(self._theirs)
        self.is_json = not isinstance(self._theirs.value, str)
        self.area.text = self._first = _editable(self._theirs.value)
        self._look()

    def _known_now(self, theirs: MemoryRecord | None) -> None:
        """Note what a write is to replace; a deleted memory keeps its names."""
        if theirs is None and self._known is not None:
            self.scope_field.value, self.key_field.value = self._known.scope, self._known.key
        self._known = theirs

    def action_leave(self) -> None:
        """Close the editor; with typed text only the second time."""
        if self.unsaved and not self._is_leaving:
            self._is_leaving = True
            self.say("Nothing was written yet: esc once more leaves it.", "warning")
        else:
            self.dismiss()


def _editable(value: Any) -> str:
    """Return a value for editing: a text as it is, else JSON."""
    if isinstance(value, str):
        return value
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        return json.dumps(value, indent=2)
    is_long = len(text) > 60 and isinstance(value, dict | list)
    return json.dumps(value, ensure_ascii=False, indent=2) if is_long else text
