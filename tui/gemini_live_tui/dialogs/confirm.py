"""Ask before an action that cannot be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from gemini_live_tui.widgets.modal import TopModalScreen

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.harness_view import TaskCard


class ConfirmScreen(TopModalScreen[bool]):
    """Question: enter answers yes, escape no.

    `question` and `yes` (the effect of enter) are the console's own words or sanitised. A question that a letter opened
    is answered by that letter (`again`) instead of enter, which ends a line that was meant for the prompt.
    """

    CSS_PATH = "confirm.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "agree", "Yes", show=False),
        Binding("escape", "dismiss(False)", "No", show=False),
    ]

    def __init__(self, question: str, yes: str, *, keys: str = "", again: str = "") -> None:
        """`keys` replaces the line with the two keys, `again` is the key of yes."""
        super().__init__()
        self._again = again
        if again:
            self._bindings.bind(again, "dismiss(True)", "Yes", show=False)
        self._question = question
        self._keys = keys or f"enter {yes}   esc goes back"

    @classmethod
    def for_tasks(cls, running: Sequence[TaskCard], quit_key: str) -> ConfirmScreen:
        """Return the question whether `running` tasks may end before the engine does."""
        names = ", ".join(f"{task.tool} ({task.fraction:.0%})" if task.fraction else task.tool for task in running[:5])
        count = "A task is running" if len(running) == 1 else f"{len(running)} tasks are running"
        question = f"{count}: {names}. The engine can go on without connection and devices, and end after that."
        return cls(question, "", keys=f"enter quits and lets it finish   {quit_key} interrupts it   esc goes back")

    @classmethod
    def for_attached(cls, quit_key: str) -> ConfirmScreen:
        """Return the question whether the session of another console is to end."""
        question = "The session can go on without this console, for up to five minutes."
        return cls(question, "", keys=f"enter detaches   {quit_key} hangs up and quits   esc goes back")

    @classmethod
    def for_detaching(cls, again: str, again_label: str, quit_key: str) -> ConfirmScreen:
        """Return the question of the key that detaches; that key answers yes."""
        question = "Leave this console? The call goes on without it, for up to five minutes."
        keys = f"{again_label} detaches   {quit_key} hangs up and quits   esc goes back"
        return cls(question, "", keys=keys, again=again)

    def action_agree(self) -> None:
        """Answer yes, unless that has a key of its own here."""
        if not self._again:
            self.dismiss(True)

    def compose(self) -> ComposeResult:
        """Yield the question and its two keys."""
        with Vertical(id="confirm-box") as box:
            box.border_title = "Sure?"
            yield Static(self._question, id="confirm-question", markup=False)
            yield Static(self._keys, id="confirm-keys", markup=False)
