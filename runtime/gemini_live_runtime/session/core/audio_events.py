"""The part of the core that hears the sound devices: playback, voice marks, devices that come and go."""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.base import CoreBase
from gemini_live_runtime.session.core.effects import (
    Effect,
)


class SoundSide(CoreBase):
    """What sound does to a session."""

    def audio_opened(self, now: float, opened: ev.AudioOpened) -> list[Effect]:
        """Sound was opened as far as it could be; without a microphone a voice session begins in text mode."""
        self.input_open = bool(opened.input)
        self._emit(opened)
        if not self.input_open:
            self._input_problem = opened.problems[0] if opened.problems else "No microphone is open"
            if self.mode == "voice":
                self.mode = "text"
        self._apply_microphone(now)
        self._emit_controls("engine")
        return self._flush(now)

    def nobody_listens(self, now: float, reason: str) -> list[Effect]:
        """The server recognises no speech: the session is typed, and stays so."""
        self._deaf = reason
        self._emit(ev.Notice(level="warning", code="recogniser", text=reason))
        if self.mode == "voice":
            self.mode = "text"
            self._apply_microphone(now)
            self._emit_controls("engine", reason)
        return self._flush(now)

    def device_lost(self, now: float, direction: str, reason: str) -> list[Effect]:
        """A device vanished: the session goes on without it."""
        self._emit(ev.AudioLost(direction="input" if direction == "input" else "output", reason=reason))
        if direction == "input":
            self.input_open = False
            self._input_problem = reason
            self._facts.voice = False
            self._end_audio_stream()
            if self.mode == "voice":
                self.mode = "text"
            self._emit_controls("engine", reason)
        else:
            self._playing.clear()
            self.ledger.drain()
            self._facts.speaking = (
                self.ledger.audible() is not None and not self.ledger.current(self.turns.number).complete
            )
        self._apply_microphone(now)
        return self._flush(now)

    def voice(self, now: float, speaking: bool) -> list[Effect]:
        """The local voice mark changed."""
        self._emit(ev.VoiceMarked(speaking=speaking))
        self._voice_changed(now, speaking)
        return self._flush(now)

    def echo_warning(self, now: float, leaking: bool) -> list[Effect]:
        """Echo is reduced too little while the model plays, or again enough."""
        self._emit(ev.EchoLeaking(leaking=leaking))
        return self._flush(now)

    def playback_started(self, now: float, gen: int) -> list[Effect]:
        """The device consumed the first sample of a generation."""
        generation = self.ledger.get(gen)
        turn = generation.turn if generation is not None else self.turns.number
        self.turns.heard(turn, now)
        self._emit(ev.PlaybackStarted(), turn=turn, gen=gen)
        return self._flush(now)

    def playback_heard(self, now: float, gen: int, first: int, count: int) -> list[Effect]:
        """The device consumed samples of a generation."""
        generation = self.ledger.get(gen)
        if generation is not None:
            generation.heard = max(generation.heard, first + count)
        self._emit(ev.PlaybackHeard(of=gen, first=first, count=count, muted=not self.speaker_on))
        return self._flush(now)

    def playback_drained(self, now: float, gen: int) -> list[Effect]:
        """Everything of a generation was played."""
        self._playing.discard(gen)
        generation = self.ledger.get(gen)
        if generation is not None:
            generation.drained = True
        if not self._playing:
            self._facts.speaking = False
        self._emit(ev.PlaybackDrained(of=gen))
        return self._flush(now)
