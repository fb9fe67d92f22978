"""Run the console application: theme, keys, the session's link, and the end."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.filter import LineFilter

from gemini_live_runtime.clock import Clock, LoopClock
from gemini_live_tui import theming
from gemini_live_tui.actions import Scope, bindings
from gemini_live_tui.actions.keymap import keymap_problem, split_keymap, usable_keymap
from gemini_live_tui.console.screen import ConsoleScreen
from gemini_live_tui.console.unbound_keys import is_typing, place_of
from gemini_live_tui.context import LiveScreen, MessageScreen
from gemini_live_tui.early_keys import EarlyKeys
from gemini_live_tui.leaving import Leaving
from gemini_live_tui.messages import Level
from gemini_live_tui.open_screens import OpenScreens
from gemini_live_tui.painting.ascii_filter import AsciiFilter
from gemini_live_tui.painting.frame_clock import FrameClock
from gemini_live_tui.panes.base import Pane
from gemini_live_tui.removed_nodes import is_of_removed
from gemini_live_tui.session_data.meter_history import MeterHistory, OwnCost
from gemini_live_tui.session_data.store import NotSent, Store
from gemini_live_tui.settings import ConsoleOutcome, ConsoleSettings
from gemini_live_tui.stylesheet import ThemedStylesheet
from gemini_live_tui.theme_switcher import ThemeSwitcher
from gemini_live_tui.typed_ahead import TypedAhead

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.actions import ActionParseResult
    from textual.dom import DOMNode
    from textual.driver import Driver
    from textual.screen import Screen

    from gemini_live_runtime.commands import Command, Order
    from gemini_live_tui.launcher import Choice
    from gemini_live_tui.session_data.link import LinkSource, SessionLink
    from gemini_live_tui.set_up.sound_helper import Report, SoundHelper


class ConsoleApp(App[ConsoleOutcome], inherit_bindings=False):
    """Console on one session.

    `link_source` is called after the first paint; None waits for a choice in `settings.first_screen`. `run()` (or
    `run_async()`) returns the `ConsoleOutcome`; it is None only when Textual itself failed.
    """

    TITLE = "gemini-live-tui"
    CSS_PATH = Path(__file__).with_name("console") / "console.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app")]

    def __init__(
        self, link_source: LinkSource | None, *, settings: ConsoleSettings, clock: Clock | None = None
    ) -> None:
        keymap, faults = usable_keymap(settings.keymap)
        settings = replace(settings, keymap=keymap)
        self._problems = [keymap_problem(faults)] if faults else []
        if os.environ.get("NO_COLOR") == "":
            # An empty one counts as not set (https://no-color.org), for Textual as well.
            del os.environ["NO_COLOR"]
        # NO_COLOR means no colour at all; Textual would use shades of grey.
        super().__init__(ansi_color=True if "NO_COLOR" in os.environ else None)
        self.settings = settings
        self.time = clock or LoopClock()
        self._own_filters: list[LineFilter] = [AsciiFilter()] if settings.ascii else []
        self.failure: Exception | None = None
        """Error that ended the console, if any."""
        self.begun: Callable[[], None] | None = None
        """Callback before the terminal is taken."""
        self.settled: Callable[[], None] | None = None
        """Callback after the first paint."""
        self._source = link_source
        self.cost = OwnCost(self.time.now)
        self.frames = FrameClock(settings.fps, lambda: self.cost.frame(self._draw))
        self.store = Store(self.time, self.frames.request)
        self.link: SessionLink | None = None
        self._link_task: asyncio.Task[None] | None = None
        self.leaving = Leaving(self, self)
        self.open_screens = OpenScreens(self, self)
        self.typed_ahead = TypedAhead(self, self._on_typed)
        self.early_keys = EarlyKeys(self.store)
        self.lends_terminal = False
        self.set_class(settings.ascii, "-ascii")
        self._has_painted = False
        self.themes = ThemeSwitcher(self, settings, partial(self.say, passing=True))
        self._problems += self.themes.use_first(settings.theme)
        self.stylesheet: ThemedStylesheet = ThemedStylesheet(variables=self.get_css_variables())
        self.set_keymap(split_keymap(settings.keymap))

    def get_driver_class(self) -> type[Driver]:
        """Return the driver, which for a terminal of Linux or macOS is our own."""
        default = super().get_driver_class()
        if default.__name__ != "LinuxDriver":
            return default
        from gemini_live_tui.terminal_driver import TerminalDriver

        return TerminalDriver

    def get_default_screen(self) -> ConsoleScreen:
        """Return the main screen."""
        self.console_screen = ConsoleScreen(self)
        return self.console_screen

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return Textual's filters, with `--ascii` also one for Textual's own signs."""
        return [*super().get_line_filters(), *self._own_filters]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return colours for the moment before the theme is set."""
        return dict.fromkeys(theming.DEFAULTS, "#808080")

    def refresh_css(self, animate: bool = True) -> None:
        """Style everything anew: not before the first paint, which is styled already."""
        if not self._has_painted:
            self.stylesheet.set_variables(self.get_css_variables())
            if not self.stylesheet.is_stale:
                return
        super().refresh_css(animate)

    def update_styles(self, node: DOMNode, animate: bool = True) -> None:
        """Style a widget anew, unless it is not mounted yet: it is styled then."""
        if node.is_attached:
            super().update_styles(node, animate)

    # -- life --------------------------------------------------------------------------------------------------------

    def on_load(self) -> None:
        """Tell the caller that the terminal is about to be taken."""
        if self.begun is not None:
            self.begun()

    def on_mount(self) -> None:
        """Paint first, then connect to the engine."""
        if self.settings.first_screen:
            self.action_open(self.settings.first_screen)
        self.call_after_refresh(self._after_first_paint)

    def _after_first_paint(self) -> None:
        self.console_screen.begin_painting()
        self._has_painted = True
        from gemini_live_tui.set_up.environment import hold_secrets

        hold_secrets()
        if self._source is not None:
            self._reach(self._source)
        elif self.settings.recording is not None:
            self._link_task = asyncio.create_task(
                self.console_screen.time_travel.read_recording(self.settings.recording)
            )
        self._problems += self.themes.load_others()
        self.call_later(self.console_screen.complete)
        if self.settled is not None:
            self.settled()
        if self._problems:
            self.say(" ".join(self._problems), "warning")
        self.frames.request()

    def _reach(self, source: LinkSource) -> None:
        # Importing events, commands and the link takes 0.1 s, so it follows the first paint.
        from gemini_live_tui.session_data.link import SessionLink

        self.link = SessionLink(source, self.store, self._not_sent, is_running=self.settings.attached)
        self.console_screen.listen()
        self._link_task = asyncio.create_task(self.link.run())

    def sound_helper(self, on_report: Callable[[Report], None]) -> SoundHelper:
        """Return a new helper process, not started yet, that reports to `on_report`."""
        from gemini_live_tui.set_up.sound_helper import SoundHelper

        return SoundHelper(on_report)

    @property
    def waiting(self) -> bool:
        """True while no session was started yet."""
        return self.link is None and self._source is None and not self.settings.replay

    def begin(self, choice: Choice) -> None:
        """Start a session here, or in a new console after this one hung up.

        Raise `GeminiLiveError` when it cannot start.
        """
        assert self.settings.starter is not None
        source = self.settings.starter.source(choice)
        if not self.waiting:
            self.leaving.leave_for_choice(choice)
            return
        self._source = source
        if not choice.demo:
            self.console_screen.body.welcome.hint = ""
        while self.screen is not self.console_screen:
            self.pop_screen()
        self._reach(source)
        self.frames.request()

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show a message on the screen in front, or on the main screen."""
        screen = self.screen
        (screen if isinstance(screen, MessageScreen) else self.console_screen).say(message, level, passing=passing)

    def say_below_at_once(self, message: str) -> None:
        """Show a message on the main screen and draw it now."""
        self.console_screen.say(message)
        self.frames.flush()

    def say_below(self, message: str) -> None:
        """Show a passing message on the main screen."""
        self.console_screen.say(message, passing=True)

    def order(self, order: Order) -> str:
        """Send a command and return its id; "" after showing why it cannot be sent."""
        return self.console_screen.sender.order(order)

    def past_note(self) -> str:
        """Return a warning about changing the present while showing the past, or ""."""
        return self.console_screen.notices.past_note()

    def go_to_moment(self, text: str) -> str:
        """Move the cursor to a moment as the operator writes it; return why not, or ""."""
        return self.console_screen.time_travel.go_to_moment(text)

    def seek_event(self, seq: int) -> None:
        """Move the cursor to event `seq`."""
        self.console_screen.time_travel.seek_event(seq)

    @property
    def meter_history(self) -> MeterHistory:
        """The last minute of every meter."""
        return self.console_screen.meter_history

    @property
    def place(self) -> Scope:
        """Scope of the main screen's focused widget."""
        return place_of(self.console_screen)

    def _draw(self) -> float | None:
        try:
            return self._draw_frame()
        except Exception as error:
            # asyncio would only log it and the console would freeze: end with the error.
            self.frames.stop()
            self.failure = error
            self.exit(return_code=1)
            return None

    def _draw_frame(self) -> float | None:
        # Processor time: on a busy machine frames take long whatever they fold.
        began = time.thread_time()
        left = self.store.drain() if self.link is not None else False
        if self.leaving.hanging_up is not None:
            # The engine's last message may wait behind a flood, which nobody reads any more.
            return 0.0 if left else None
        again = self._show_frame()
        if left:
            self.store.pace(time.thread_time() - began)
        return 0.0 if left else again

    def _show_frame(self) -> float | None:
        again = self.console_screen.frame()
        for key in self.early_keys.release():
            self.post_message(key)
        for screen in self.screen_stack[1:]:
            if isinstance(screen, LiveScreen) and screen.is_mounted:
                screen.show_view(self.store.view)
        return again

    def send(self, order: Order) -> str:
        """Send an order and return the command's id; raise `NotSent`."""
        if self.link is None:
            raise NotSent("The engine is not ready yet.")
        return self.link.send(order)

    def _not_sent(self, command: Command, reason: str) -> None:
        self.console_screen.conversation.refused(command.id, reason)

    def action_hang_up_and_quit(self) -> None:
        """Hang up, wait briefly for the engine's answer and quit; at once the second time."""
        if self.unsent:
            # The enter that sends it may wait in the prompt's queue.
            self.console_screen.prompt.call_later(self.call_later, self.leaving.hang_up_and_quit)
        else:
            self.leaving.hang_up_and_quit()

    def action_detach(self) -> None:
        """Ask whether to quit and leave the engine running."""
        self.leaving.ask_to_detach()

    def give_up_link(self) -> None:
        """Stop reaching and reading the engine."""
        if self._link_task is not None and not self._link_task.done():
            self._link_task.cancel()

    async def on_unmount(self) -> None:
        """Close the link, the tasks and the player."""
        self.frames.stop()
        await self.console_screen.close()
        if self._link_task is not None:
            self._link_task.cancel()
            await asyncio.wait((self._link_task,))
        if self.link is not None:
            await self.link.close()

    @property
    def over(self) -> bool:
        """True before a session, after it, and in a recording: quitting ends no call."""
        return self.leaving.is_over

    def leave_for(self, recording: Path) -> None:
        """End this console or detach it; its caller shows `recording` next."""
        self.leaving.leave_for_recording(recording)

    def leave_for_session(self, folder: Path) -> None:
        """End this console or detach it; its caller goes on with a recorded session."""
        self.leaving.leave_for_session(folder)

    @property
    def why_not_detach(self) -> str:
        """Sentence why the engine cannot go on without this console; "" when it can."""
        return self.leaving.why_not_detach

    @property
    def unsent(self) -> str:
        """First words of what is written in the prompt; "" for nothing."""
        return "" if self.settings.replay else self.console_screen.prompt_pane.written

    def _log(self, *arguments: Any, **values: Any) -> None:
        """Log to Textual's developer console, except while a screen for a secret is open."""
        stacks = getattr(self, "_screen_stacks", None)
        if stacks and not any(getattr(screen, "DISCREET", False) for screen in self.screen_stack):
            super()._log(*arguments, **values)

    def _handle_exception(self, error: Exception) -> None:
        """Keep the error for `run_console`, which tells it, unless its screen is closed."""
        if is_of_removed(error):
            return
        self.failure = self.failure or error
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Leave without a traceback: the values of its variables may hold a key."""
        self.bell()
        self.exit(return_code=1)

    def panic(self, *renderables: RenderableType) -> None:
        """Leave without what Textual would print of its own errors."""
        self._fatal_error()

    def expect_key(self) -> None:
        """Let a backlog wait: keys were typed, and come soon; any thread may call this."""
        self.store.answer_key()

    async def on_event(self, event: events.Event) -> None:
        """Take keys in the order of typing, before the focused widget gets them."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            self.store.answer_key()
            if not (self._takes_early_keys and self.early_keys.keep(event)):
                await self.typed_ahead.take(event)
        else:
            await super().on_event(event)

    @property
    def _takes_early_keys(self) -> bool:
        """True where letters are commands on a session, which may not have begun."""
        screen, is_session = self.screen, not (self.waiting or self.settings.replay)
        return is_session and screen is self.console_screen and not is_typing(screen)

    async def _on_typed(self, event: events.Key) -> None:
        """Offer a key to `UnboundKeys`, then to the bindings, then to the focused widget."""
        screen = self.screen
        if isinstance(screen, ConsoleScreen) and await screen.unbound_keys.take(event):
            return
        if not await self.typed_ahead.run_binding(event):
            await super().on_event(event)

    async def run_action(
        self,
        action: str | ActionParseResult,
        default_namespace: DOMNode | None = None,
        namespaces: Mapping[str, DOMNode] | None = None,
    ) -> bool:
        """Run an action; the failure of a pane's action stays in that pane."""
        try:
            return await super().run_action(action, default_namespace, namespaces)
        except Exception as error:
            for node in default_namespace.ancestors_with_self if default_namespace is not None else ():
                if isinstance(node, Pane):
                    node.fail(error)
                    return True
            raise

    # -- actions -----------------------------------------------------------------------------------------------------

    def copy_to_clipboard(self, text: str) -> None:
        """Copy through the terminal (OSC 52), and through this machine's clipboard.

        An empty text would only wipe what the user has there.
        """
        if not text:
            return
        super().copy_to_clipboard(text)
        from gemini_live_tui.clipboard import system_copy

        self.run_worker(lambda: system_copy(text), thread=True, exit_on_error=False, group="clipboard")

    def action_copy_or_quit(self) -> None:
        """Copy the selection; without one, quit when pressed twice within a moment."""
        prompt = self.console_screen.prompt
        selected = prompt.selected_text if self.focused is prompt else ""
        selected = selected or self.screen.get_selected_text() or ""
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
            self.console_screen.say(f"Copied {len(selected):,} characters.", passing=True)
            return
        self.leaving.quit_or_ask_again()

    def action_open(self, name: str) -> None:
        """Open the screen `name`, bring it forward when open, close it when in front."""
        self.open_screens.open(name)

    def enter(self, screen: Screen[None]) -> None:
        """Push a screen in place of an open one of its class, unless that is unsaved."""
        self.open_screens.enter(screen)

    def action_use_theme(self, name: str) -> None:
        """Switch to the theme `name`, or say which themes there are."""
        self.themes.switch_if_known(name)

    def action_next_theme(self) -> None:
        """Switch to the next theme by name."""
        self.themes.switch_to_next()

    def performer(self, ident: str) -> Callable[[], None]:
        """Return a callback that runs an action of the table."""

        def perform() -> None:
            self.call_later(self.console_screen.perform, ident)

        return perform

    def use_frame_rate(self, fps: int) -> None:
        """Draw at most `fps` frames a second from now on."""
        self.frames.set_rate(fps)
