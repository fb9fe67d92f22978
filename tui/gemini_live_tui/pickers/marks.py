"""List the marks of the session in the order of their moments."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static
from textual.widgets.option_list import Option

from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.session_data.moment_parser import by_moment
from gemini_live_tui.widgets.modal import TopModalScreen
from gemini_live_tui.widgets.option_list import OptionList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.agent_view import Mark
    from gemini_live_runtime.journal.fold.view import SessionView
    from gemini_live_tui.context import ConsoleContext


class MarksScreen(TopModalScreen[None]):
    """List of moments with their notes; it grows while it is open."""

    CSS_PATH = "marks.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss", "Close", show=False)]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self._first = console.store.view
        self._seek = console.seek_event
        self._listed: tuple[int, int] = (-1, -1)
        self._marks: list[Mark] = []
        keys = keys_of(BY_ID["mark"], console.settings.keymap)
        how = f"{key_label(keys[0])} sets one" if keys else "mark sets one"
        self.empty = Static(f"No moment is marked yet. {how}, with a note or without.", id="no-marks", markup=False)
        self.list = OptionList(id="marks-list")

    def compose(self) -> ComposeResult:
        """Yield a box with the list, or with a sentence."""
        with Vertical(id="marks-box") as box:
            box.border_title = "Marks"
            box.border_subtitle = "enter goes there, esc closes"
            yield self.empty
            yield self.list

    def on_mount(self) -> None:
        """Highlight the mark that was set last."""
        self.show_view(self._first)
        self.list.focus()
        self._highlight(max((mark.seq for mark in self._marks), default=None))

    def _highlight(self, seq: int | None) -> None:
        found = (index for index, mark in enumerate(self._marks) if mark.seq == seq)
        self.list.highlighted = next(found, None)

    @on(OptionList.OptionSelected)
    def _go(self, message: OptionList.OptionSelected) -> None:
        """Go to the mark's moment."""
        mark = next((mark for mark in self._marks if str(mark.seq) == message.option.id), None)
        self.dismiss()
        if mark is not None:
            self._seek(mark.of)

    def show_view(self, view: SessionView) -> None:
        """List the marks of a view."""
        marks = view.agent_view.marks
        # Marks are only added, and the oldest ones dropped: number and last one identify the list.
        listed = (len(marks), marks[-1].seq if marks else 0)
        if listed == self._listed:
            return
        highlighted = self._marks[self.list.highlighted].seq if self.list.highlighted is not None else None
        self._listed, self._marks = listed, by_moment(marks)
        self.list.clear_options()
        self.list.add_options(Option(_line(mark), id=str(mark.seq)) for mark in self._marks)
        self._highlight(highlighted)
        self.empty.display, self.list.display = not marks, bool(marks)


def _line(mark: Mark) -> Content:
    # Unstyled, so that the cursor's colours cover the whole row.
    return Content(f"{clock_text(mark.t)}  {mark.text or 'marked'}")
