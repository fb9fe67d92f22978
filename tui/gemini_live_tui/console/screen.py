"""Show the session on the main screen: frames, and controllers behind the keys.

`composition` makes the widgets, `pane_messages` answers the panes. Keys run actions by name on this screen; the methods
that carry them out belong to the controllers (`Conversation`, `TimeTravel`, `AgentCommands`, ...).
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import BindingType

from gemini_live_runtime.errors import JournalError
from gemini_live_runtime.journal.fold.view import Dirty
from gemini_live_tui.actions import BY_ID, PANES, bindings, slash
from gemini_live_tui.actions.arguments import FORMATS
from gemini_live_tui.console.agent_commands import AgentCommands
from gemini_live_tui.console.command_sender import CommandSender
from gemini_live_tui.console.completions import Completions
from gemini_live_tui.console.consent_answers import ConsentAnswers
from gemini_live_tui.console.conversation import Conversation
from gemini_live_tui.console.escape_key import EscapeKey
from gemini_live_tui.console.held_agent import HeldAgent
from gemini_live_tui.console.key_bar import Situation
from gemini_live_tui.console.navigation import Navigation
from gemini_live_tui.console.notices import Notices
from gemini_live_tui.console.pane_grid import PaneGrid
from gemini_live_tui.console.pane_messages import PaneMessages
from gemini_live_tui.console.past_sound import PastSound
from gemini_live_tui.console.time_travel import TimeTravel
from gemini_live_tui.console.too_small import MIN_HEIGHT, MIN_WIDTH
from gemini_live_tui.console.turn_commands import TurnCommands
from gemini_live_tui.console.unbound_keys import UnboundKeys, is_typing, place_of
from gemini_live_tui.console.utterance_sound import UtteranceSound
from gemini_live_tui.messages import KeysChanged, RunAction, TextSubmitted
from gemini_live_tui.painting import painter_guard
from gemini_live_tui.painting.formatting import until_next_second
from gemini_live_tui.painting.style_cache import forget_closed_widgets
from gemini_live_tui.panes.base import Frame
from gemini_live_tui.saved_layout import remember
from gemini_live_tui.session_data.meter_history import MeterHistory
from gemini_live_tui.session_data.store import ALL

if TYPE_CHECKING:
    from textual.dom import DOMNode
    from textual.widget import Widget

    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.messages import Level


class ConsoleScreen(PaneMessages):
    """Main screen. It reads the store and sends commands, it decides nothing.

    The application loads its style sheet, `console.tcss`: Textual loads none for a default screen.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("console")]

    def __init__(self, console: ConsoleContext) -> None:
        super().__init__(console)
        settings, store = self._settings, self._store
        self._epoch = 0
        self._was_playing = False
        self._is_filled = False
        self.meter_history = MeterHistory()
        self.notices = Notices(self.banner, console)
        painter_guard.install(self, self.notices.keep)
        self.sender = CommandSender(console, self, self.notices)
        self.past_sound = PastSound(console)
        self.time_travel = TimeTravel(console, self.notices)
        self.conversation = Conversation(console, self, self.sender, self.notices, self.prompt_pane, self.transcript)
        self.held_agent = HeldAgent(console, self, self.sender, self.notices)
        self.consent_answers = ConsentAnswers(console, self.consent_row, self.sender, self.notices)
        self.navigation = Navigation(self, store, self.grid, self.transcript, self.time_travel)
        self.unbound_keys = UnboundKeys(self, self.prompt_pane, settings, self.notices, self.perform)
        self.agent_commands = AgentCommands(store, self.sender, self.notices, self.conversation)
        self.turn_commands = TurnCommands(self.sender, self.notices)
        self.utterance_sound = UtteranceSound(console, self.sender, self.notices, self.transcript)
        self.escape_key = EscapeKey(
            store, self.grid, self.prompt_pane, self.completions, self.conversation, self.utterance_sound
        )
        self._offer_actions(
            self.agent_commands,
            self.turn_commands,
            self.conversation,
            self.escape_key,
            self.utterance_sound,
            self.held_agent,
            self.consent_answers,
            self.navigation,
            self.notices,
            self.time_travel,
            self.unbound_keys,
        )

    def _offer_actions(self, *controllers: object) -> None:
        # Textual looks for the method of a key's action on this screen.
        for controller in controllers:
            for name in dir(controller):
                if name.startswith("action_"):
                    setattr(self, name, getattr(controller, name))

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Free the memory of the screen that was closed, and show what it covered."""
        if not self._is_filled:
            # Its widgets were styled as they were mounted, a moment ago.
            event.refresh_styles = False
        self.consent_row.since = self.console.time.now()
        forget_closed_widgets()
        self._update_keys()

    def on_screen_suspend(self) -> None:
        """Show no keys below a dialog."""
        self._update_keys()

    def set_focus(self, widget: Widget | None, scroll_visible: bool = True, from_app_focus: bool = False) -> None:
        """Focus a widget, but none while the application closes all of them."""
        if self.app.is_running:
            super().set_focus(widget, scroll_visible, from_app_focus)

    def listen(self) -> None:
        """Subscribe to the events that need more than painting."""
        self.conversation.listen()
        self.held_agent.listen()

    async def close(self) -> None:
        """Stop the tasks and the player process."""
        self.time_travel.stop_reading()
        await self.past_sound.close()
        await self.utterance_sound.close()

    def on_resize(self, event: events.Resize) -> None:
        """Show only the meter strip below the least size."""
        self.set_class(event.size.width < MIN_WIDTH or event.size.height < MIN_HEIGHT, "-tiny")
        self.grid.forget()
        self._store.dirty |= ALL
        self._store.wake()

    @on(PaneGrid.Changed)
    def _on_layout_changed(self) -> None:
        self.tabs.set_class(self.grid.arrangement.tabs, "-shown")
        remember(self._settings.memory, layout=self.grid.state.to_json())
        self._store.wake()

    # -- the frame ---------------------------------------------------------------------------------------------------

    def _compositor_refresh(self) -> None:
        # Widgets without content cost as much to paint as the first frame that has some.
        if self._is_filled:
            super()._compositor_refresh()

    def begin_painting(self) -> None:
        """Paint from now on: the widgets have their sizes and their content."""
        if not self._is_filled:
            self._is_filled = True
            # At once: the widgets' own requests would wait for Textual's next tick.
            self._refresh_layout()

    def frame(self) -> float | None:
        """Show the changes; return the seconds until the next one without an event."""
        store, view = self._store, self._store.view
        dirty = store.take_dirty()
        now = self.console.time.now()
        waits = [self.banner.expire(now)]
        live = store.live and not self._settings.replay and not store.is_silent
        if dirty & Dirty.CONTROLS:
            self.conversation.follow_mode()
        if dirty & (Dirty.NOTICES | Dirty.HEADER):
            self.conversation.report_end()
        if self.has_class("-tiny"):
            self.too_small.show(store.word)
        else:
            elapsed = store.elapsed(running=live)
            waits.append(self._show_session(dirty, now, elapsed, live))
            # A live hold is shown as it is now, where it can be ended; a recorded one at the cursor.
            there, then = (store.shown, store.shown.t) if self._settings.replay else (view, elapsed)
            waits.append(self.held_row.show(there.agent_view.held, then, operable=live))
            waits.append(self.speech_row.show(there, then))
            typing = is_typing(self)
            self.consent_row.show(there.harness.consent, now, operable=live, typing=typing)
            if live:
                waits.append(until_next_second(elapsed))
            self._show_tabs()
            if dirty & (Dirty.CONTROLS | Dirty.HEADER):
                self._show_keys()
        # Before devices are opened the meters are off, not missing.
        opened = bool(view.input_device or view.output_device) or view.word not in ("offline", "connecting")
        sounding = live or (self._settings.replay and store.hello is not None)
        if live:
            self.meter_history.observe(view, now, self.console.cost)
        waits.append(
            self.meters.show(store.shown, now, live=sounding and opened, cost=self.console.cost, missed=store.missed)
        )
        if self.grid.size:
            self.begin_painting()
        pending = [wait for wait in waits if wait is not None]
        return min(pending) if pending else None

    def _show_tabs(self) -> None:
        """Name the panes where they have no frames, and show the note of the one in sight.

        It is at the prompt's frame, so at the pane's lower edge as in a frame of its own.
        """
        if not self.grid.arrangement.tabs:
            self.prompt_pane.show_note_above("")
            return
        shown = self.grid.arrangement.slots[0].shown
        pane = self.grid.panes.get(shown)
        note = pane.noted if pane is not None else ""
        self.tabs.show(shown, note if self._settings.replay else "")
        self.prompt_pane.show_note_above(note)

    def _show_session(self, dirty: Dirty, now: float, elapsed: float, live: bool) -> float | None:
        """Show the moment at the cursor; return the seconds until it changes, or None."""
        store, cursor = self._store, self._store.cursor
        waits: list[float | None] = []
        try:
            waits.append(cursor.advance())
        except JournalError as error:
            cursor.pause()
            self.say(str(error), "warning")
        self.past_sound.follow()
        self.utterance_sound.follow()
        moved, self._epoch = cursor.epoch != self._epoch, cursor.epoch
        was_playing, self._was_playing = self._was_playing, cursor.playing
        behind, shown = cursor.seq is not None, store.shown
        epoch = store.epoch + cursor.epoch
        if behind:
            at = cursor.place(elapsed).t
            # From now on words light up by themselves.
            marks = ALL if moved else Dirty.TRANSCRIPT if cursor.playing and not was_playing else Dirty.NONE
            frame = Frame(
                epoch,
                now,
                at,
                False,
                marks,
                whole=store.view,
                until=elapsed,
                news=dirty,
                going=live,
                passing=cursor.playing,
                history=store.history,
                said=self.notices.lines,
            )
            self.header.show(shown, shown.word, at, live=live, behind=True)
        else:
            marks = ALL if moved else dirty
            frame = Frame(
                epoch,
                now,
                elapsed,
                live,
                marks,
                going=live,
                passing=live,
                history=store.history,
                said=self.notices.lines,
            )
            self.header.show(shown, store.word, elapsed, live=live, silent=store.is_silent)
        place = cursor.place(elapsed) if behind or (self._settings.replay and store.hello is not None) else None
        self.time_travel_row.show(place, reading=self.time_travel.reading, sound=self.past_sound.note)
        self.set_class(behind, "-behind")
        waits.append(self.grid.show(shown, frame))
        if behind and live:
            waits.append(0.5)
        pending = [wait for wait in waits if wait is not None]
        return min(pending) if pending else None

    def _show_keys(self) -> None:
        view, store = self._store.view, self._store
        self.key_bar.show(
            Situation(
                mode=view.mode,
                place=place_of(self),
                typing=is_typing(self),
                microphone=view.microphone,
                speaker=view.speaker,
                over=self._settings.replay or bool(store.lost) or store.bye is not None,
                unusable=frozenset(self.grid.unusable_actions),
                escape=self.escape_key.title,
                notice=bool(self.banner.message) and self.banner.until is None,
                covered=self.app.screen is not self,
            )
        )
        self.conversation.show_prompt()

    # -- commands ----------------------------------------------------------------------------------------------------

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show a message above the transcript; a `passing` one disappears by itself."""
        self.notices.say(message, level, passing=passing)

    def action_export_as(self, name: str) -> None:
        """Open the export with a format chosen."""
        from gemini_live_tui.editors.export import ExportScreen

        if name in FORMATS:
            self.console.enter(ExportScreen.of(self.console, name))
        else:
            self.say(f"There is no format {name[:60]!r}. Known: {', '.join(FORMATS)}.", "warning", passing=True)

    def action_search(self) -> None:
        """Put the cursor into the line that searches the transcript."""
        if self.grid.focused_pane != "transcript":
            self.grid.go_to("transcript")
        if self.body.search.is_attached:
            self.body.search.begin()

    @on(RunAction)
    async def _on_run_action(self, message: RunAction) -> None:
        await self.perform(message.id)

    async def perform(self, ident: str, *arguments: str) -> None:
        """Run an action of the table; `arguments` were written behind its command."""
        action = BY_ID[ident]
        if action.scope in PANES:
            # Show the pane first, so that the action's effect is seen.
            if self.grid.focused_pane != action.scope:
                self.grid.go_to(action.scope)
            target: DOMNode = self.query_one(f"#{action.scope}")
        else:
            target = self.app if action.scope == "app" else self.prompt if action.scope == "prompt" else self
        if arguments:
            done = getattr(target, f"action_{action.takes}")(*arguments)
            if inspect.isawaitable(done):
                await done
        elif action.action:
            await self.app.run_action(action.action, target)
        else:
            self.unbound_keys.action_begin_command(ident)

    # -- the prompt --------------------------------------------------------------------------------------------------

    @on(TextSubmitted)
    async def _on_text_submitted(self, message: TextSubmitted) -> None:
        text = message.text
        if not slash.is_command(text):
            self.conversation.action_say(slash.as_message(text), written=text)
            return
        try:
            action, arguments = slash.read(text)
        except slash.InvalidCommand as error:
            self.conversation.keep_command(text)
            self.say(str(error), "warning", passing=True)
            return
        await self.perform(action.id, *arguments)

    @on(Completions.Chosen)
    def _on_completion_chosen(self, message: Completions.Chosen) -> None:
        self.set_focus(self.prompt)
        self.prompt.take(message.suggestion)
        if message.suggestion.whole:
            self.prompt.action_send()

    def on_text_area_changed(self) -> None:
        """Follow the text in the prompt."""
        self.conversation.on_typed()
        if bool(self.escape_key.title) != self.key_bar.escape_closes_list:
            self._show_keys()

    @on(KeysChanged)
    @on(events.DescendantFocus)
    def _update_keys(self) -> None:
        """Update the key bar: it names the keys of the focused widget."""
        self._store.dirty |= Dirty.CONTROLS
        self._store.wake()

    def on_paste(self, event: events.Paste) -> None:
        """Put text pasted outside the prompt into it."""
        self.unbound_keys.take_paste(event)
