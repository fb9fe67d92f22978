"""Frame a pane's body, and replace it by a message when it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Protocol

from rich.cells import cell_len
from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from gemini_live_runtime.journal.fold.view import Dirty
from gemini_live_runtime.records import record
from gemini_live_runtime.text import sanitise
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.messages import PaneChanged, PaneFailed, ShowHint
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.pane_layout import BY_PANE, PaneName, tab_rows
from gemini_live_tui.settings import ConsoleSettings

if TYPE_CHECKING:
    from gemini_live_runtime.journal.fold.view import LogLine, SessionView
    from gemini_live_runtime.journal.history.session_history import History

FRAME = 6
"""Cells of the upper edge that the names cannot use: corners, lines and spaces."""

MAX_SAID = 500
"""Characters of an error that a failed pane shows; the details have them all."""

FAILED_S = 5.0
"""Least seconds for which a failure is shown before the body is tried again."""


@record
class Frame:
    """Circumstances of painting a body, besides the view.

    `epoch` changes when the view is another one; `now` is the console's clock, `elapsed` session time, both in seconds.
    `live`: the session goes on and the view is its present. `marks` are the changes since the body was last shown.

    While the view is one of the past, `whole` is the present one and `until` its time; `news` are the changes there.
    `going`: the session goes on, even while the past is shown.
    """

    epoch: int
    now: float
    elapsed: float
    live: bool
    marks: Dirty
    whole: SessionView | None = None
    until: float = 0.0
    news: Dirty = Dirty.NONE
    going: bool = False
    passing: bool = False
    """True while `elapsed` grows by itself."""
    history: History | None = None
    """Past of the session."""
    said: Sequence[LogLine] = ()
    """Messages of the console itself."""


class PaneBody(Protocol):
    """Body of a pane, a widget.

    It may also have `whole` (True: the changes of the present count, too, while another moment is shown), `every_s`
    (least seconds between two showings), `unusable` (ids of its actions that mean nothing now) and `explain`, which
    explains the row under the cursor and returns False without one.
    """

    dirty: Dirty
    """Marks of the parts of the view that it shows."""

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Show a view; return the seconds until it changes by itself, or None."""
        ...

    def note(self) -> str:
        """Return the plain text of the frame's lower edge, "" for none."""
        ...


