"""Screens that close only while they are on top.

Textual's `dismiss` closes the screen on top, whichever that is: keys within milliseconds would close another screen, or
the last one, which ends the console.
"""

from __future__ import annotations

from typing import ClassVar, Generic

from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, Screen, ScreenResultType


class TopScreen(Screen[ScreenResultType], Generic[ScreenResultType]):
    """Screen that closes only while it is on top."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the screen with a result; does nothing below another screen."""
        return super().dismiss(result) if self.is_active else AwaitComplete()


class TopModalScreen(ModalScreen[ScreenResultType], Generic[ScreenResultType]):
    """Modal screen that closes only while it is on top."""

    # Before the focused widget gets them: the letters typed right behind would have gone to that widget, too.
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "app.focus_next", "Next field", show=False, priority=True),
        Binding("shift+tab", "app.focus_previous", "Previous field", show=False, priority=True),
    ]

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close the screen with a result; does nothing below another screen."""
        return super().dismiss(result) if self.is_active else AwaitComplete()
