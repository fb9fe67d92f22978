"""Describe the console to its screens, which need not import the application.

`ConsoleApp` satisfies `ConsoleContext`; the protocols below it are the optional abilities of a screen that the console
looks for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from textual.screen import Screen

    from gemini_live_runtime.clock import Clock
    from gemini_live_runtime.commands import Order
    from gemini_live_runtime.journal.fold.view import SessionView
    from gemini_live_tui.actions import Scope
    from gemini_live_tui.launcher import Choice
    from gemini_live_tui.messages import Level
    from gemini_live_tui.session_data.link import SessionLink
    from gemini_live_tui.session_data.meter_history import MeterHistory, OwnCost
    from gemini_live_tui.session_data.store import Store
    from gemini_live_tui.set_up.sound_helper import Report, SoundHelper
    from gemini_live_tui.settings import ConsoleSettings
    from gemini_live_tui.theme_switcher import ThemeSwitcher


class ConsoleContext(Protocol):
    """The console as its screens and controllers use it."""

    settings: ConsoleSettings
    store: Store
    time: Clock
    cost: OwnCost
    link: SessionLink | None
    """Link to the engine, once there is one."""
    lends_terminal: bool
    """True while another program has the terminal."""
    themes: ThemeSwitcher

    @property
    def screen(self) -> Screen[object]:
        """The screen in front."""
        ...

    @property
    def console_screen(self) -> Screen[None]:
        """The main screen, below all others."""
        ...

    @property
    def meter_history(self) -> MeterHistory:
        """The last minute of every meter."""
        ...

    @property
    def place(self) -> Scope:
        """Scope of the main screen's focused widget."""
        ...

    @property
    def waiting(self) -> bool:
        """True while no session was started yet."""
        ...

    @property
    def over(self) -> bool:
        """True when leaving this console ends no call."""
        ...

    def order(self, order: Order) -> str:
        """Send a command and return its id; "" after showing why it cannot be sent."""
        ...

    def send(self, order: Order) -> str:
        """Send a command and return its id; raise `NotSent`."""
        ...

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show a message on the screen in front, or on the main screen."""
        ...

    def say_below(self, message: str) -> None:
        """Show a passing message on the main screen."""
        ...

    def say_below_at_once(self, message: str) -> None:
        """Show a message on the main screen and draw it now."""
        ...

    def past_note(self) -> str:
        """Return a warning about changing the present while showing the past, or ""."""
        ...

    def go_to_moment(self, text: str) -> str:
        """Move the cursor to a moment as the operator writes it; return why not, or ""."""
        ...

    def seek_event(self, seq: int) -> None:
        """Move the cursor to event `seq`."""
        ...

    def sound_helper(self, on_report: Callable[[Report], None]) -> SoundHelper:
        """Return a new helper process, not started yet, that reports to `on_report`."""
        ...

    def action_open(self, name: str) -> None:
        """Open the screen `name`, bring it forward when open, close it when in front."""
        ...

    def enter(self, screen: Screen[None]) -> None:
        """Push a screen in place of an open one of its class, unless that is unsaved."""
        ...

    def performer(self, ident: str) -> Callable[[], None]:
        """Return a callback that runs an action of the table."""
        ...

    def use_frame_rate(self, fps: int) -> None:
        """Draw at most `fps` frames a second from now on."""
        ...

    def begin(self, choice: Choice) -> None:
        """Start a session here, or in a new console after this one.

        Raise `GeminiLiveError` when it cannot start.
        """
        ...

    @property
    def why_not_detach(self) -> str:
        """Sentence why the engine cannot go on without this console; "" when it can."""
        ...

    @property
    def unsent(self) -> str:
        """First words of what is written in the prompt; "" for nothing."""
        ...

    def leave_for(self, recording: Path) -> None:
        """End this console or detach it; its caller shows `recording` next."""
        ...

    def leave_for_session(self, folder: Path) -> None:
        """End this console or detach it; its caller goes on with a recorded session."""
        ...

    def give_up_link(self) -> None:
        """Stop reaching and reading the engine."""
        ...

    def action_hang_up_and_quit(self) -> None:
        """End the session and quit."""
        ...


@runtime_checkable
class MessageScreen(Protocol):
    """A screen with a row for messages."""

    def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
        """Show one sentence; a `passing` one disappears after a few seconds."""
        ...


@runtime_checkable
class LiveScreen(Protocol):
    """A screen that shows the session: updated with every frame while it is open."""

    def show_view(self, view: SessionView) -> None:
        """Show a view."""
        ...


@runtime_checkable
class CommandScreen(Protocol):
    """A screen that sends commands: asked first about refusals while it is in front."""

    def refused(self, command_id: str, reason: str) -> bool:
        """Show the reason and return True when the refused command came from this screen."""
        ...
