"""Show one thing in full: a title, then its parts as indented JSON or text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from gemini_live_runtime.text import sanitise
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.messages import DetailPart
from gemini_live_tui.settings import ConsoleSettings
from gemini_live_tui.widgets.modal import TopModalScreen

MAX_SHOWN = 60_000
"""Characters of one part on the screen; copying takes all of it."""


class DetailsScreen(TopModalScreen[None]):
    """Details that escape, enter and q close, and `y` copies. No text is markup."""

    CSS_PATH = "details.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "dismiss", "Close", show=False),
        *bindings("details"),
    ]

    def __init__(self, settings: ConsoleSettings, title: str, parts: Sequence[DetailPart], *, copy: Any) -> None:
        super().__init__()
        self._title = title
        self._parts = parts
        self._copy = copy
        self._settings = settings

    def compose(self) -> ComposeResult:
        """Yield one scrolled box."""
        with VerticalScroll(id="details-box") as box:
            box.border_title = Content(self._title)
            parts = hints(
                ("{copy-details} copies", "esc closes"), self._settings.keymap, ascii_only=self._settings.ascii
            )
            box.border_subtitle = Content(", ".join(parts))
            for heading, value in self._parts:
                if heading:
                    yield Static(heading, classes="details-heading", markup=False)
                yield Static(shown(value), classes="details-part", markup=False)

    def action_copy_details(self) -> None:
        """Copy the whole as JSON."""
        text = json.dumps(self._copy, indent=2, ensure_ascii=True, default=str)
        self.app.copy_to_clipboard(text)
        box = self.query_one("#details-box", VerticalScroll)
        box.border_subtitle = f"copied {len(text):,} characters, esc closes"


def shown(value: Any) -> str:
    """Return a value fit to show: JSON indented by two, or text, cut when too long."""
    text = value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False, default=str)
    text = sanitise(text[:MAX_SHOWN]) + (
        f"\n(and {len(text) - MAX_SHOWN:,} more characters: y copies all)" if len(text) > MAX_SHOWN else ""
    )
    return text
