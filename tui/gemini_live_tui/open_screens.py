"""Open the console's further screens, each class of them once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_tui.screen_registry import EDITORS, make_screen, screen_class
from gemini_live_tui.screen_stack import take_out

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.settings import ConsoleOutcome


class OpenScreens:
    """Screens above the main one."""

    def __init__(self, app: App[ConsoleOutcome], console: ConsoleContext) -> None:
        self._app = app
        self._console = console

    def open(self, name: str) -> None:
        """Open the screen `name`, bring it forward when open, close it when in front."""
        app = self._app
        if self._console.settings.replay and name in EDITORS:
            self._console.say("This is a recording: nothing can be changed.", passing=True)
            return
        cls = screen_class(name)
        front = app.screen
        if isinstance(front, cls):
            getattr(front, "action_leave", front.dismiss)()
            return
        self._close_passing()
        opened = self._opened(cls)
        if opened is not None:
            self._bring_forward(opened)
        else:
            app.push_screen(make_screen(name, self._console))

    def enter(self, screen: Screen[None]) -> None:
        """Push a screen in place of an open one of its class.

        An open one with unsaved text comes to the front instead.
        """
        from gemini_live_tui.widgets.box_screen import BoxScreen

        self._close_passing()
        other = self._opened(type(screen))
        if other is not None and not other.is_mounted:
            return  # A key that came twice at once: its screen is about to show.
        if isinstance(other, BoxScreen) and other.unsaved:
            self._bring_forward(other)
            other.say("Something is written here already: apply it or leave it first.", "warning")
            return
        self._app.push_screen(screen)
        # If it cannot be taken out, it stays below the new one.
        if other is not None and take_out(self._app, other, keep_callback=True):
            other.remove()

    def _opened(self, cls: type) -> Screen[None] | None:
        return next((screen for screen in self._app.screen_stack if isinstance(screen, cls)), None)

    def _bring_forward(self, screen: Screen[None]) -> None:
        """Bring an open screen to the front, as it was left."""
        if screen is self._app.screen:
            return
        if take_out(self._app, screen):
            self._app.push_screen(screen)
        else:
            self._console.say("It is open already, below this screen: close this one first.", "warning")

    def _close_passing(self) -> None:
        """Close a palette or overlay in front: what it opened does not go on top of it."""
        if getattr(self._app.screen, "PASSING", False):
            self._app.pop_screen()
