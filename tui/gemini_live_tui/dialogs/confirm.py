"""Ask before an action that cannot be undone."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static


class ConfirmScreen(ModalScreen[bool]):
    """Question: enter answers yes, escape no.

    `question` and `yes` (the effect of enter) are the console's own words or sanitised.
    """

    CSS_PATH = "confirm.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "dismiss(True)", "Yes", show=False),
        Binding("escape", "dismiss(False)", "No", show=False),
    ]

    def __init__(self, question: str, yes: str) -> None:
        super().__init__()
        self._question = question
        self._yes = yes

    def compose(self) -> ComposeResult:
        """Yield the question and its two keys."""
        with Vertical(id="confirm-box") as box:
            box.border_title = "Sure?"
            yield Static(self._question, id="confirm-question", markup=False)
            yield Static(f"enter {self._yes}   esc goes back", id="confirm-keys", markup=False)
