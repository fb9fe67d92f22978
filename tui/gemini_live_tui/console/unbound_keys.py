"""Decide on letters without a meaning, and on keys that begin to type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.widgets import Input

from gemini_live_tui.actions import BY_ID, LETTERS, PLACES, Scope
from gemini_live_tui.actions.keymap import hints
from gemini_live_tui.actions.slash import SLASH, form_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.screen import Screen

    from gemini_live_tui.console.notices import Notices
    from gemini_live_tui.console.prompt_pane import PromptPane
    from gemini_live_tui.settings import ConsoleSettings

_BEGINS_TYPING = ("write", "command", "state-filter", "memory-search")
"""Actions that put the cursor into a field: letters that arrive together with their keys must land there."""


def place_of(screen: Screen[None]) -> Scope:
    """Return the scope of the focused widget: a pane or the prompt, else the console."""
    nodes = screen.focused.ancestors_with_self if screen.focused is not None else ()
    # A pane's body has the pane's scope for an id.
    return next((node.id for node in nodes if node.id is not None and node.id in PLACES), "console")


def is_typing(screen: Screen[None]) -> bool:
    """Return True while the prompt, or another field, has the cursor."""
    return isinstance(screen.focused, Input) or place_of(screen) == "prompt"


class UnboundKeys:
    """Keys pressed while no field has the cursor."""

    def __init__(
        self,
        screen: Screen[None],
        prompt_pane: PromptPane,
        settings: ConsoleSettings,
        notices: Notices,
        perform: Callable[[str], Awaitable[None]],
    ) -> None:
        self._screen = screen
        self._pane = prompt_pane
        self._settings = settings
        self._notices = notices
        self._perform = perform

    @property
    def _outside(self) -> bool:
        """True when letters are commands: no field has the cursor."""
        return not self._screen.has_class("-tiny") and not is_typing(self._screen)

    async def take(self, event: events.Key) -> bool:
        """Handle a key that begins to type, or a letter without a meaning.

        Return False for others.

        Called before the key is queued for the focused widget, so that of keys that arrive together none gets past.
        """
        if not self._outside:
            return False
        ident = self._meaning(event.key)
        if ident in _BEGINS_TYPING or (ident == "open-row" and place_of(self._screen) == "transcript"):
            await self._perform(ident)
        elif ident is None and event.is_printable and event.character:
            self._notices.say(self._nothing(event.character), passing=True)
        else:
            return False
        return True

    def _meaning(self, key: str) -> str | None:
        """Return the action of a key here.

        "" for a binding outside the table, None for an unbound key.
        """
        active = self._screen.active_bindings.get(key)
        if active is None:
            return None
        ident = (active.binding.id or "").removesuffix(LETTERS)
        return ident if ident in BY_ID else ""

    def _nothing(self, letter: str) -> str:
        ways = () if self._settings.replay else ("{write} writes", "{command} begins a command")
        known = hints((*ways, "{help} helps"), self._settings.keymap, ascii_only=self._settings.ascii)
        return f"{letter} does nothing in {PLACES[place_of(self._screen)].title}: {', '.join(known)}."

    def action_write(self) -> None:
        """Put the cursor into the prompt."""
        if self._settings.replay:
            self._notices.say("This is a recording: nothing can be written to it.", passing=True)
        else:
            self._screen.set_focus(self._pane.prompt)

    def action_begin_command(self, ident: str = "") -> None:
        """Begin a command in the prompt; the text there stays in the history."""
        self.action_write()
        if not self._settings.replay:
            self._pane.prompt.begin(f"{SLASH}{form_of(BY_ID[ident]).name} " if ident else SLASH)

    def take_paste(self, event: events.Paste) -> None:
        """Put a paste from any pane into the prompt, without sending it."""
        if self._outside and not self._settings.replay:
            event.stop()
            self._screen.set_focus(self._pane.prompt)
            self._pane.prompt.post_message(events.Paste(event.text))
