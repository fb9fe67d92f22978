"""Show a watcher: condition, present values, distance, last firings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.types import CSSPathType
from textual.widget import Widget
from textual.widgets import Static

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.text import sanitise_line
from gemini_live_tui.actions import bindings
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.editors.base import WIDTH
from gemini_live_tui.painting.formatting import clock_text, spark
from gemini_live_tui.painting.paint import content
from gemini_live_tui.painting.runs import Line, Run, laid_out
from gemini_live_tui.panes.explanations import value_text
from gemini_live_tui.panes.watcher_rows import near
from gemini_live_tui.panes.why_rows import Reason, lines_of, reason_of, watcher_lines
from gemini_live_tui.session_data.breakpoints import breaks_on, toggle_breakpoint
from gemini_live_tui.widgets.box_screen import BOX_STYLES, BoxScreen

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.events import Event
    from gemini_live_runtime.journal.fold.agent_view import PatternCard, WatcherCard
    from gemini_live_runtime.journal.fold.view import SessionView
    from gemini_live_tui.context import ConsoleContext

MAX_FIRINGS = 20
MAX_LOOKED_AT = 300
"""Firings of all watchers that are searched for this one's."""


class WatcherScreen(BoxScreen):
    """Screen of one watcher or pattern; it follows the session."""

    CSS_PATH: ClassVar[CSSPathType | None] = [BOX_STYLES, "watcher.tcss"]
    HINT = "{watcher-screen-break} breaks, {watcher-why} why, esc closes"
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("watcher")]

    def __init__(self, console: ConsoleContext, kind: str, name: str) -> None:
        super().__init__(console)
        self._kind = kind
        self._name_of = name
        self._firing = ""
        self._sure = False
        self._seen: object = None
        self._firings: tuple[int, list[Event]] = (-1, [])
        self.text = Static("", id="watcher-text", markup=False)

    def hint(self) -> str:
        """Return the keys; only a watcher can be muted and fired."""
        settings = self.console.settings
        more = ("{watcher-screen-mute} mutes", "{watcher-fire} fires") if self._kind == "watcher" else ()
        return ", ".join([*hints(more, settings.keymap, ascii_only=settings.ascii), super().hint()])

    def contents(self) -> Iterator[Widget]:
        """Yield one text."""
        yield self.text

    def on_mount(self) -> None:
        """Show the present state."""
        self.query_one("#box").can_focus = True
        self.query_one("#box").focus()
        self.show_view(self.console.store.shown)

    def show_view(self, view: SessionView) -> None:
        """Show the state of a view."""
        super().show_view(view)
        card = self._card(view)
        keys = card.keys if card is not None and hasattr(card, "keys") else ()
        seen = (
            card,
            view.agent_view.breakpoints,
            tuple(view.agent_view.keys.get(key) for key in keys),
            self.size.width,
        )
        if seen == self._seen:
            return
        self._seen = seen
        box = self.query_one("#box")
        if card is None:
            box.border_title = "Watcher"
            self.text.update(Content("It is no longer there: the agent was read again without it."))
            return
        state = "muted" if getattr(card, "muted", False) else _times(card.fired) if card.fired else "armed"
        box.border_title = Content(f"{sanitise_line(card.name, 40)} ({state})")
        width = max(20, min(WIDTH, self.size.width - 7))
        self.text.update(content(laid_out(self._lines(card, view), width)))

    def _card(self, view: SessionView) -> WatcherCard | PatternCard | None:
        if self._kind == "watcher":
            return view.agent_view.watchers.get(self._name_of)
        return view.agent_view.patterns.get(self._name_of)

    def _lines(self, card: WatcherCard | PatternCard, view: SessionView) -> Iterator[Line]:
        from gemini_live_runtime.journal.fold.agent_view import WatcherCard

        signs = self.signs
        if self._name_of in breaks_on(view.agent_view, "watcher"):
            yield 0, [(f"{signs.stop} break ", "break"), ("the agent is held when it fires", "said")]
        if isinstance(card, WatcherCard):
            yield from watcher_lines(card, view.agent_view, signs)
            if card.miss and (card.last_t is None or (card.miss_t or 0.0) > card.last_t):
                yield 0, ()
                yield 0, [("How near it came", "note")]
                yield 0, near(card, WIDTH, signs)
                if line := spark(card.shares, 32, signs):
                    yield 0, [(line, "spark"), ("  the last times", "quiet")]
        else:
            yield 0, [("looks for ", "quiet"), (card.when or card.name, "said")]
            if card.defined_at:
                yield 0, [("in        ", "quiet"), (card.defined_at, "said")]
            yield 0, [("so far    ", "quiet"), (card.progress or "nothing", "said")]
        yield 0, ()
        yield 0, [("Its last firings", "note")]
        firings = self._last_firings(card.last_seq)
        if not firings:
            yield 0, [(f"the last: {card.last}" if card.last else "It has not fired yet.", "said")]
        for event in firings:
            yield 0, self._firing_line(event)
        if firings and isinstance(card, WatcherCard) and (reason := self._reason(firings[0])) is not None:
            yield 0, ()
            yield 0, [("Why it fired last", "note")]
            for indent, runs in list(lines_of(reason, signs))[len(reason.lead) :]:
                if runs or indent:
                    yield indent, runs

    def _reason(self, event: Event) -> Reason | None:
        history = self.console.store.history
        try:
            return None if history is None else reason_of(event, history.view_at(event.seq - 1))
        except JournalError:
            return None

    def _firing_line(self, event: Event) -> list[Run]:
        from gemini_live_runtime.events import PatternFired, WatcherFired

        when: Run = (f"{clock_text(event.t)} turn {event.turn}  ", "quiet")
        payload = event.payload
        if isinstance(payload, WatcherFired):
            what = f"{sanitise_line(payload.key, 60)} {value_text(payload.old, 30)} {self.signs.arrow} "
            kept: list[Run] = [("  kept quiet", "quiet")] if payload.muted else []
            return [when, (f"{what}{value_text(payload.new, 30)}", "said"), *kept]
        text = sanitise_line(payload.text, 200) if isinstance(payload, PatternFired) else ""
        return [when, (text, "said")]

    def _last_firings(self, newest: int) -> list[Event]:
        """Return the firings in reach, newest first."""
        if self._firings[0] == newest:
            return self._firings[1]
        history = self.console.store.history
        found: list[Event] = []
        looked_at, at = 0, newest + 1 if newest else None
        types = {"watcher.fired" if self._kind == "watcher" else "pattern.fired"}
        try:
            while history is not None and at is not None and looked_at < MAX_LOOKED_AT and len(found) < MAX_FIRINGS:
                at = history.preceding(at, types)
                if at is not None:
                    event = history.event(at)
                    looked_at += 1
                    if sanitise_line(str(getattr(event.payload, self._kind, "")), 80) == self._name_of:
                        found.append(event)
        except JournalError:
            pass
        self._firings = (newest, found)
        return found

    # -- actions -----------------------------------------------------------------------------------------------------

    def action_mute(self) -> None:
        """Mute the watcher, or unmute it."""
        from gemini_live_runtime.commands import SwitchWatcher

        card = self.console.store.view.agent_view.watchers.get(self._name_of)
        if self._kind != "watcher" or card is None:
            self.say("Only watchers can be muted, not patterns.", "warning")
        else:
            self._order(SwitchWatcher(watcher=self._name_of, muted=not card.muted))

    def action_break(self) -> None:
        """Toggle a breakpoint on the watcher or pattern."""
        self._order(toggle_breakpoint(self.console.store.view.agent_view, "watcher", self._name_of))

    def action_fire(self) -> None:
        """Run the watcher's action when pressed twice."""
        from gemini_live_runtime.commands import FireWatcher

        if self._kind != "watcher":
            self.say("Only watchers can be fired, not patterns.", "warning")
        elif not self._sure:
            self._sure = True
            self.say("f once more: it acts as if its condition had come true.", "warning")
        else:
            self._sure = False
            if self._order(FireWatcher(watcher=self._name_of)):
                self.say("Fired.", "info")

    def action_why(self) -> None:
        """Explain the last firing."""
        from gemini_live_tui.dialogs.why import WhyScreen

        firings = self._firings[1]
        screen = WhyScreen.about(self.console, firings[0].seq) if firings else None
        if screen is None:
            self.say("It has not fired yet, as far as can be seen.", "info")
        else:
            self.console.enter(screen)

    def _order(self, order: Order) -> bool:
        if self.console.settings.replay:
            self.say("This is a recording: nothing can be changed.", "error")
            return False
        self._firing = self.console.order(order)
        if not self._firing:
            self.say("The session does not take commands now.", "error")
        return bool(self._firing)

    def refused(self, command_id: str, reason: str) -> bool:
        """Show the reason."""
        if not command_id or command_id != self._firing:
            return False
        self.say(reason, "error")
        return True


def _times(count: int) -> str:
    return "fired once" if count == 1 else f"fired {count} times"
