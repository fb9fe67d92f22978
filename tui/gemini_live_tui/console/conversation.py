"""Send what the operator types or switches, and give back text that was not sent."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from gemini_live_runtime.journal.fold.view import NOT_UNDERSTOOD, Dirty
from gemini_live_runtime.records import record
from gemini_live_runtime.text import sanitise, sanitise_line
from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.context import CommandScreen

if TYPE_CHECKING:
    from textual.screen import Screen

    from gemini_live_runtime.events import Event
    from gemini_live_tui.console.command_sender import CommandSender
    from gemini_live_tui.console.notices import Notices
    from gemini_live_tui.console.prompt_pane import PromptPane
    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.messages import Level
    from gemini_live_tui.panes.transcript import Transcript


@record
class Unconfirmed:
    """Text on its way to the engine, as it was `said` and as it was `written`.

    Its block in the transcript, once it has one, has the number `first_block` or a later one.
    """

    said: str
    written: str
    first_block: int


class Conversation:
    """Text and voice mode, microphone, speaker, and messages to the engine.

    A sent message stays in `_unconfirmed` until its event arrives; after a refusal or a lost link its text returns to
    the prompt, or to the prompt's history.
    """

    def __init__(
        self,
        console: ConsoleContext,
        screen: Screen[None],
        sender: CommandSender,
        notices: Notices,
        prompt_pane: PromptPane,
        transcript: Transcript,
    ) -> None:
        self._store = console.store
        self._settings = console.settings
        self._screen = screen
        self._sender = sender
        self._notices = notices
        self._pane = prompt_pane
        self._transcript = transcript
        self._max_text = 0
        """Characters that can be sent at once; 0 before `listen`."""
        self._unconfirmed: dict[str, Unconfirmed] = {}
        """Texts by the id of the command that sends them, oldest first."""
        self._shown_mode = "voice"
        self._wanted_mode = ""
        self._mode_command = ""
        self._end_reported = False
        self._missed_reported = 0
        self._reattached_reported = ""
        self._silence_reported = False
        self._epoch = 0

    def listen(self) -> None:
        """Subscribe to confirmations, refusals and the engine's error notices."""
        from gemini_live_runtime.commands import MAX_TEXT, Interrupt
        from gemini_live_runtime.events import CommandRefused, Notice, TextSent

        self._max_text = MAX_TEXT

        def on_text_sent(event: Event) -> None:
            if isinstance(event.payload, TextSent):
                self._unconfirmed.pop(event.payload.command_id, None)
                self._store.dirty |= Dirty.CONTROLS

        def on_refused(event: Event) -> None:
            # An interruption that comes after the model's end has nothing left to do.
            if isinstance(event.payload, CommandRefused) and event.payload.command != Interrupt.command:
                self.refused(event.payload.command_id, event.payload.reason)

        def on_notice(event: Event) -> None:
            payload = event.payload
            if isinstance(payload, Notice) and payload.level == "error":
                self._notices.say(f"{payload.text.rstrip('.')}. {payload.remedy}".strip(), "error")
            elif isinstance(payload, Notice) and payload.code == "journal-recovered":
                # It takes the place of the error that the recording fails, which no longer holds.
                self._notices.say(payload.text, payload.level)

        self._store.listen(TextSent, on_text_sent)
        self._store.listen(CommandRefused, on_refused)
        self._store.listen(Notice, on_notice)

    # -- mode, microphone, speaker -----------------------------------------------------------------------------------

    @property
    def _mode(self) -> str:
        return self._wanted_mode or self._store.view.mode

    def _focus_for(self, mode: str) -> None:
        self._screen.set_focus(self._pane.prompt if mode == "text" else self._transcript)

    def action_toggle_text_mode(self) -> None:
        """Switch between text and voice mode."""
        self.action_set_mode("voice" if self._mode == "text" else "text")

    def action_set_mode(self, wanted: str) -> None:
        """Switch to a mode.

        The focus moves before the engine confirms, so that typing goes to the right place.
        """
        from gemini_live_runtime.commands import SetMode

        ident = self._sender.order(SetMode(mode="text" if wanted == "text" else "voice"))
        if ident:
            self._wanted_mode, self._mode_command = wanted, ident
            self._focus_for(wanted)

    def follow_mode(self) -> None:
        """Move the focus after a change of mode from any side."""
        mode = self._store.view.mode
        if mode != self._shown_mode and not self._settings.replay:
            asked, self._shown_mode, self._wanted_mode = bool(self._wanted_mode), mode, ""
            # The voice may return by itself, with a device: what is being typed must not turn into commands.
            if asked or mode == "text":
                self._focus_for(mode)

    def action_mute(self) -> None:
        """Turn the microphone off or on; explain that text mode keeps it off."""
        from gemini_live_runtime.commands import SetMicrophone

        view = self._store.view
        if view.mode == "text":
            key = self._pane.text_key
            self._notices.say(f"The microphone is off in text mode; {key} turns it on.", passing=True)
        else:
            self._sender.order(SetMicrophone(on=not view.microphone))

    def action_mute_speaker(self) -> None:
        """Turn the speaker off or on."""
        from gemini_live_runtime.commands import SetSpeaker

        self._sender.order(SetSpeaker(on=not self._store.view.speaker))

    # -- sending -----------------------------------------------------------------------------------------------------

    def keep_command(self, text: str) -> None:
        """Return a faulty command to the prompt for correction."""
        if self._pane.prompt.give_back(text):
            self._screen.set_focus(self._pane.prompt)

    @property
    def is_answering(self) -> bool:
        """True while the model's answer is awaited or heard."""
        store = self._store
        is_live = not self._settings.replay and store.live
        return is_live and (store.view.playing or store.word in ("speaking", "thinking"))

    def stop_speech(self) -> None:
        """Stop the model's answer; nothing happens while it is silent."""
        from gemini_live_runtime.commands import Interrupt

        if self.is_answering:
            self._sender.order(Interrupt())

    def action_say(self, text: str, *, written: str = "") -> None:
        """Send a message.

        Text that cannot be sent returns to the prompt as it was `written`.
        """
        from gemini_live_runtime.commands import SendText

        written = written or f"/say {text}"
        size = len(text)
        if size > self._max_text > 0:
            self._pane.prompt.give_back(written)
            self._notices.say(
                f"The message has {size:,} characters, {self._max_text:,} can be sent at once. Shorten it.", "warning"
            )
            return
        ident = self._sender.order(SendText(text=text))
        if not ident:
            self._pane.prompt.give_back(written)
            return
        self._await_confirmation(ident, text, written)
        self._return_to_live()
        self._transcript.scroll_by("end")
        self.show_prompt()

    def action_connect(self) -> None:
        """Make a lost or refused connection again."""
        from gemini_live_runtime.commands import Connect

        self._sender.order(Connect())

    def action_resend(self) -> None:
        """Send the oldest message again that was lost, else the operator's last one."""
        from gemini_live_runtime.commands import SendText

        view, on_their_way = self._store.view, {text.said for text in self._unconfirmed.values()}
        were_lost = view.lost()
        blocks = were_lost or [block for block in reversed(view.blocks) if block.kind == "user"]
        texts = [block.text.strip() for block in blocks if block.status != NOT_UNDERSTOOD]
        if were_lost:
            texts = [text for text in texts if sanitise(text) not in on_their_way]
        text = next(filter(None, texts), "")
        if not text and were_lost:
            return
        if not text:
            self._notices.say("You have not said anything yet.", passing=True)
        elif ident := self._sender.order(SendText(text=text)):
            self._await_confirmation(ident, text, text)
            self._return_to_live()

    def _return_to_live(self) -> None:
        """Leave the past: the message and its answer are in the present."""
        if self._store.cursor.seq is not None:
            self._store.cursor.live()
            self._store.wake()

    def _await_confirmation(self, ident: str, said: str, written: str) -> None:
        self._unconfirmed[ident] = Unconfirmed(sanitise(said), written, self._store.view.next_block)

    def _confirm_by_view(self) -> None:
        """Take texts that another view has for confirmed, each block for one of them.

        Their events may have been missed.
        """
        typed = [block for block in self._store.view.blocks if block.typed]
        for ident, text in list(self._unconfirmed.items()):
            for block in typed:
                if block.id >= text.first_block and block.text == text.said:
                    typed.remove(block)
                    del self._unconfirmed[ident]
                    break

    def show_prompt(self) -> None:
        """Update the placeholder, the unconfirmed messages and the length of a long text."""
        if not self._settings.replay:
            self._pane.show(self._store.view.mode, sending=len(self._unconfirmed), limit=self._max_text)

    def on_typed(self) -> None:
        """Update the prompt's frame once the text comes near the limit."""
        if len(self._pane.prompt.text) > self._max_text * 0.75 > 0:
            self.show_prompt()

    # -- refusals and the end ----------------------------------------------------------------------------------------

    def refused(self, command_id: str, reason: str) -> None:
        """Show why a command was refused, and return its text to the prompt."""
        front = self._screen.app.screen
        if front is not self._screen and isinstance(front, CommandScreen) and front.refused(command_id, reason):
            return
        unconfirmed = self._unconfirmed.pop(command_id, None)
        self._store.dirty |= Dirty.CONTROLS
        if command_id and command_id == self._mode_command:
            # The focus moved before the engine's answer: move it back.
            self._wanted_mode = self._mode_command = ""
            self._focus_for(self._store.view.mode)
            if not self._store.view.input_device:
                key = key_label(keys_of(BY_ID["devices"], self._settings.keymap)[0])
                reason = f"{reason.rstrip('.')}. {key} chooses a microphone."
        if unconfirmed is None:
            self._notices.say(reason, "warning", passing=True)
            return
        text = unconfirmed.written
        sentence = reason if reason.startswith("Not sent") else f"Not sent: {reason}"
        if not self._pane.prompt.give_back(text):
            sentence = f"{sentence.rstrip('.')}. The text is in the prompt's history (up)."
        self._notices.say(sentence, "warning")

    def report_end(self) -> None:
        """Show once how the session ended, and give unconfirmed text back.

        Lost events are reported whenever their number grows.
        """
        store = self._store
        if store.missed > self._missed_reported:
            self._missed_reported = store.missed
            self._notices.say(f"{store.missed} events did not arrive, what is shown may be incomplete.", "warning")
        if store.epoch != self._epoch:
            self._epoch = store.epoch
            self._confirm_by_view()
        if store.reattached != self._reattached_reported:
            self._reattached_reported = store.reattached
            self._notices.keep(store.reattached, "info")
            self._notices.say(store.reattached, passing=True)
        if store.is_silent != self._silence_reported:
            self._silence_reported = store.is_silent
            self._report_silence()
        if self._end_reported or (self._settings.replay and store.bye is not None):
            return
        quit_key = key_label(keys_of(BY_ID["quit"], self._settings.keymap)[0])
        level: Level = "error"
        if store.lost:
            what = "The session was cut off" if store.hello is not None else "No session"
            if store.goes_on:
                what = "This console has lost the session, which goes on"
            message = f"{what}: {store.lost.rstrip('.')}. Everything stays on screen; {quit_key} quits."
        elif store.bye is not None:
            reason = (store.bye.reason or store.view.ended or "ended").rstrip(".")
            level = "error" if store.bye.exit_code else "info"
            message = f"The session is over: {reason}. {quit_key} quits."
        else:
            return
        self._end_reported = True
        self._notices.say(f"{message}{self._give_back_unconfirmed()}", level)

    def _report_silence(self) -> None:
        store = self._store
        if store.is_silent:
            name = f"stop {sanitise_line(store.hello.session_id)} ends" if store.hello is not None else "ps shows"
            since = time.strftime("%H:%M:%S", time.localtime(store.silent_since))
            text = f"No answer from the engine since {since}. The session goes on here when it answers"
            text = f"{text}; gemini-live-tui {name} it."
            self._notices.say(text, "error")
        elif not store.lost and store.bye is None:
            self._notices.say("The engine answers again.", passing=True)

    def _give_back_unconfirmed(self) -> str:
        waiting = [text for text in self._unconfirmed.values() if not self._pane.prompt.give_back(text.written)]
        self._unconfirmed.clear()
        return f" {len(waiting)} unsent message(s) are in the prompt's history (up)." if waiting else ""
