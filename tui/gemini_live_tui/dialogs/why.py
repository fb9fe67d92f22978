"""Explain an event: decision, values read with their writers, triggering change."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.fold.packing import plain_key
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.painting.paint import content
from gemini_live_tui.painting.runs import laid_out, plain
from gemini_live_tui.panes.why_calls import reason_of_call, reason_of_write
from gemini_live_tui.panes.why_rows import EXPLAINED, Reason, explained, lines_of, reason_of
from gemini_live_tui.widgets.modal import TopModalScreen

if TYPE_CHECKING:
    from gemini_live_runtime.events import Event
    from gemini_live_runtime.journal.fold.view import SessionView
    from gemini_live_runtime.journal.history.session_history import History
    from gemini_live_tui.context import ConsoleContext

WIDTH = 69
"""Cells of a line in the box, see `why.tcss`."""

NEWEST = "The newest decision; on a key, a call or an event {key} explains that."
"""Line above an explanation that no row was chosen for."""

NOTHING = (
    "Nothing has happened yet that could be explained.",
    "Phase changes, hand-offs, watchers, refused calls and findings are, once there are some.",
)


class WhyScreen(TopModalScreen[None]):
    """Explanation of event `seq`, 0 for an event that did not happen.

    Keys lead to older and newer explanations.
    """

    CSS_PATH = "why.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q", "dismiss", "Close", show=False),
        *bindings("why"),
    ]

    def __init__(self, console: ConsoleContext, reason: Reason | None, *, is_newest: bool = False) -> None:
        """`is_newest`: no row was chosen, and the newest decision is shown."""
        super().__init__()
        self._is_newest = is_newest
        self.console = console
        self._signs = glyphs(console.settings.ascii)
        self.reason = reason
        self._at = reason.seq if reason is not None and reason.seq else console.store.shown.seq + 1
        self._text = Static("", id="why-text", markup=False)

    @classmethod
    def of(cls, console: ConsoleContext) -> WhyScreen:
        """Return the newest explanation up to the cursor."""
        reason = _explainable(console.store.history, console.store.shown.seq + 1, -1)
        return cls(console, reason, is_newest=True)

    @classmethod
    def about(cls, console: ConsoleContext, seq: int) -> WhyScreen | None:
        """Return the explanation of event `seq`; None without one or out of reach."""
        history = console.store.history
        try:
            reason = None if history is None else _reason_at(history, seq, console.store.view)
        except JournalError:
            return None
        return None if reason is None else cls(console, reason)

    def compose(self) -> ComposeResult:
        """Yield one scrolled box."""
        with VerticalScroll(id="why-box"):
            yield self._text

    def on_mount(self) -> None:
        """Focus the box, so that keys scroll it."""
        self.query_one("#why-box").focus()
        # Text set during the first layout would keep the height of an empty one.
        self.call_after_refresh(lambda: self._show(self.size.width))

    def on_resize(self, event: events.Resize) -> None:
        """Fold the lines to the box."""
        self._show(event.size.width)

    def _show(self, width: int) -> None:
        box = self.query_one("#why-box", VerticalScroll)
        reason, dot = self.reason, f" {self._signs.separator} "
        settings = self.console.settings
        named = ("{why-older} older", "{why-newer} newer", "{copy-why} copies", "esc closes")
        keys = dot.join(hints(named, settings.keymap, ascii_only=settings.ascii))
        if reason is None:
            box.border_title = "Why"
            rows = [[(NOTHING[0], "said")], [(NOTHING[1], "quiet")]]
        else:
            box.border_title = Content(f"Why: {reason.title}"[:WIDTH])
            rows = [list(row) for row in laid_out(lines_of(reason, self._signs), max(20, min(WIDTH, width - 7)))]
            if self._is_newest:
                keys_of_why = hints(("{why}",), settings.keymap, ascii_only=settings.ascii)
                note = [(NEWEST.format(key="".join(keys_of_why)), "quiet")]
                rows = [*laid_out([(0, note), (0, ())], max(20, min(WIDTH, width - 7))), *rows]
            if reason.seq:
                rows += [[], [(self._when(reason.seq), "quiet")]]
        box.border_subtitle = keys
        self._text.update(content(rows))

    def _when(self, seq: int) -> str:
        history = self.console.store.history
        if history is None:
            return f"event {seq}"
        event = history.event(seq)
        return f"event {seq} at {clock_text(event.t)} in turn {event.turn}"

    # -- actions -----------------------------------------------------------------------------------------------------

    def action_older(self) -> None:
        """Show the explanation before this one."""
        self._go(-1)

    def action_newer(self) -> None:
        """Show the explanation after this one."""
        self._go(1)

    def _go(self, way: int) -> None:
        found = _explainable(self.console.store.history, self._at, way)
        box = self.query_one("#why-box", VerticalScroll)
        if found is None:
            box.border_subtitle = "there is nothing older" if way < 0 else "there is nothing newer"
            return
        self.reason, self._at, self._is_newest = found, found.seq, False
        self._show(self.size.width)
        box.scroll_home(animate=False)

    def action_copy_why(self) -> None:
        """Copy the explanation as text."""
        if self.reason is not None:
            text = f"{self.reason.title}\n\n{plain(lines_of(self.reason, self._signs))}\n"
            self.app.copy_to_clipboard(text)
            box = self.query_one("#why-box", VerticalScroll)
            box.border_subtitle = f"copied {len(text):,} characters, esc closes"


def _reason_at(history: History, seq: int, now: SessionView) -> Reason | None:
    from gemini_live_runtime import events as ev

    event = history.event(seq)
    if event.type in ("tool.called", "tool.finished") and not explained(event):
        event = _call_of(history, event, now)
    if not explained(event):
        before = history.view_at(event.seq - 1)
        if isinstance(event.payload, ev.ToolCalled):
            return reason_of_call(event, event.payload, before, now)
        if isinstance(event.payload, ev.StateChanged):
            return reason_of_write(event, event.payload, before, now)
        return None
    return reason_of(event, history.view_at(event.seq - 1))


def _call_of(history: History, event: Event, now: SessionView) -> Event:
    """Return the refusal of a call, else the call; the event itself when unknown."""
    run = now.agent_view.tools.get(plain_key(str(getattr(event.payload, "call_id", ""))))
    if run is None:
        return event
    return history.event(run.end_seq if run.status == "refused" and run.end_seq else run.seq)


def _explainable(history: History | None, seq: int, way: int) -> Reason | None:
    """Return the next explanation before or after `seq`, or None."""
    at: int | None = seq
    try:
        while history is not None and at is not None:
            at = history.preceding(at, EXPLAINED) if way < 0 else history.following(at, EXPLAINED)
            if at is not None and explained(history.event(at)):
                return reason_of(history.event(at), history.view_at(at - 1))
    except JournalError:
        return None
    return None
