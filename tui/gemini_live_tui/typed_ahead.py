"""Keep keys that arrive together in the order of typing.

Each gets where the one before it leads. Textual queues a key for the widget that has the focus while it arrives, and
looks for its binding later: of "?undo" the letters would go to the pane in which the question mark was pressed, and
those before a new screen has its focus to nothing. Here a key of a pane or list acts as it arrives, and the keys behind
one that opens a screen wait for it.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from textual.widgets import Input, TextArea

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual import events
    from textual.app import App
    from textual.binding import ActiveBinding

    from gemini_live_tui.settings import ConsoleOutcome

MAX_WAITING = 1000
"""Keys that wait for a screen; further ones are dropped."""


class TypedAhead:
    """Keys of an app, before it passes them on with `forward`."""

    def __init__(self, app: App[ConsoleOutcome], forward: Callable[[events.Key], Awaitable[None]]) -> None:
        self._app = app
        self._forward = forward
        self._waiting: deque[events.Key] = deque()

    async def take(self, event: events.Key) -> None:
        """Act on a key, or let it wait for the screen that is about to show."""
        if len(self._waiting) < MAX_WAITING:
            self._waiting.append(event)
        await self._act()

    async def _act(self) -> None:
        """Act on the keys that wait, in their order, until one opens a screen."""
        while self._waiting:
            screen = self._app.screen
            if not screen.is_mounted:
                # Its queue comes to this once it is mounted and has its focus.
                screen.call_later(self._app.call_next, self._act)
                return
            await self._forward(self._waiting.popleft())

    async def run_binding(self, event: events.Key) -> bool:
        """Run the action of a key at once; return False for a key without one here.

        In a field only keys that are no letters and not its own.
        """
        screen = self._app.screen
        active = screen.active_bindings.get(event.key)
        if active is None or not active.enabled:
            return False
        field = screen.focused
        if isinstance(field, Input | TextArea) and (event.is_printable or not self._leaves(field, active)):
            return False
        return await self._app.run_action(active.binding.action, active.node)

    @staticmethod
    def _leaves(field: Input | TextArea, active: ActiveBinding) -> bool:
        """Return True for a key of the screen around a field, which has no use for it."""
        if active.binding.action.removeprefix("app.").startswith("open("):
            return True
        return isinstance(field, Input) and active.node is not field and not hasattr(field, "on_key")
