"""Show the tasks of the session with their progress, and what it put into memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen

from gemini_live_runtime.journal.harness_view import HarnessView
from gemini_live_tui.actions import bindings
from gemini_live_tui.painting.formatting import clock_text, duration_text, share_bar
from gemini_live_tui.painting.glyphs import Glyphs, glyphs
from gemini_live_tui.painting.runs import Run, filled, fitted
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.harness_view import TaskCard
    from gemini_live_runtime.journal.view import SessionView
    from gemini_live_tui.context import ConsoleContext, Level

BAR = 10
"""Cells of a progress bar."""

TASKS, MEMORY = "Tasks", "Memory"
NO_TASK = "No call has gone on as a task. Tools declared with spillable=True do."
NO_MEMORY = "Nothing was put into memory in this session."

STYLES = {"running": "key", "succeeded": "good", "cancelled": "warn", "interrupted": "warn"}
"""Styles of the words for a task's status; the others are errors."""


class TaskList(RowList):
    """Tasks, newest first, then memories, below headings."""

    def __init__(self, signs: Glyphs) -> None:
        super().__init__(id="tasks-list")
        self._signs = signs
        self._harness = HarnessView()
        self._elapsed = 0.0

    def show(self, harness: HarnessView, elapsed: float) -> None:
        """Show another view at `elapsed` seconds of session time."""
        self._harness, self._elapsed = harness, elapsed
        tasks = [f"task:{ident}" for ident in reversed(harness.tasks)] or [f"empty:{NO_TASK}"]
        memories = [f"memory:{place}" for place in reversed(harness.memories)] or [f"empty:{NO_MEMORY}"]
        self.set_rows([f"head:{TASKS}", *tasks, "head:", f"head:{MEMORY}", *memories])

    def selectable(self, row: str) -> bool:
        """Return True for a task or a memory."""
        return row.startswith(("task:", "memory:"))

    @property
    def task_at_cursor(self) -> tuple[str, TaskCard] | None:
        """Id and task under the cursor, or None."""
        kind, _, ident = self.row_at_cursor.partition(":")
        card = self._harness.tasks.get(ident)
        return (ident, card) if kind == "task" and card is not None else None

    def row_runs(self, row: str, width: int) -> Sequence[Run]:
        """Return the runs of one row."""
        kind, _, name = row.partition(":")
        if kind == "head":
            return [(f" {name}", "strong")]
        if kind == "empty":
            return fitted([(f"   {name}", "quiet")], width, self._signs.ellipsis)
        if kind == "task":
            card = self._harness.tasks.get(name)
            return () if card is None else self._task_row(card, width)
        memory = self._harness.memories.get(name)
        if memory is None:
            return ()
        word = "deleted" if memory.action == "delete" else "put by"
        who = "" if memory.action == "delete" else f" {memory.by}"
        rest: list[Run] = [(f"  {word}{who}  ", "quiet"), (memory.value, "said")]
        return fitted([(f"   {clock_text(memory.t)}  ", "quiet"), (name, "strong"), *rest], width, self._signs.ellipsis)

    def _task_row(self, card: TaskCard, width: int) -> list[Run]:
        end = self._elapsed if card.end is None else card.end
        runs: list[Run] = [
            (f"   {clock_text(card.t)}  ", "quiet"),
            (f"{filled(card.tool, max(10, width // 5), self._signs.ellipsis)} ", "strong"),
            (f"{card.status:11} ", STYLES.get(card.status, "error")),
        ]
        if card.fraction is not None:
            runs += [*share_bar(card.fraction, BAR, self._signs), (f" {card.fraction:>4.0%}  ", "said")]
        else:
            runs.append((" " * (BAR + 7), ""))
        runs += [(f"{duration_text(max(0.0, end - card.t) * 1000):>7}  ", "quiet"), (card.text, "said")]
        return fitted(runs, width, self._signs.ellipsis)


class TasksScreen(ModalScreen[None]):
    """Screen that follows the session; escape closes it."""

    CSS_PATH = "tasks.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,T", "dismiss", "Close", show=False),
        *bindings("tasks"),
    ]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.console = console
        self._store = console.store
        self.list = TaskList(glyphs(console.settings.ascii))
        self._box = Container(self.list, id="tasks-box")
        cancel = "" if console.settings.replay else "c cancels a task, "
        self._keys = f"{cancel}enter shows all, esc closes"

    def compose(self) -> ComposeResult:
        """Yield the list in a box."""
        self._box.border_title = "Tasks and memory"
        self._box.border_subtitle = self._keys
        yield self._box

    def on_mount(self) -> None:
        """Show the present view, and follow running tasks."""
        self.show_view(self._store.view)
        self.list.focus()

    def show_view(self, view: SessionView) -> None:
        """Show the tasks of `view`."""
        self.list.show(view.harness, view.t)

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show a sentence in place of the keys."""
        self._box.border_subtitle = message or self._keys

    def on_row_list_opened(self, message: RowList.Opened) -> None:
        """Show all of a task or a memory."""
        from gemini_live_tui.dialogs.details import DetailsScreen

        message.stop()
        kind, _, ident = message.row.partition(":")
        harness = self._store.view.harness
        card: Any = harness.tasks.get(ident) if kind == "task" else harness.memories.get(ident)
        if card is None:
            return
        facts = {name: getattr(card, name) for name in card.__slots__}
        title = card.tool if kind == "task" else ident
        parts = [("", ident), *facts.items()]
        self.console.enter(DetailsScreen(self.console.settings, title, parts, copy=facts))

    def action_cancel_task(self) -> None:
        """Cancel the task under the cursor."""
        from gemini_live_runtime.commands import CancelTask

        found = self.list.task_at_cursor
        if found is None or found[1].end is not None:
            self.console.say("Only a running task can be cancelled.", passing=True)
        else:
            self.console.order(CancelTask(task_id=found[0]))
