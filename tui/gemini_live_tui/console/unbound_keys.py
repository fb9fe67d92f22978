"""The part of the console screen that knows what becomes of letters typed outside the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.screen import Screen
from textual.widgets import Input

from gemini_live_tui.actions import BY_ID, PLACES, Scope
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.actions.slash import SLASH, form_of
from gemini_live_tui.console.prompt import Prompt
from gemini_live_tui.context import Level
from gemini_live_tui.settings import ConsoleSettings

_TALKING = ("transcript", "console")
"""Where a letter that is nobody's key is the beginning of a message."""


class Letters(Screen[None]):
    """In the transcript a letter opens the prompt; in another pane it is a key that was meant for something else."""

    prompt: Prompt
    _settings: ConsoleSettings

    if TYPE_CHECKING:

        @property
        def place(self) -> Scope:
            """Where the focus is."""
            ...

        def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
            """Show a message."""
            ...

    @property
    def _open(self) -> bool:
        """Whether there is a prompt, and nobody writes elsewhere."""
        elsewhere = isinstance(self.focused, Prompt | Input)
        return not self._settings.replay and not self.has_class("-tiny") and not elsewhere

    def take_letter(self, event: events.Key) -> bool:
        """Deal with a letter that is no key of the place it was typed in; whether it was one.

        In the transcript it opens the prompt and lands there; in another pane nothing is typed, and it is said that the
        key does nothing. Asked before the key is queued for the focused widget: of letters that arrive together none
        gets past.
        """
        if not self._open or not event.is_printable or not event.character:
            return False
        ident = self._meaning(event.key)
        if ident == "command":
            self.action_begin_command()
        elif ident is not None:
            return False
        elif self.place in _TALKING:
            self.set_focus(self.prompt)
            self.prompt.insert(event.character)
        else:
            self.say(self._nothing(event.character), passing=True)
        return True

    def _meaning(self, key: str) -> str | None:
        """The action that a key has here, "" for one that is not of the table, None when it is nobody's."""
        active = self.active_bindings.get(key)
        if active is None:
            return None
        action = BY_ID.get(active.binding.id or "")
        if action is not None and action.panes_only and self.place in _TALKING:
            return None
        return action.id if action is not None else ""

    def _nothing(self, letter: str) -> str:
        keymap, plain = self._settings.keymap, self._settings.ascii
        talk, *_ = keys_of(BY_ID["pane-transcript"], keymap)
        command, *_ = keys_of(BY_ID["command"], keymap)
        ways = f"{key_label(talk, ascii_only=plain)} for a message"
        if self._meaning(command) == "command":
            ways += f", {key_label(command, ascii_only=plain)} for a command"
        return f"{letter} does nothing in {PLACES[self.place].title}. To write: {ways}."

    def action_begin_command(self, ident: str = "") -> None:
        """Begin a command in the prompt, a certain one or any; what was being written stays in the history."""
        if not self._settings.replay:
            self.set_focus(self.prompt)
            self.prompt.begin(f"{SLASH}{form_of(BY_ID[ident]).name} " if ident else SLASH)

    async def on_paste(self, event: events.Paste) -> None:
        """A paste outside the prompt goes there, from any pane: nobody presses it by mistake, and it is not sent."""
        if self._open:
            event.stop()
            self.set_focus(self.prompt)
            self.prompt.post_message(events.Paste(event.text))
