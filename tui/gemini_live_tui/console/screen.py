"""The main screen: layout, the frame that brings the store to the widgets, and what the keys do."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.dom import DOMNode
from textual.widgets import Static

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.view import Dirty
from gemini_live_tui.actions import BY_ID, PANES, PLACES, Scope, bindings, slash
from gemini_live_tui.actions.arguments import FORMATS, choices
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.console.agent_commands import ChangeActions
from gemini_live_tui.console.banner import Banner
from gemini_live_tui.console.completions import Completions
from gemini_live_tui.console.conversation import Talking
from gemini_live_tui.console.header import Header
from gemini_live_tui.console.held_agent import HeldActions
from gemini_live_tui.console.held_row import HeldRow
from gemini_live_tui.console.key_bar import KeyBar
from gemini_live_tui.console.meter_strip import MeterStrip
from gemini_live_tui.console.navigation import Moving
from gemini_live_tui.console.notices import Saying
from gemini_live_tui.console.pane_grid import Desk
from gemini_live_tui.console.prompt import Prompt
from gemini_live_tui.console.tab_bar import TabBar
from gemini_live_tui.console.time_travel import TimeActions
from gemini_live_tui.console.time_travel_row import MomentRow
from gemini_live_tui.console.too_small import MIN_HEIGHT, MIN_WIDTH, TooSmall
from gemini_live_tui.console.unbound_keys import Letters
from gemini_live_tui.messages import (
    EditKey,
    ExplainEvent,
    ExplainTransition,
    OpenScreen,
    RunAction,
    SendOrder,
    ShowDetails,
    ShowHint,
    ShowWatcher,
    TextSubmitted,
)
from gemini_live_tui.painting import sparse_compositor
from gemini_live_tui.painting.glyphs import glyphs
from gemini_live_tui.pane_layout import DeskState
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.panes.registry import bodies
from gemini_live_tui.panes.transcript_body import TranscriptBody
from gemini_live_tui.saved_layout import recall, remember
from gemini_live_tui.session_data.meter_history import MeterHistory
from gemini_live_tui.session_data.store import ALL, NotSent
from gemini_live_tui.widgets.filter_line import FilterLine

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.events import Event
    from gemini_live_tui.context import ConsoleContext

CHANGING = ("state.edit", "state.undo", "state.redo", "phase.go", "watcher.switch", "watcher.fire")
"""Commands that change what the panes show of the agent."""


class ConsoleScreen(ChangeActions, HeldActions, TimeActions, Moving, Saying, Letters, Talking):
    """Everything one sees of a session. It reads the store and sends orders; it decides nothing about the session.

    Its looks are in `console.tcss`, which the application loads (Textual loads no style sheet of a default screen).
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("console")]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__()
        self.console = console
        settings = console.settings
        sparse_compositor.install(self)
        signs = glyphs(settings.ascii)
        text_key = keys_of(BY_ID["text-mode"], settings.keymap)
        key = key_label("f2" if "f2" in text_key else text_key[0])
        self._store = console.store
        self._send = console.send
        self._settings = settings
        self._clock = console.time
        self._cost = console.cost
        self.meter_history = MeterHistory()
        self._signs = signs
        self._text_key = key
        self._mode_shown = "voice"
        self._mode_wanted = ""
        self._mode_command = ""
        self._unconfirmed: dict[str, str] = {}
        self._limit = 0
        self._end_told = False
        self._past_said_at = float("-inf")
        self.told = ()
        self._kept = 0
        self._missed_told = 0
        self.header = Header(id="header", glyphs=signs, replay=settings.replay)
        self.meters = MeterStrip(id="meters", glyphs=signs)
        self.too_small = TooSmall(id="too-small", glyphs=signs)
        logs = key_label(keys_of(BY_ID["pane-logs"], settings.keymap)[0])
        self.banner = Banner(id="banner", glyphs=signs, rest=f"(all of it in {logs} Logs)")
        self.body = TranscriptBody(settings, text_key=key, standing=self._standing)
        self.transcript = self.body.transcript
        remembered = DeskState.from_json(recall(settings.memory).get("desk")).at_start()
        first = {"transcript": lambda: self.body}
        self.desk = Desk(first, lambda: bodies(settings), state=remembered, settings=settings, id="desk")
        self.tabs = TabBar(id="tabs", glyphs=signs)
        self.completions = Completions(id="completions", glyphs=signs)
        self.prompt = Prompt(self.completions, id="prompt", keymap=settings.keymap)
        self.prompt.suggest = self._suggest
        self.held_row = HeldRow(id="held", keymap=settings.keymap, glyphs=signs, ascii_only=settings.ascii)
        self.moment_row = MomentRow(
            id="moment-row",
            keymap=settings.keymap,
            glyphs=signs,
            ascii_only=settings.ascii,
            recording=settings.replay,
        )
        self._epoch = 0
        self.key_bar = KeyBar(
            id="key-bar",
            keymap=settings.keymap,
            ascii_only=settings.ascii,
            tmux=settings.tmux,
            detach=settings.detach_on_quit,
        )

    def compose(self) -> ComposeResult:
        """Top to bottom."""
        yield self.too_small
        yield self.header
        yield self.meters
        yield self.banner
        yield self.tabs
        yield self.desk
        yield self.held_row
        yield self.moment_row
        if not self._settings.replay:
            with Container(id="prompt-pane"):
                yield Static(self._signs.prompt, id="prompt-sign", markup=False)
                yield self.prompt
            yield self.completions
        yield self.key_bar

    def on_mount(self) -> None:
        """In voice mode the transcript has the focus, so that single keys are commands."""
        self.set_class(self._settings.ascii, "-ascii")
        self.transcript.focus()

    def on_resize(self, event: events.Resize) -> None:
        """Below the least size only the strip is left."""
        self.set_class(event.size.width < MIN_WIDTH or event.size.height < MIN_HEIGHT, "-tiny")
        self.desk.forget()
        self._store.dirty |= ALL
        self._store.wake()

    @on(Desk.Changed)
    def _arranged(self) -> None:
        self.set_class(self.desk.arrangement.tabs, "-tabs")
        remember(self._settings.memory, desk=self.desk.state.to_json())
        self._store.wake()

    # -- the frame ---------------------------------------------------------------------------------------------------

    def frame(self) -> float | None:
        """Show what changed; seconds until something changes by itself, or None."""
        store, view = self._store, self._store.view
        dirty = store.take_dirty()
        now = self._clock.now()
        waits = [self.banner.expire(now)]
        live = store.live and not self._settings.replay
        if dirty & Dirty.CONTROLS:
            self._follow_mode()
        if dirty & (Dirty.NOTICES | Dirty.HEADER):
            self._tell_end()
        if self.has_class("-tiny"):
            self.too_small.show(store.word)
        else:
            elapsed = store.elapsed(running=live)
            waits.append(self._show_session(dirty, now, elapsed, live))
            # Of a session the present counts, where it can be let go on; of a recording the moment that is shown.
            there, then = (store.shown, store.shown.t) if self._settings.replay else (view, elapsed)
            waits.append(self.held_row.show(there.agent_view.held, then, operable=live))
            if live:
                waits.append(1.0 - elapsed % 1.0 + 0.005)
            if self.desk.arrangement.tabs:
                shown = self.desk.arrangement.slots[0].shown
                pane = self.desk.panes.get(shown)
                self.tabs.show(shown, self.desk.news, pane.noted if pane is not None else "")
            if dirty & (Dirty.CONTROLS | Dirty.HEADER):
                self._show_prompt_state()
        # Before sound was opened there is nothing to measure, which is not the same as a device that is missing.
        opened = bool(view.input_device or view.output_device) or view.word not in ("offline", "connecting")
        sounding = live or (self._settings.replay and store.hello is not None)
        if live:
            self.meter_history.observe(view, now, self._cost)
        waits.append(self.meters.show(store.shown, now, live=sounding and opened, cost=self._cost, missed=store.missed))
        pending = [wait for wait in waits if wait is not None]
        return min(pending) if pending else None

    def _show_session(self, dirty: Dirty, now: float, elapsed: float, live: bool) -> float | None:
        """Show the moment at which the reader stands; seconds until it looks different, or None."""
        store, cursor = self._store, self._store.cursor
        waits: list[float | None] = []
        try:
            waits.append(cursor.advance())
        except JournalError as error:
            cursor.pause()
            self.say(str(error), "warning")
        self.keep_sounding()
        moved, self._epoch = cursor.epoch != self._epoch, cursor.epoch
        behind, shown = cursor.seq is not None, store.shown
        epoch = store.epoch + cursor.epoch
        if behind:
            at = cursor.place(elapsed).t
            marks = ALL if moved else Dirty.NONE
            frame = Frame(epoch, now, at, False, marks, store.view, elapsed, dirty, live, store.history, self.told)
            self.header.show(shown, shown.word, at, live=live, behind=True)
        else:
            marks = ALL if moved else dirty
            frame = Frame(epoch, now, elapsed, live, marks, going=live, history=store.history, said=self.told)
            self.header.show(shown, store.word, elapsed, live=live)
        place = cursor.place(elapsed) if behind or (self._settings.replay and store.hello is not None) else None
        self.moment_row.show(place, reading=self.reading, sound=self.sound_note)
        self.set_class(behind, "-behind")
        waits.append(self.desk.show(shown, frame))
        if behind and live:
            waits.append(0.5)
        pending = [wait for wait in waits if wait is not None]
        return min(pending) if pending else None

    def _standing(self) -> tuple[bool, bool]:
        """Whether a session is there, and whether it is over."""
        store = self._store
        connected = store.hello is not None and bool(store.view.session_id)
        return connected, bool(store.lost) or store.bye is not None or store.word == "error"

    def _show_prompt_state(self) -> None:
        view, typing = self._store.view, self.focused is self.prompt
        over = self._settings.replay or bool(self._store.lost) or self._store.bye is not None
        self.key_bar.show(
            view.mode, place=self.place, typing=typing, microphone=view.microphone, speaker=view.speaker, over=over
        )
        if self._settings.replay:
            return
        if view.mode == "text":
            text = "Write a message, enter sends it"
        else:
            text = f"Type to write, or {self._text_key} for text mode"
        if self.prompt.placeholder != text:
            self.prompt.placeholder = text
        pane = self.query_one("#prompt-pane")
        parts = []
        if self._unconfirmed:
            parts.append(f"sending {len(self._unconfirmed)}")
        size = len(self.prompt.text)
        if 0 < self._limit * 0.8 < size:
            parts.append(f"{size:,} of {self._limit:,} characters")
        note = f" {self._signs.separator} ".join(parts)
        if pane.border_subtitle != note:
            pane.border_subtitle = note

    # -- events that are more than their picture ---------------------------------------------------------------------

    def attend(self) -> None:
        """Begin to listen for what needs more than being shown in its place."""
        from gemini_live_runtime.commands import MAX_TEXT, Interrupt
        from gemini_live_runtime.events import CommandRefused, Notice, TextSent

        self._limit = MAX_TEXT

        def text_sent(event: Event) -> None:
            if isinstance(event.payload, TextSent) and self._unconfirmed.pop(event.payload.command_id, ""):
                self._store.dirty |= Dirty.CONTROLS

        def refused(event: Event) -> None:
            # An interruption comes too late when the model has just ended by itself: all is as it was wished.
            if isinstance(event.payload, CommandRefused) and event.payload.command != Interrupt.command:
                self.refused(event.payload.command_id, event.payload.reason)

        def noticed(event: Event) -> None:
            payload = event.payload
            if isinstance(payload, Notice) and payload.level == "error":
                self.say(f"{payload.text.rstrip('.')}. {payload.remedy}".strip(), "error")

        self._store.listen(TextSent, text_sent)
        self._store.listen(CommandRefused, refused)
        self._store.listen(Notice, noticed)
        self.attend_breakpoints()

    # -- orders ------------------------------------------------------------------------------------------------------

    def order(self, order: Order) -> str:
        """Send a command; "" and a hint when it cannot go out."""
        if self._settings.replay:
            self.say("This is a recording: nothing can be changed.", passing=True)
            return ""
        note = self.past_note() if order.command in CHANGING and self.in_front else ""
        if note:
            self.say(note, passing=True)
            self._past_said_at = self._clock.now()
        try:
            return self._send(order)
        except NotSent as error:
            self.say(str(error), "warning", passing=True)
            return ""

    @property
    def in_front(self) -> bool:
        """Whether no room is open."""
        return self.app.screen is self

    def speaker_wanted(self) -> str:
        """The speaker's name in the settings; "" is the system's choice."""
        return self.console.devices_wanted()[1]

    def open_room(self, name: str) -> None:
        """Open the room called `name`."""
        self.console.action_open(name)

    def action_export_as(self, name: str) -> None:
        """Open the export with a format chosen."""
        from gemini_live_tui.editors.export import ExportScreen

        if name in FORMATS:
            self.console.enter(ExportScreen.of(self.console, name))
        else:
            self.say(f"There is no format {name[:60]!r}. Known: {', '.join(FORMATS)}.", "warning", passing=True)

    def action_interrupt(self) -> None:
        """Stop the model; when it is silent: clear the selection or the notice, then leave the prompt."""
        from gemini_live_runtime.commands import Interrupt

        if self.completions.close():
            pass
        elif isinstance(self.focused, FilterLine):
            self.focused.leave(clear=True)
        elif self._answering():
            self.order(Interrupt())
        elif self.selections:
            self.clear_selection()
        elif self.banner.clear():
            pass
        elif self.focused is self.prompt:
            self.set_focus(self.transcript)

    def _answering(self) -> bool:
        store = self._store
        busy = store.view.playing or store.word in ("speaking", "thinking")
        return not self._settings.replay and store.live and busy

    # -- messages ----------------------------------------------------------------------------------------------------

    @on(TextSubmitted)
    async def _submit(self, message: TextSubmitted) -> None:
        text = message.text
        if not slash.is_command(text):
            self.action_say(slash.as_message(text), written=text)
            return
        try:
            action, arguments = slash.read(text)
        except slash.NoCommand as error:
            self.keep_command(text)
            self.say(str(error), "warning", passing=True)
            return
        self._leave_prompt()
        await self.perform(action.id, *arguments)

    @on(OpenScreen)
    def _room_wanted(self, message: OpenScreen) -> None:
        self.open_room(message.name)

    @on(ShowHint)
    def _said(self, message: ShowHint) -> None:
        self.say(message.text, passing=True)

    @on(ExplainEvent)
    def _explain(self, message: ExplainEvent) -> None:
        from gemini_live_tui.dialogs.why import WhyScreen

        room = WhyScreen.about(self.console, message.seq)
        if room is None:
            self.say("There is nothing to explain here.", passing=True)
        else:
            self.console.enter(room)

    @on(ExplainTransition)
    def _explain_transition(self, message: ExplainTransition) -> None:
        from gemini_live_tui.dialogs.why import WhyScreen
        from gemini_live_tui.panes.why_rows import reason_of_way

        self.console.enter(WhyScreen(self.console, reason_of_way(message.way, message.agent)))

    @on(ShowDetails)
    def _show_details(self, message: ShowDetails) -> None:
        from gemini_live_tui.dialogs.details import DetailsScreen

        self.console.enter(DetailsScreen(self._settings, message.title, message.parts, copy=message.copy))

    @on(EditKey)
    def _edit_key(self, message: EditKey) -> None:
        from gemini_live_tui.editors.state import StateEditor

        self.console.enter(StateEditor(self.console, message.key))

    @on(ShowWatcher)
    def _show_watcher(self, message: ShowWatcher) -> None:
        from gemini_live_tui.editors.watcher import WatcherScreen

        self.console.enter(WatcherScreen(self.console, message.kind, message.name))

    @on(SendOrder)
    def _ordered(self, message: SendOrder) -> None:
        self.order(message.order)

    @on(RunAction)
    async def _chosen(self, message: RunAction) -> None:
        await self.perform(message.id)

    def _suggest(self, text: str) -> Sequence[slash.Suggestion]:
        view, app = self._store.view, self.app
        themes: Sequence[str] = getattr(app, "theme_choices", ())
        return slash.suggest(text, lambda kind, written: choices(kind, written, view, themes))

    @on(Completions.Chosen)
    def _suggestion_chosen(self, message: Completions.Chosen) -> None:
        self.set_focus(self.prompt)
        self.prompt.take(message.suggestion)
        if message.suggestion.whole:
            self.prompt.action_send()

    async def perform(self, ident: str, *arguments: str) -> None:
        """Carry out an action of the table, however it was chosen, with what was written behind its command."""
        action = BY_ID[ident]
        if action.scope in PANES:
            # The pane is shown first: what happens to it should be seen.
            self.desk.go_to(action.scope)
            target: DOMNode = self.query_one(f"#{action.scope}")
        else:
            target = {"app": self.app, "prompt": self.prompt}.get(action.scope, self)
        if arguments:
            done = getattr(target, f"action_{action.takes}")(*arguments)
            if inspect.isawaitable(done):
                await done
        elif action.action:
            await self.app.run_action(action.action, target)
        else:
            self.action_begin_command(ident)

    @property
    def place(self) -> Scope:
        """Where the focus is: a pane or the prompt, else the console. A pane's widget has its scope for an id."""
        nodes = self.focused.ancestors_with_self if self.focused is not None else ()
        return next((node.id for node in nodes if node.id is not None and node.id in PLACES), "console")

    @on(Prompt.Changed)
    def _prompt_changed(self) -> None:
        if len(self.prompt.text) > self._limit * 0.75 > 0:
            self._show_prompt_state()

    def on_descendant_focus(self) -> None:
        """The key bar depends on where one types."""
        self._store.dirty |= Dirty.CONTROLS
        self._store.wake()
