"""Base of screens in a box: a title, the contents, a row for messages, the keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Static

from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.messages import Level
from gemini_live_tui.painting.glyphs import Glyphs, glyphs
from gemini_live_tui.widgets.modal import TopModalScreen

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.view import SessionView
    from gemini_live_tui.context import ConsoleContext

BOX_STYLES = Path(__file__).with_name("box_screen.tcss")
"""Style sheet of every box; a subclass lists it before its own."""

WIDE = 100
"""Least width, in cells, of a box with two columns."""


class BoxScreen(TopModalScreen[None]):
    """Screen in a box, closed by escape; a subclass implements `contents`.

    A message stays until the next one.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = [BOX_STYLES]
    HEADING: ClassVar[str] = ""
    HINT: ClassVar[str] = "esc closes"
    """Texts between commas, each with its keys; `{id}` is replaced by the keys of an action."""
    CHANGES: ClassVar[bool] = False
    """True when the screen changes the session, which changes its present."""
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "Close", show=False)]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.past = Static("", id="past", markup=False)
        self.console = console
        self.signs: Glyphs = glyphs(console.settings.ascii)
        self.message = Static("", id="message", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the box with the contents and the message."""
        self.set_class(self.console.waiting, "-alone")
        with VerticalScroll(id="box", can_focus=False) as box:
            box.border_title = self.HEADING
            box.border_subtitle = Content(self.hint())
            if self.CHANGES:
                self._tell_past()
                yield self.past
            yield from self.contents()
            yield self.message

    def hint(self) -> str:
        """Return the keys for the box's lower edge."""
        settings = self.console.settings
        return ", ".join(hints(self.HINT.split(", "), settings.keymap, ascii_only=settings.ascii))

    def contents(self) -> Iterator[Widget]:
        """Yield the contents from top to bottom."""
        raise NotImplementedError

    def show_view(self, view: SessionView) -> None:
        """Warn while a moment of the past is shown behind the box."""
        if self.CHANGES:
            self._tell_past()

    def _tell_past(self) -> None:
        note = self.console.past_note()
        if str(self.past.content) != note:
            self.past.update(note)
        self.past.display = bool(note)

    @property
    def unsaved(self) -> bool:
        """True when closing the screen would lose typed text."""
        return False

    def on_resize(self, event: events.Resize) -> None:
        """Use two columns where they fit."""
        self.set_class(event.size.width >= WIDE, "-wide")

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show one sentence below the contents; "" removes it."""
        text = sanitise_line(message, 600)
        sign = {"info": "", "warning": f"{self.signs.prompt} ", "error": f"{self.signs.states['error']} "}[level]
        self.message.update(Content(f"{sign}{text}"))
        if text:
            # Long contents may hide the message below the screen.
            self.call_after_refresh(self.message.scroll_visible, animate=False)
        for name in ("info", "warning", "error"):
            self.message.set_class(name == level, f"-{name}")
        if text and self.is_mounted:
            # In a small terminal, prefer the message to the rest of the box.
            self.call_after_refresh(self.message.scroll_visible, animate=False)
