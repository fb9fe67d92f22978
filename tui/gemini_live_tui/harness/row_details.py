"""Show all of a task, a notification or a memory, explain it, and open its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gemini_live_runtime.errors import HarnessError
from gemini_live_runtime.harness.memory import MemoryRecord
from gemini_live_runtime.harness.record_files import json_of
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.dialogs.details import DetailsScreen
from gemini_live_tui.dialogs.why import WhyScreen
from gemini_live_tui.harness import explanations
from gemini_live_tui.harness.external_editor import open_in_editor
from gemini_live_tui.painting.runs import plain
from gemini_live_tui.panes.why_rows import lines_of

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from textual.app import App
    from textual.worker import Worker

    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.harness.items import TaskItem
    from gemini_live_tui.harness.parts import Parts
    from gemini_live_tui.harness.records import Records
    from gemini_live_tui.messages import Level
    from gemini_live_tui.panes.why_rows import Reason


class PartsOwner(Protocol):
    """The pane as its controllers use it."""

    console: ConsoleContext
    parts: Parts

    @property
    def app(self) -> App[object]:
        """The application."""
        ...

    def run_worker(self, work: Awaitable[None], *, group: str, exclusive: bool) -> Worker[None]:
        """Run `work` beside the pane's messages."""
        ...

    def say(self, message: str, level: Level = "info") -> None:
        """Show one sentence."""
        ...

    def look(self) -> object:
        """Read what has changed."""
        ...


class RowDetails:
    """Commands that look closer at the row under the cursor."""

    def __init__(self, pane: PartsOwner) -> None:
        self._pane = pane
        self._parts = pane.parts

    def action_open_row(self) -> None:
        """Show all of the row under the cursor."""
        self._parts.list.open_row()

    def show(self) -> None:
        """Show all of the row under the cursor."""
        parts = self._parts
        if parts.list is parts.tasks and parts.tasks.chosen is not None:
            self._pane.run_worker(self._show_task(parts.tasks.chosen), group="details", exclusive=True)
        elif parts.list is parts.notifications and (item := parts.notifications.chosen) is not None:
            record = parts.notification(item.id)
            facts = asdict(item) if record is None else json_of(record)
            reason = explanations.reason_of_notification(item, parts.now)
            self._enter(item.title, reason, [], facts)
        elif (memory := self._memory()) is not None:
            reason = explanations.reason_of_memory(memory, parts.now)
            shown: list[tuple[str, Any]] = [("Value", memory.value)]
            if memory.summary:
                shown.append(("Summary", memory.summary))
            self._enter(f"{memory.scope}/{memory.key}", reason, shown, json_of(memory))

    async def _show_task(self, item: TaskItem) -> None:
        shown: list[tuple[str, Any]] = []
        facts: Any = asdict(item)
        records = self._parts.records
        if records is not None and item.is_recorded and not self._parts.is_past:
            try:
                detail = await records.call(lambda records: records.task(item.id))
            except HarnessError as error:
                self._pane.say(str(error), "error")
                return
            task = detail.task
            result = None if detail.result is None else json_of(detail.result)
            facts = {"task": json_of(task), "result": result, "events": [json_of(one) for one in detail.events]}
            parts = (
                ("Arguments", (task.metadata or {}).get("toolArgs")),
                ("Result", None if detail.result is None else detail.result.output),
                ("Error", task.last_error),
                ("Files that cannot be used", "\n".join(detail.problems)),
                ("Events", facts["events"]),
            )
            shown = [(heading, value) for heading, value in parts if value not in (None, "", {})]
        self._enter(item.tool, explanations.reason_of_task(item, self._parts.now), shown, facts)

    def _enter(self, title: str, reason: Reason, shown: Sequence[tuple[str, Any]], facts: Any) -> None:
        lead = plain(lines_of(reason, self._parts.tasks.signs))
        console = self._pane.console
        console.enter(DetailsScreen(console.settings, sanitise_line(title, 80), [("", lead), *shown], copy=facts))

    def explain(self) -> bool:
        """Explain the row under the cursor; return False without one."""
        parts, reason = self._parts, None
        if parts.list is parts.tasks and parts.tasks.chosen is not None:
            reason = explanations.reason_of_task(parts.tasks.chosen, parts.now)
        elif parts.list is parts.notifications and parts.notifications.chosen is not None:
            reason = explanations.reason_of_notification(parts.notifications.chosen, parts.now)
        elif parts.list is parts.memories and (memory := self._memory()) is not None:
            reason = explanations.reason_of_memory(memory, parts.now)
        if reason is not None:
            self._pane.console.enter(WhyScreen(self._pane.console, reason))
        return bool(parts.list.row_at_cursor)

    def _memory(self) -> MemoryRecord | None:
        """Return the memory under the cursor, or say why it cannot be used."""
        memory = self._parts.memory()
        if isinstance(memory, str):
            self._pane.say(memory, "error")
        return memory if isinstance(memory, MemoryRecord) else None

    # -- files -------------------------------------------------------------------------------------------------------

    def open_file(self) -> None:
        """Open the file of the row under the cursor."""
        records = self._parts.records
        if records is None or self._parts.is_past:
            self._pane.say("No file is known here.", "warning")
        elif (path := self._path(records)) is not None:
            self._pane.run_worker(self._open(path), group="file", exclusive=True)

    def _path(self, records: Records) -> Path | None:
        parts, paths = self._parts, records.paths
        if parts.list is parts.tasks:
            task = parts.tasks.chosen
            if task is None or not task.is_recorded:
                return None
            is_done = task.status == "succeeded"
            return paths.result_file(task.id) if is_done else paths.task_file(task.id)
        if parts.list is parts.notifications:
            one = parts.notifications.chosen
            return None if one is None else paths.notification(one.id)
        return None if parts.memories.chosen is None else paths.memory_file(*parts.memories.chosen)

    async def _open(self, path: Path) -> None:
        self._pane.say(await open_in_editor(self._pane.app, self._pane.console, path))
        # An editor may write into the file, which does not change its folder.
        self._parts.memories.forget()
        self._pane.look()
