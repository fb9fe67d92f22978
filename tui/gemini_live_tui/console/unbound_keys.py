"""Decide what a letter typed outside the prompt does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.widgets import Input

from gemini_live_tui.actions import BY_ID, PLACES, Scope
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.actions.slash import SLASH, form_of
from gemini_live_tui.console.prompt import Prompt

if TYPE_CHECKING:
    from textual.screen import Screen

    from gemini_live_tui.console.notices import Notices
    from gemini_live_tui.settings import ConsoleSettings

_TALKING = ("transcript", "console")
"""Places where an unbound letter begins a message."""


def place_of(screen: Screen[None]) -> Scope:
    """Return the scope of the focused widget: a pane or the prompt, else the console."""
    nodes = screen.focused.ancestors_with_self if screen.focused is not None else ()
    # A pane's body has the pane's scope for an id.
    return next((node.id for node in nodes if node.id is not None and node.id in PLACES), "console")


class UnboundKeys:
    """Letters without a binding: they open the prompt or get a hint."""

    def __init__(self, screen: Screen[None], prompt: Prompt, settings: ConsoleSettings, notices: Notices) -> None:
        self._screen = screen
        self._prompt = prompt
        self._settings = settings
        self._notices = notices

    @property
    def _open(self) -> bool:
        """True when the prompt can be opened: no other field has the focus."""
        elsewhere = isinstance(self._screen.focused, Prompt | Input)
        return not self._settings.replay and not self._screen.has_class("-tiny") and not elsewhere

    def take_letter(self, event: events.Key) -> bool:
        """Handle a letter that has no binding where it was typed; return False for others.

        In the transcript it opens the prompt and lands there; in another pane a hint says that the key does nothing.
        Called before the key is queued for the focused widget, so that of letters that arrive together none gets past.
        """
        if not self._open or not event.is_printable or not event.character:
            return False
        ident = self._meaning(event.key)
        if ident == "command":
            self.action_begin_command()
        elif ident is not None:
            return False
        elif place_of(self._screen) in _TALKING:
            self._screen.set_focus(self._prompt)
            self._prompt.insert(event.character)
        else:
            self._notices.say(self._nothing(event.character), passing=True)
        return True

    def _meaning(self, key: str) -> str | None:
        """Return the action of a key here.

        "" for a binding outside the table, None for an unbound key.
        """
        active = self._screen.active_bindings.get(key)
        if active is None:
            return None
        action = BY_ID.get(active.binding.id or "")
        if action is not None and action.panes_only and place_of(self._screen) in _TALKING:
            return None
        return action.id if action is not None else ""

    def _nothing(self, letter: str) -> str:
        keymap, plain = self._settings.keymap, self._settings.ascii
        talk, *_ = keys_of(BY_ID["pane-transcript"], keymap)
        command, *_ = keys_of(BY_ID["command"], keymap)
        keys = f"{key_label(talk, ascii_only=plain)} for a message"
        if self._meaning(command) == "command":
            keys += f", {key_label(command, ascii_only=plain)} for a command"
        return f"{letter} does nothing in {PLACES[place_of(self._screen)].title}. To write: {keys}."

    def action_begin_command(self, ident: str = "") -> None:
        """Begin a command in the prompt; the text there stays in the history."""
        if not self._settings.replay:
            self._screen.set_focus(self._prompt)
            self._prompt.begin(f"{SLASH}{form_of(BY_ID[ident]).name} " if ident else SLASH)

    def take_paste(self, event: events.Paste) -> None:
        """Put a paste from any pane into the prompt, without sending it."""
        if self._open:
            event.stop()
            self._screen.set_focus(self._prompt)
            self._prompt.post_message(events.Paste(event.text))
