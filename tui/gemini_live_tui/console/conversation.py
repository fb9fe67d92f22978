"""The part of the console screen that talks: the mode, the switches, what is sent, and what comes back unsent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from gemini_live_runtime.journal.view import Dirty
from gemini_live_tui.console.prompt import Prompt
from gemini_live_tui.context import CommandScreen, Level
from gemini_live_tui.panes.transcript import Transcript
from gemini_live_tui.session_data.store import Store
from gemini_live_tui.settings import ConsoleSettings

if TYPE_CHECKING:
    from gemini_live_runtime.commands import Order


class Talking(Screen[None]):
    """What a console does between a person and a session."""

    prompt: Prompt
    transcript: Transcript
    _store: Store
    _settings: ConsoleSettings
    _text_key: str
    """The key of text mode, as it is written."""
    _limit: int
    """Most characters that can be sent at once; 0 before that is known."""
    _unconfirmed: dict[str, str]
    """What was sent and not confirmed yet, as it was written, by the command's id."""
    _mode_shown: str
    _mode_wanted: str
    _mode_command: str

    if TYPE_CHECKING:

        def order(self, order: Order) -> str:
            """Send a command; its id, "" when it did not go out."""
            ...

        def say(self, message: str, level: Level = "info", *, passing: bool = False) -> None:
            """Show a message."""
            ...

        def _show_prompt_state(self) -> None: ...

    # -- the mode and the switches -----------------------------------------------------------------------------------

    def action_toggle_text_mode(self) -> None:
        """Text mode and back."""
        self.action_set_mode("voice" if (self._mode_wanted or self._store.view.mode) == "text" else "text")

    def action_set_mode(self, wanted: str) -> None:
        """Take a mode. The focus moves at once, so that what is typed next lands where it is meant to."""
        from gemini_live_runtime.commands import SetMode

        ident = self.order(SetMode(mode="text" if wanted == "text" else "voice"))
        if ident:
            self._mode_wanted, self._mode_command = wanted, ident
            self.set_focus(self.prompt if wanted == "text" else self.transcript)

    def _follow_mode(self) -> None:
        """The focus goes where the mode says, whoever changed it."""
        mode = self._store.view.mode
        if mode == self._mode_shown or self._settings.replay:
            return
        self._mode_shown, self._mode_wanted = mode, ""
        self.set_focus(self.prompt if mode == "text" else self.transcript)

    def action_mute(self) -> None:
        """Microphone off or on; in text mode it is off anyway."""
        from gemini_live_runtime.commands import SetMicrophone

        view = self._store.view
        if view.mode == "text":
            self.say(f"The microphone is off in text mode; {self._text_key} turns it on.", passing=True)
        else:
            self.order(SetMicrophone(on=not view.microphone))

    def action_mute_speaker(self) -> None:
        """Speaker off or on."""
        from gemini_live_runtime.commands import SetSpeaker

        self.order(SetSpeaker(on=not self._store.view.speaker))

    # -- what is sent ------------------------------------------------------------------------------------------------

    def keep_command(self, text: str) -> None:
        """Put a command that cannot be carried out back into the prompt, for the operator to mend it."""
        if self.prompt.give_back(text):
            self.set_focus(self.prompt)

    def _leave_prompt(self) -> None:
        """In voice mode the keys go back to being commands: space must mute, not type, while the microphone is open."""
        if (self._mode_wanted or self._store.view.mode) == "voice" and not self.prompt.text:
            self.set_focus(self.transcript)

    def action_say(self, text: str, *, written: str = "") -> None:
        """Send a message; what cannot be sent goes back into the prompt as it was `written`."""
        from gemini_live_runtime.commands import SendText

        size = len(text)
        if size > self._limit > 0:
            self.prompt.give_back(written or f"/say {text}")
            self.say(
                f"The message has {size:,} characters, {self._limit:,} can be sent at once. Shorten it.", "warning"
            )
            return
        ident = self.order(SendText(text=text))
        if not ident:
            self.prompt.give_back(written or f"/say {text}")
            return
        self._unconfirmed[ident] = written or f"/say {text}"
        self._leave_prompt()
        self.transcript.scroll_by("end")
        self._show_prompt_state()

    def action_resend(self) -> None:
        """Send the operator's last words again."""
        from gemini_live_runtime.commands import SendText

        said = (block.text.strip() for block in reversed(self._store.view.blocks) if block.kind == "user")
        text = next(filter(None, said), "")
        if not text:
            self.say("You have not said anything yet.", passing=True)
        elif ident := self.order(SendText(text=text)):
            self._unconfirmed[ident] = text

    # -- what comes back unsent --------------------------------------------------------------------------------------

    def refused(self, command_id: str, reason: str) -> None:
        """A command was not carried out: say why, and give typed text back."""
        front = self.app.screen
        if front is not self and isinstance(front, CommandScreen) and front.refused(command_id, reason):
            return
        text = self._unconfirmed.pop(command_id, None)
        self._store.dirty |= Dirty.CONTROLS
        if command_id and command_id == self._mode_command:
            # The focus went ahead of the engine's word: back to where the mode really is.
            self._mode_wanted = self._mode_command = ""
            self.set_focus(self.prompt if self._store.view.mode == "text" else self.transcript)
        if text is None:
            self.say(reason, "warning", passing=True)
        elif self.prompt.give_back(text):
            self.say(_not_sent(reason), "warning")
        else:
            self.say(f"{_not_sent(reason).rstrip('.')}. The text is in the prompt's history (up).", "warning")

    def _keep_unconfirmed(self) -> str:
        """Give back what was not confirmed as sent; a sentence about what did not fit the prompt."""
        waiting = [text for text in self._unconfirmed.values() if not self.prompt.give_back(text)]
        self._unconfirmed.clear()
        return f" {len(waiting)} unsent message(s) are in the prompt's history (up)." if waiting else ""


def _not_sent(reason: str) -> str:
    return reason if reason.startswith("Not sent") else f"Not sent: {reason}"