class Pane(Container):
    """Framed body. Its title names the panes that share its place; a click goes there."""

    class TabChosen(Message):
        """A name of another pane in the title was clicked."""

        def __init__(self, pane: str) -> None:
            super().__init__()
            self.pane = pane

    DEFAULT_CSS = """
    Pane { background: $background; }
    Pane > .pane-failed { padding: 1 2; color: $foreground; background: $background; }
    """

    def __init__(self, name: str, body: Widget, settings: ConsoleSettings) -> None:
        super().__init__(id=f"{name}-pane")
        self.pane = name
        self.body = body
        self.failure = ""
        """Traceback of the body's failure; "" while it works."""
        self.noted = ""
        """Text of the frame's lower edge."""
        self._separator = glyphs(settings.ascii).bar
        self._settings = settings
        self._titles: list[tuple[int, int, str]] = []
        self._now = 0.0
        self._failed_at = 0.0
        self._failed: FailedPane | None = None

    @property
    def jump_title(self) -> str:
        """Name in the jump overlay."""
        return BY_PANE[self.pane].title

    def jump(self) -> None:
        """Go to this pane."""
        self.post_message(self.TabChosen(self.pane))

    def compose(self) -> ComposeResult:
        """Yield the body."""
        yield self.body

    def focus_body(self) -> None:
        """Focus the body, or the message in its place."""
        (self._failed if self._failed is not None and self.failure else self.body).focus()

    def name_tabs(self, panes: Sequence[str], *, framed: bool, width: int) -> None:
        """Show the names of the panes in this place, this one in brackets.

        All of them in the `width` of the frame: shorter where their titles do not fit.
        """
        self.set_class(not framed, "-bare")
        self._titles = []
        parts: list[Content] = []
        at = 2
        separator, texts = self._tab_texts(tuple(BY_PANE[pane] for pane in panes), width - FRAME)
        for pane, text in zip(panes, texts, strict=True):
            if parts and separator:
                parts.append(Content.styled(separator, "$quiet"))
                at += cell_len(separator)
            parts.append(Content.styled(text, "$foreground" if pane == self.pane and len(panes) > 1 else "$quiet"))
            self._titles.append((at, at + cell_len(text), pane))
            at += cell_len(text)
        self.border_title = Content("").join(parts)

    def _tab_texts(self, panes: tuple[PaneName, ...], room: int) -> tuple[str, list[str]]:
        """Return a separator and the names of panes that fit."""
        titles = [f"{name.key} {name.title}" for name in panes]
        if len(panes) == 1:
            return "", titles
        # Brackets, as in the tab bar: colour alone must not tell which pane is shown.
        titles = [f"[{title}]" if name.id == self.pane else title for name, title in zip(panes, titles, strict=True)]
        separator = f" {self._separator} "
        if cell_len(separator.join(titles)) <= room:
            return separator, titles
        for row in tab_rows(panes, self.pane):
            texts = [row[0].lstrip(), *row[1:-1], row[-1].rstrip()]
            if sum(map(cell_len, texts)) <= room:
                break
        return "", texts

    def on_resize(self) -> None:
        """Show the body again: it depends on its size."""
        self.post_message(PaneChanged(self.pane))

    def on_click(self, event: events.Click) -> None:
        """Go to the pane whose name in the upper edge was clicked."""
        if event.widget is not self or event.y:
            return
        for start, end, pane in self._titles:
            if start <= event.x < end and pane != self.pane:
                self.post_message(self.TabChosen(pane))

    # -- painting ----------------------------------------------------------------------------------------------------

    def show(self, view: SessionView, frame: Frame) -> float | None:
        """Show the body, or its failure; other panes are not affected."""
        self._now = frame.now
        if self.failure:
            rest = self._failed_at + FAILED_S - frame.now
            if rest > 0:
                return rest
            frame = replace(frame, marks=~Dirty.NONE)
        body: PaneBody = self.body  # type: ignore[assignment]
        try:
            again = body.show(view, frame)
            note = body.note()
        except Exception as error:
            self.fail(error)
            return None
        if self.failure:
            self._mend()
        if self.noted != note:
            self.noted = note
            self.border_subtitle = Content(note)
        return again

    @on(PaneFailed)
    def _body_failed(self, message: PaneFailed) -> None:
        message.stop()
        self.fail(message.error)

    def fail(self, error: Exception) -> None:
        """Show an error in place of the body, with the keys of `FailedPane`."""
        import traceback

        from gemini_live_runtime.redactor import redactor

        self._failed_at = self._now
        # Request another try, even when nothing changes.
        self.post_message(PaneChanged(self.pane))
        text = redactor.text(sanitise("".join(traceback.format_exception(error))))
        if text == self.failure:
            return
        self.failure = text
        said = redactor.text(sanitise(f"{type(error).__name__}: {error}"[:MAX_SAID]))
        if self._failed is None:
            self._failed = FailedPane()
            self.mount(self._failed)
        self._failed.details = text
        keys = hints(("{copy-failure} copies the details.",), self._settings.keymap, ascii_only=self._settings.ascii)
        self._failed.update(f"This pane failed: {said}\n\n{' '.join(('Everything else goes on.', *keys))}")
        self._put_in_place(self._failed, self.body)

    def _mend(self) -> None:
        self.failure = ""
        if self._failed is not None:
            self._put_in_place(self.body, self._failed)

    def _put_in_place(self, shown: Widget, hidden: Widget) -> None:
        """Show one of body and message and hide the other, keeping the focus."""
        focused = self.has_focus_within
        shown.display, hidden.display = True, False
        if focused:
            shown.focus()


class FailedPane(Static, can_focus=True):
    """Message in place of a body that raised."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("failed")]

    def __init__(self) -> None:
        super().__init__(id="failed", markup=False, classes="pane-failed")
        self.details = ""
        """Text that `y` copies."""

    def action_copy_failure(self) -> None:
        """Copy the details."""
        self.app.copy_to_clipboard(self.details)
        self.post_message(ShowHint(f"Copied what went wrong, {len(self.details):,} characters."))
