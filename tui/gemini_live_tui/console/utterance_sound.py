"""Play the recorded sound of one utterance, with the microphone muted meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gemini_live_tui.actions import BY_ID
from gemini_live_tui.actions.keymap import key_label, keys_of
from gemini_live_tui.painting.formatting import clock_text
from gemini_live_tui.session_data.sound_playback import SoundPlayback
from gemini_live_tui.session_data.utterances import sound_span

if TYPE_CHECKING:
    from gemini_live_tui.console.command_sender import CommandSender
    from gemini_live_tui.console.notices import Notices
    from gemini_live_tui.context import ConsoleContext
    from gemini_live_tui.panes.transcript import Transcript

_SILENT = "silent: "


class UtteranceSound:
    """Player of the utterance that the transcript is at."""

    def __init__(
        self, console: ConsoleContext, sender: CommandSender, notices: Notices, transcript: Transcript
    ) -> None:
        self._console = console
        self._store = console.store
        self._sender = sender
        self._notices = notices
        self._transcript = transcript
        self._playback: SoundPlayback | None = None
        self._end = 0.0
        self._has_muted = False

    @property
    def is_playing(self) -> bool:
        """True while an utterance is played."""
        return self._playback is not None

    def action_play_utterance(self) -> None:
        """Play the utterance, or stop playing."""
        if self.stop():
            return
        store, block = self._store, self._transcript.utterance
        folder = store.hello.folder if store.hello is not None else ""
        span = sound_span(store.view, block) if block is not None else None
        if block is None:
            self._notices.say("There is nothing here that was said.", passing=True)
        elif block.typed:
            self._notices.say("It was typed: there is nothing to hear.", passing=True)
        elif span is None or not folder or store.history is None:
            self._notices.say("No sound of it was recorded.", passing=True)
        else:
            store.cursor.pause()
            self._mute()
            begin, self._end = span
            device = self._console.settings.devices()[1]
            self._playback = SoundPlayback(
                store.history, Path(folder), begin=begin, end=self._end, speed=1.0, device=device, on_change=store.wake
            )
            key = key_label(keys_of(BY_ID["play-utterance"], self._console.settings.keymap)[0])
            self._notices.say(f"Playing what was said at {clock_text(block.t)}; {key} stops.", passing=True)

    def follow(self) -> None:
        """End with the utterance, or tell why it is silent; called with every frame."""
        playback = self._playback
        if playback is None:
            return
        if playback.note.startswith(_SILENT):
            reason = playback.note.removeprefix(_SILENT).rstrip(".")
            self._notices.say(f"It cannot be heard: {reason}.", "warning", passing=True)
            self.stop()
        elif playback.position is not None and playback.position >= self._end - 0.05:
            self.stop()

    def stop(self) -> bool:
        """Stop playing; return False when nothing was played."""
        if self._playback is None:
            return False
        self._playback.stop()
        self._playback = None
        self._unmute()
        return True

    async def close(self) -> None:
        """Stop playing for good; return when the player process has ended."""
        playback = self._playback
        self.stop()
        if playback is not None:
            await playback.gone()

    def _mute(self) -> None:
        from gemini_live_runtime.commands import SetMicrophone

        view = self._store.view
        hears = view.microphone and view.mode == "voice" and bool(view.input_device)
        if self._store.live and not self._console.settings.replay and hears:
            self._has_muted = bool(self._sender.order(SetMicrophone(on=False)))

    def _unmute(self) -> None:
        from gemini_live_runtime.commands import SetMicrophone

        if self._has_muted and self._store.live:
            self._sender.order(SetMicrophone(on=True))
        self._has_muted = False
