"""Choose a recorded session from a list with a filter and a preview."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widgets import Input, Static

from gemini_live_runtime import paths
from gemini_live_runtime.errors import GeminiLiveError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.painting.wrapping import fit
from gemini_live_tui.pickers.session_keys import field_keys, list_keys
from gemini_live_tui.pickers.session_list import SessionList, heading
from gemini_live_tui.pickers.session_opener import SessionOpener
from gemini_live_tui.widgets.line_input import LineInput
from gemini_live_tui.widgets.modal import TopScreen
from gemini_live_tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from gemini_live_runtime.journal.sessions.catalog import Entry
    from gemini_live_tui.context import ConsoleContext

WIDE = 150
"""Width in cells from which the preview is beside the list."""

PREVIEW_LINES = 60


class _Pane(Container):
    """Part of the screen whose text is cut to its size."""

    def on_resize(self) -> None:
        """Cut the text again."""
        if isinstance(self.screen, SessionsScreen):
            self.screen.fit()


class SessionsScreen(TopScreen[None]):
    """Screen with list, filter, preview, a row for messages and one for keys.

    Sessions are read in a thread. Deleted ones go to the trash, from where they can be restored.
    """

    CSS_PATH = "sessions.tcss"
    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("sessions")]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.console = console
        self._signs = glyphs(console.settings.ascii)
        self._root = paths.sessions_dir()
        self._all: list[Entry] | None = None
        self._in_trash = False
        self._deleted: list[str] = []
        self._naming: Entry | None = None
        self._kept_filter = ""
        self._lines: list[str] = []
        self._previewed = ""
        self._opener = SessionOpener(console, self._root, self.say)
        self.list = SessionList(id="sessions-list", glyphs=self._signs)
        self.field = LineInput(id="sessions-field", placeholder="words to find", select_on_focus=False)
        self._label = Static("Filter", id="sessions-label", markup=False)
        self._head = Static("", id="sessions-head", markup=False)
        self._nothing = Static("", id="sessions-nothing", markup=False)
        self._preview = Static("", id="sessions-preview", markup=False)
        self._message = Static("", id="sessions-message", markup=False)
        self._bar = Static(self._keys(), id="sessions-keys", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the parts; the preview is beside the list where it fits."""
        with Container(id="sessions-body"):
            with _Pane(id="sessions-pane") as pane:
                pane.border_title = "Sessions"
                with Horizontal(id="sessions-entry"):
                    yield self._label
                    yield self.field
                yield self._head
                yield self.list
                yield self._nothing
            with _Pane(id="sessions-preview-pane"):
                yield self._preview
        yield self._message
        yield self._bar

    def on_mount(self) -> None:
        """Look for sessions."""
        self.set_focus(self.list)
        self._show()
        self._load()

    def on_resize(self, event: events.Resize) -> None:
        """Put the preview beside or below the list."""
        self.set_class(event.size.width >= WIDE, "-wide")
        self._update_keys()

    def on_screen_resume(self) -> None:
        """Look for sessions again."""
        if self._all is not None:
            self._load()

    # -- looking -----------------------------------------------------------------------------------------------------

    @work(group="sessions", exclusive=True)
    async def _load(self, go_to: str = "") -> None:
        try:
            self._all = await asyncio.to_thread(self._look, self.console.time.wall())
        except OSError as error:
            self._all = []
            self.say(f"The recordings cannot be looked through: {error.strerror or error}.", "warning")
        self._show()
        if go_to:
            self.list.go_to(go_to)
        self._look_ahead()

    def _look(self, now: float) -> list[Entry]:
        from gemini_live_runtime.journal.sessions import trash
        from gemini_live_runtime.journal.sessions.catalog import list_entries

        trash.expire(self._root, now)
        return trash.list_trash(self._root) if self._in_trash else list_entries(self._root, wall=lambda: now)

    def _show(self) -> None:
        """List the sessions that the filter lets through."""
        found: list[Entry] = []
        if self._all is not None:
            from gemini_live_runtime.journal.sessions.catalog import matches

            words = self.field.value if self._naming is None else self._kept_filter
            found = [entry for entry in self._all if matches(entry, words)]
        self.list.show(found)
        self._show_list(bool(found))
        self._nothing.update(Content("" if found else self._why_nothing()))
        pane = self.query_one("#sessions-pane")
        pane.border_title = "Trash" if self._in_trash else "Sessions"
        pane.border_subtitle = Content(self._sum(found))
        self._show_preview()

    def _show_list(self, some: bool) -> None:
        """Show or hide the list; a hidden one's focus does not go to the filter."""
        if not some and self.focused is self.list:
            self.set_focus(None)
        self.list.display = some
        self.set_class(some, "-some")
        if some and self.focused is None:
            self.set_focus(self.list)

    def _why_nothing(self) -> str:
        if self._all is None:
            return f"Looking through the recordings{self._signs.ellipsis}"
        if self._all:
            return "No session has all of these words. esc shows all again."
        if self._in_trash:
            return "The trash is empty. What is deleted waits here for 30 days."
        return "No session is recorded yet.\n\nUnless started with --record off, sessions are recorded and listed here."

    def _sum(self, found: list[Entry]) -> str:
        if self._all is None:
            return ""
        count = f"{len(found)} of {len(self._all)}" if len(found) != len(self._all) else str(len(found))
        size = sum(entry.total_bytes for entry in found)
        return f"{count} {self._signs.separator} {_size(size)}"

    # -- the session under the cursor --------------------------------------------------------------------------------

    def _moved(self) -> None:
        """Preview the session under the cursor."""
        self._show_preview()
        self._look_ahead()

    @work(group="preview", exclusive=True)
    async def _look_ahead(self) -> None:
        """Read the end of the session under the cursor; of several requests only the last."""
        entry = self.list.chosen
        ident = entry.id if entry is not None else ""
        if entry is None or ident == self._previewed:
            return
        from gemini_live_runtime.journal.sessions.catalog import preview

        lines = [] if entry.problem else await asyncio.to_thread(preview, self._folder(entry), PREVIEW_LINES)
        if not self.query("#sessions-preview-pane"):
            # The screen was closed while the session was read.
            return
        self._lines, self._previewed = lines, ident
        self._show_preview()

    def _show_preview(self) -> None:
        entry = self.list.chosen
        pane = self.query_one("#sessions-preview-pane")
        if entry is None:
            pane.border_title, text = "", ""
        else:
            parts = [entry.id, entry.model, _size(entry.total_bytes), entry.ended, entry.damage.rstrip(".")]
            title = f" {self._signs.separator} ".join(part for part in parts if part)
            pane.border_title = Content(fit(title, max(8, pane.size.width - 6), self._signs.ellipsis))
            text = entry.problem or self._last_lines(entry)
        self._preview.update(Content(text))

    def _last_lines(self, entry: Entry) -> str:
        if entry.id != self._previewed:
            return ""
        size = self.query_one("#sessions-preview-pane").content_size
        lines = [fit(line, max(8, size.width), self._signs.ellipsis) for line in self._lines[-max(1, size.height) :]]
        return "\n".join(lines) or "Nothing was said."

    def _folder(self, entry: Entry) -> Path:
        from gemini_live_runtime.journal.sessions.trash import trash_dir

        return (trash_dir(self._root) if self._in_trash else self._root) / entry.id

    def fit(self) -> None:
        """Cut heading and preview to their room."""
        # The scrollbar takes a column of the list.
        self._head.update(Content(heading(self.query_one("#sessions-pane").content_size.width - 1)))
        self._show_preview()

    # -- actions -----------------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable most keys while the filter has the focus."""
        if self.focused is not self.field:
            return True
        return action == "back" or (action == "move" and parameters not in (("home",), ("end",)))

    def action_move(self, step: str) -> None:
        """Move the cursor."""
        self.list.move(step)
        self._moved()

    @on(RowList.Opened)
    def action_open(self) -> None:
        """Replay the session, return to it while it runs, restore it in the trash."""
        entry = self.list.chosen
        if entry is not None and self._in_trash:
            self._restore(entry.id)
        else:
            self._opener.open(entry)

    def action_resume(self) -> None:
        """Go on with the session."""
        if self._in_trash:
            self.say("Restore it first: enter does.")
        else:
            self._opener.resume(self.list.chosen)

    def action_rename(self) -> None:
        """Open the field for a title."""
        entry = self.list.chosen
        if entry is None or self._in_trash:
            self.say("Only sessions that are not in the trash are named." if self._in_trash else "Nothing to name.")
            return
        self._naming = entry
        self._kept_filter = self.field.value
        self._label.update("Title")
        self.field.value = entry.title
        self.field.cursor_position = len(entry.title)
        self.field.placeholder = f"a title for {entry.id}, enter keeps it"
        self.set_focus(self.field)

    def action_export(self) -> None:
        """Open the export of the session."""
        from gemini_live_tui.editors.export import ExportScreen, Subject

        entry = self.list.chosen
        if entry is None or entry.problem:
            self.say("There is nothing here to export.", "warning")
            return
        subject = Subject(self._folder(entry), entry.name, entry.duration_s, entry.turns, bool(entry.audio_bytes))
        self.console.enter(ExportScreen(self.console, subject))

    def action_delete(self) -> None:
        """Move the session to the trash."""
        entry = self.list.chosen
        if entry is None or self._in_trash:
            if self._in_trash:
                self.say("It is deleted already. For good: gemini-live-tui sessions empty-trash")
            return
        from gemini_live_runtime.journal.sessions import trash

        try:
            self._deleted.append(trash.delete(self._root, entry.id, wall=self.console.time.wall))
        except GeminiLiveError as error:
            self.say(str(error), "warning")
            return
        self.say(f"Deleted {entry.name}. u takes it back, for {trash.MAX_TRASH_DAYS} days the trash does.")
        self._load()

    def action_undo(self) -> None:
        """Restore the session that was deleted last."""
        if not self._deleted:
            self.say("Nothing was deleted here. tab shows the trash.")
            return
        self._restore(self._deleted[-1])

    def _restore(self, name: str) -> None:
        from gemini_live_runtime.journal.sessions import trash

        try:
            ident = trash.restore(self._root, name)
        except GeminiLiveError as error:
            self.say(str(error), "warning")
            return
        finally:
            self._deleted = [other for other in self._deleted if other != name]
        self.say(f"Restored {ident}.")
        self._load(ident)

    def action_toggle_trash(self) -> None:
        """Show the trash, or the sessions again."""
        self._in_trash = not self._in_trash
        self._all, self._previewed = None, ""
        self.say("")
        self._update_keys()
        self._show()
        self._load()

    def action_filter(self) -> None:
        """Focus the filter."""
        self.set_focus(self.field)

    def action_back(self) -> None:
        """Leave the field, the trash, or the screen."""
        if self._naming is not None:
            self._end_naming()
        elif self.field.value:
            self.field.value = ""
            self.set_focus(self.list)
        elif self.focused is self.field:
            self.set_focus(self.list)
        elif self._in_trash:
            self.action_toggle_trash()
        else:
            self.dismiss()

    # -- the field ---------------------------------------------------------------------------------------------------

    @on(Input.Changed, "#sessions-field")
    def _typed(self) -> None:
        if self._naming is None:
            self._show()
            self._look_ahead()

    @on(Input.Submitted, "#sessions-field")
    def _submitted(self, event: Input.Submitted) -> None:
        entry = self._naming
        if entry is None:
            self.set_focus(self.list)
            return
        from gemini_live_runtime.journal.sessions.catalog import rename

        try:
            title = rename(self._folder(entry), event.value)
        except GeminiLiveError as error:
            self.say(str(error), "warning")
            return
        self.say(f"{entry.id} is now {title}." if title else f"{entry.id} has no title any more.")
        self._end_naming()
        self._load()

    def _end_naming(self) -> None:
        self._naming = None
        self._label.update("Filter")
        self.field.placeholder = "words to find"
        self.field.value = self._kept_filter
        self.set_focus(self.list)

    def on_click(self) -> None:
        """Preview the session that was clicked."""
        self.call_after_refresh(self._moved)

    # -- messages ---------------------------------------------------------------------------------------------------

    def say(self, message: str, level: str = "info") -> None:
        """Show one sentence above the keys; "" removes it."""
        self._message.update(Content(sanitise_line(message, 300)))
        self._message.set_class(level == "warning", "-warning")

    @on(events.DescendantFocus)
    def _update_keys(self) -> None:
        self._bar.update(self._keys())

    def _keys(self) -> Content:
        settings = self.console.settings
        if self.focused is self.field:
            return field_keys(settings, is_title=self._naming is not None)
        return list_keys(settings, self.console.console_screen.app.size.width, in_trash=self._in_trash)


def _size(count: int) -> str:
    if count < 1e6:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
