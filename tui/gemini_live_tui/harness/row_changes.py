"""Cancel tasks, close, delete and queue notifications, write and delete memories."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.memory import MemoryRecord, MemoryWrite
from gemini_live_runtime.harness.notifications import HarnessNotification
from gemini_live_tui.dialogs.confirm import ConfirmScreen
from gemini_live_tui.harness.lists import text_of
from gemini_live_tui.harness.memory_editor import MemoryEditor
from gemini_live_tui.harness.records import Records

if TYPE_CHECKING:
    from gemini_live_tui.harness.row_details import PartsOwner

MAX_UNDO = 50
"""Deletions that can be undone."""

ASKED_S = 5
"""Seconds within which another program looks for requests."""

Work = Callable[[Records], object]


class RowChanges:
    """Commands that change the row under the cursor. A thread does the disk's work."""

    def __init__(self, pane: PartsOwner) -> None:
        self._pane = pane
        self._parts = pane.parts
        self._undo: list[tuple[str, Work]] = []
        """Names of deleted records, each with the work that brings it back."""

    def _can_change(self) -> Records | None:
        """Return the records, or say that they cannot be changed; a note says why."""
        records = self._parts.records
        if records is not None and not self._parts.is_past:
            return records
        self._pane.say("Nothing can be changed here.", "warning")
        return None

    def _change(
        self, change: Work, done: str, *, name: str = "", undo: Callable[[object], Work | None] | None = None
    ) -> None:
        """Change records, and say what was done or why not.

        `undo` gets the result of the change, and returns the work that undoes it for `name`.
        """
        records = self._can_change()
        if records is not None:
            self._pane.run_worker(
                self._change_in_thread(records, change, done, name, undo), group="change", exclusive=False
            )

    async def _change_in_thread(
        self, records: Records, change: Work, done: str, name: str, undo: Callable[[object], Work | None] | None
    ) -> None:
        try:
            result = await records.call(change)
        except HarnessError as error:
            self._pane.say(str(error), "error")
            return
        finally:
            self._pane.look()
        if undo is not None and (back := undo(result)) is not None:
            self._undo = [*self._undo[-MAX_UNDO + 1 :], (name, back)]
            done = f"{done} u takes it back."
        self._pane.say(done)

    def _ask(self, question: str, yes: str, then: Callable[[], object]) -> None:
        def decide(answer: bool | None) -> None:
            if answer:
                then()

        self._pane.app.push_screen(ConfirmScreen(question, yes), decide)

    # -- tasks -------------------------------------------------------------------------------------------------------

    def cancel_task(self) -> None:
        """Cancel the task under the cursor, after asking."""
        from gemini_live_runtime.commands import CancelTask

        parts, console = self._parts, self._pane.console
        item = parts.tasks.chosen if parts.list is parts.tasks else None
        if item is None or not item.is_running:
            self._pane.say("Only a running task can be cancelled.")
        elif parts.is_past:
            self._can_change()
        elif item.is_here:
            question = f"Cancel {item.tool}? Its tool ends at once, and the model learns of it."
            self._ask(question, "cancels it", lambda: console.order(CancelTask(task_id=item.id)))
        else:
            change = partial(Records.cancel, task_id=item.id, reason="The operator of another console cancelled it.")
            done = f"{item.tool} is asked to end; its program does so within {ASKED_S} s."
            question = f"Cancel {item.tool}? It runs in another program, which is asked to end it."
            self._ask(question, "asks it", lambda: self._change(change, done))

    # -- notifications -----------------------------------------------------------------------------------------------

    def acknowledge(self) -> None:
        """Close the notification under the cursor, so that it is not announced."""
        parts = self._parts
        item = parts.notifications.chosen if parts.list is parts.notifications else None
        if item is None or not item.is_open:
            self._pane.say("Only a notification that waits or is announced can be acknowledged.")
        else:
            self._change(partial(Records.acknowledge, notification_id=item.id), f"Acknowledged: {item.title}.")

    def queue_again(self) -> None:
        """Queue the closed notification under the cursor again."""
        parts = self._parts
        item = parts.notifications.chosen if parts.list is parts.notifications else None
        if item is None:
            self._pane.say("Only a closed notification can be queued again.")
        elif item.is_open:
            self._pane.say("It waits already." if item.status == "queued" else "It is being announced.")
        elif self._can_change() is not None and (record := parts.notification(item.id)) is not None:
            self._change(partial(Records.queue_again, one=record), f"Queued again: {item.title}.")

    # -- deleting ----------------------------------------------------------------------------------------------------

    def delete(self) -> None:
        """Delete the notification under the cursor or, after asking, the memory."""
        parts = self._parts
        if parts.list is parts.tasks:
            self._pane.say("Records of tasks are kept for 90 days.")
        elif self._can_change() is None:
            return
        elif parts.list is parts.notifications and (item := parts.notifications.chosen) is not None:
            delete = partial(Records.delete_notification, notification_id=item.id)
            self._change(delete, f"Deleted: {item.title}.", name=item.title, undo=_restore)
        elif parts.list is parts.memories and (place := parts.memories.chosen) is not None:
            name = "/".join(place)
            change = partial(Records.delete_memory, name=place)
            self._ask(
                f"Delete {name}? Later sessions will not know it.",
                "deletes it",
                lambda: self._change(change, f"Deleted: {name}.", name=name, undo=_put_back),
            )

    def undo(self) -> None:
        """Undo the last deletion."""
        if self._can_change() is None:
            return
        if not self._undo:
            self._pane.say("Nothing was deleted here.")
            return
        name, back = self._undo.pop()
        self._change(back, f"Restored: {name}.")

    # -- memory ------------------------------------------------------------------------------------------------------

    def edit_memory(self) -> None:
        """Edit the value of the memory under the cursor."""
        parts, console = self._parts, self._pane.console
        if parts.list is not parts.memories:
            self._pane.say("Only a memory can be edited.")
            return
        if (records := self._can_change()) is None:
            return
        memory = parts.memory()
        if isinstance(memory, str):
            self._pane.say(memory, "error")
        elif memory is not None:
            console.enter(MemoryEditor(console, records, memory, on_written=self._on_written))

    def add_memory(self) -> None:
        """Add a memory."""
        parts, console = self._parts, self._pane.console
        if parts.list is parts.memories and (records := self._can_change()) is not None:
            scope = "" if parts.memories.chosen is None else parts.memories.chosen[0]
            console.enter(MemoryEditor(console, records, None, on_written=self._on_written, scope=scope))

    def _on_written(self, memory: MemoryRecord) -> None:
        self._pane.say(f"Remembered {memory.scope}/{memory.key}: {text_of(memory.value)}")
        self._parts.memories.put_values({(memory.scope, memory.key): memory})
        self._pane.look()


def _restore(deleted: object) -> Work | None:
    """Return the work that queues a deleted notification again."""
    return partial(Records.restore_notification, one=deleted) if isinstance(deleted, HarnessNotification) else None


def _put_back(deleted: object) -> Work | None:
    """Return the work that puts a memory back; None for an unreadable one."""
    if not isinstance(deleted, MemoryRecord):
        return None
    write = MemoryWrite(
        scope=deleted.scope,
        key=deleted.key,
        value=deleted.value,
        summary=deleted.summary,
        metadata=deleted.metadata,
        provenance=deleted.provenance,
    )
    return partial(Records.write, known=None, write=write)
