"""Base of editors of state: parse while typing, preview the consequences, apply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Static, TextArea

from gemini_live_tui.actions import bindings
from gemini_live_tui.editors.preview_rows import edit_lines
from gemini_live_tui.painting.paint import content
from gemini_live_tui.painting.runs import Run, laid_out
from gemini_live_tui.widgets.box_screen import BOX_STYLES, BoxScreen
from gemini_live_tui.widgets.json_area import JsonArea

if TYPE_CHECKING:
    from gemini_live_runtime.events import Event
    from gemini_live_tui.context import ConsoleContext

WIDTH = 69
"""Cells of a line in the box."""

Edit = dict[str, Any]


class EditorScreen(BoxScreen):
    """Editor; a subclass parses the text into edits.

    Typed text stays until it is applied, or left twice.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = [BOX_STYLES, "base.tcss"]
    CHANGES = True
    HINT = "{editor-apply} applies, esc cancels"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False), *bindings("editor")]

    def __init__(self, console: ConsoleContext, text: str, *, placeholder: str = "") -> None:
        super().__init__(console)
        self.area = JsonArea(text, placeholder=placeholder, id="editor-area")
        self.reading = Static("", id="editor-reading", markup=False)
        self.expected = Static("", id="editor-preview", markup=False)
        self.problem = ""
        """Reason why the text cannot be applied; "" when it can."""
        self._first = text
        self._leaving = False
        self._applying = ""
        self._asking = ""
        self._ask_again = False
        self._asked: tuple[Edit, ...] | None = None

    def hint(self) -> str:
        """Return the keys for the box's lower edge; in a recording escape alone."""
        return BoxScreen.HINT if self.console.settings.replay else super().hint()

    # -- what a subclass says ----------------------------------------------------------------------------------------

    def read(self) -> tuple[tuple[Edit, ...], str]:
        """Return the typed edits, or a sentence about why there are none."""
        raise NotImplementedError

    def touched(self) -> bool:
        """Return True when something was typed."""
        return self.area.text != self._first

    @property
    def unsaved(self) -> bool:
        """True when closing the editor would lose typed text."""
        return self.touched()

    # -- the screen --------------------------------------------------------------------------------------------------

    def contents(self) -> Iterator[Widget]:
        """Yield the text, its meaning, and the preview."""
        yield self.area
        yield self.reading
        yield self.expected

    def on_mount(self) -> None:
        """Subscribe to previews and look at the text."""
        from gemini_live_runtime.events import EditPreviewed, EditsApplied

        self.console.store.listen(EditPreviewed, self._previewed)
        self.console.store.listen(EditsApplied, self._applied)
        self.area.move_cursor(self.area.document.end)
        self.begin_at().focus()
        self.look()

    def begin_at(self) -> Widget:
        """Return the field to focus first."""
        return self.area

    def on_unmount(self) -> None:
        """Unsubscribe."""
        from gemini_live_runtime.events import EditPreviewed, EditsApplied

        self.console.store.unlisten(EditPreviewed, self._previewed)
        self.console.store.unlisten(EditsApplied, self._applied)

    @on(JsonArea.Submitted)
    def _submitted(self) -> None:
        self.action_apply()

    @on(TextArea.Changed)
    def _typed(self) -> None:
        # The message was about the former text.
        self.say("")
        self.look()

    def look(self) -> None:
        """Parse the text, and request a preview."""
        self._leaving = False
        self.query_one("#box").border_subtitle = Content(self.hint())
        if self.console.settings.replay:
            self._show([[("This is a recording: nothing can be changed.", "warn")]])
            return
        edits, self.problem = self.read()
        signs = self.signs
        if self.problem:
            self.reading.update(content([[(f"{signs.no} no   ", "warn"), (self.problem, "said")]]))
            self._show([])
            self._asked = None
            return
        self.reading.update(content([[(f"{signs.yes} yes  ", "good"), (self.reads_well(edits), "quiet")]]))
        if edits != self._asked:
            self._ask(edits)

    def reads_well(self, edits: Sequence[Edit]) -> str:
        """Return a sentence about text that can be applied."""
        return "it can be applied"

    # -- the preview -------------------------------------------------------------------------------------------------

    def _ask(self, edits: tuple[Edit, ...]) -> None:
        """Request a preview; while one is pending only the last request is kept."""
        from gemini_live_runtime.commands import PreviewEdit

        if self._asking:
            self._ask_again = True
            return
        self._asked = edits
        fields = ("key", "value", "remove")
        plain: tuple[Edit, ...] = tuple({name: edit[name] for name in fields if name in edit} for edit in edits)
        self._asking = self.console.order(PreviewEdit(edits=plain))
        if self._asking:
            self._show([[("looking at what would happen", "quiet")]])

    def _previewed(self, event: Event) -> None:
        from gemini_live_runtime.events import EditPreviewed

        payload = event.payload
        if not isinstance(payload, EditPreviewed) or payload.command_id != self._asking:
            return
        self._asking = ""
        if self._ask_again:
            self._ask_again, self._asked = False, None
            self.look()
        elif not self.problem:
            heading: list[Run] = [("What it would do", "note")]
            self._show([heading, *laid_out(edit_lines(payload, self.signs), self.line_width)])

    @property
    def line_width(self) -> int:
        """Cells of a line."""
        return max(20, min(WIDTH, self.size.width - 7))

    def _show(self, rows: Sequence[Sequence[Run]]) -> None:
        self.expected.update(content(rows))
        self.expected.display = bool(rows)

    # -- applying ----------------------------------------------------------------------------------------------------

    def action_apply(self) -> None:
        """Write the edits into the state."""
        from gemini_live_runtime.commands import EditState

        edits, problem = self.read()
        if problem:
            self.say(problem, "error")
            return
        if self._applying:
            return
        if self.console.settings.replay:
            self.say("This is a recording: nothing can be changed.", "error")
            return
        self._leaving = False
        self.say("")
        self._applying = self.console.order(EditState(edits=edits))
        if not self._applying:
            self.say("Not applied: the session does not take commands now.", "error")

    def _applied(self, event: Event) -> None:
        from gemini_live_runtime.events import EditsApplied

        if isinstance(event.payload, EditsApplied) and event.payload.command_id == self._applying:
            self.dismiss()

    def refused(self, command_id: str, reason: str) -> bool:
        """Keep the text and show the reason below it."""
        if not command_id or command_id not in (self._applying, self._asking):
            return False
        if command_id == self._asking:
            self._asking, self._ask_again = "", False
            self._show([[(f"No preview: {reason}"[:300], "warn")]])
        else:
            self._applying = ""
            self.say(f"Not applied: {reason}", "error")
        return True

    def action_leave(self) -> None:
        """Close the editor; with typed text only the second time."""
        if self.unsaved and not self._leaving:
            self._leaving = True
            self.say("Nothing was applied yet: esc once more leaves it.", "warning")
        else:
            self.dismiss()
