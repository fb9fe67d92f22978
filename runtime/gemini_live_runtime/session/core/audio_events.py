"""Decide what follows from playback, voice marks, and devices that come and go."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.effects import Cut, Effect, Send
from gemini_live_runtime.session.core.microphone import apply_microphone, change_voice, end_audio_stream
from gemini_live_runtime.session.core.speech import LOCAL_HANG_OVER_S
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.wire import compose

_REMEDIES = {
    "input": "What you type is sent; your voice is not heard until a microphone opens.",
    "output": "Answers are shown as text until a speaker opens.",
}


class AudioEvents:
    """Sound's part of one session's core."""

    def __init__(self, state: CoreState) -> None:
        self._state = state

    def begin_stream(self) -> list[Effect]:
        """Return what must precede a stretch of microphone audio.

        Called before each chunk; empty after the first.
        """
        state = self._state
        if not state.streaming_audio:
            state.streaming_audio = True
            if state.manual_activity:
                state.out.append(Send(compose.activity_start()))
        out, state.out = state.out, []
        return out

    def on_kept_sent(self, now: float, *, has_speech: bool = False) -> list[Effect]:
        """Note that kept audio was sent; it ends here if the microphone was closed.

        `has_speech`: there is an utterance in it, to which the model may answer.
        """
        state, ends = self._state, self._state.streaming_audio and not self._state.taking_audio
        if ends or (has_speech and not (state.facts.voice or state.facts.speaking)):
            state.facts.answer_possible_since = now
        if ends:
            end_audio_stream(state)
        state.emit_outbox()
        return state.flush(now)

    def on_sound_waiting(self, now: float) -> list[Effect]:
        """Report sound that waits, or that a slow connection has dropped."""
        self._state.emit_outbox()
        return self._state.flush(now)

    def on_cut(self, now: float, cut: Cut, heard: int) -> list[Effect]:
        """Take what was heard of a generation whose playback was cut: `heard` samples."""
        state = self._state
        generation = state.ledger.get(cut.victim)
        if generation is None:
            return []
        generation.heard = max(generation.heard, heard)
        # Words that come in the same message, after the cut, are told after it.
        heard_text, unheard_text = generation.split_text(read=state.is_read(generation), chars=cut.chars)
        state.emit(
            ev.TurnInterrupted(
                by=cut.by,
                cut_below=cut.cut_below,
                heard_samples=generation.heard,
                unheard_samples=generation.unheard,
                heard_text=heard_text,
                unheard_text=unheard_text,
                rule=cut.rule,
            ),
            turn=cut.turn,
            gen=generation.number,
        )
        return state.flush(now)

    def on_opened(self, now: float, opened: ev.AudioOpened) -> list[Effect]:
        """Take the devices that opened; without a microphone use text mode.

        With one return to voice mode, if its absence had ended that.
        """
        state, reason = self._state, ""
        state.input_open, state.output_open = bool(opened.input), bool(opened.output)
        state.emit(opened)
        if not state.input_open:
            state.input_problem = opened.problems[0] if opened.problems else "No microphone is open"
            self._fall_to_text()
        elif state.voice_returns and not state.deaf_reason:
            state.mode, state.voice_returns = "voice", False
            reason = "there is a microphone again"
        apply_microphone(state, now)
        state.emit_controls("engine", reason)
        return state.flush(now)

    def _fall_to_text(self) -> None:
        """Switch to text mode until there is a microphone."""
        state = self._state
        if state.mode == "voice":
            state.mode, state.voice_returns = "text", True

    def server_is_deaf(self, now: float, reason: str) -> list[Effect]:
        """Keep the session in text mode: the server recognises no speech."""
        state = self._state
        state.deaf_reason = reason
        state.emit(ev.Notice(level="warning", code="recogniser", text=reason))
        if state.mode == "voice":
            state.mode = "text"
            apply_microphone(state, now)
            state.emit_controls("engine", reason)
        return state.flush(now)

    def on_device_lost(self, now: float, direction: str, reason: str) -> list[Effect]:
        """Go on without a device that was lost."""
        state = self._state
        lost: Literal["input", "output"] = "input" if direction == "input" else "output"
        if direction == "output":
            self._end_unheard()
        state.emit(ev.AudioLost(direction=lost, reason=reason, remedy=_REMEDIES[lost]))
        if direction == "input":
            state.input_open = False
            state.input_problem = reason
            state.facts.voice = False
            end_audio_stream(state)
            self._fall_to_text()
            state.emit_controls("engine", reason)
        else:
            state.output_open = False
            for gen in sorted(state.playing):
                state.tell_speeches(state.speeches.on_played(gen))
            state.playing.clear()
            state.end_barge_in()
            state.ledger.drain()
            state.facts.speaking = (
                state.ledger.audible() is not None and not state.ledger.current(state.turns.number).complete
            )
        apply_microphone(state, now)
        return state.flush(now)

    def _end_unheard(self) -> None:
        """Report the part of an answer that the lost loudspeaker did not play."""
        state = self._state
        generation = state.ledger.broken_off()
        if generation is None:
            return
        generation.broken_off = True
        heard_text, unheard_text = generation.split_text()
        state.emit(
            ev.TurnInterrupted(
                by="device",
                cut_below=state.ledger.cut_below,
                heard_samples=generation.heard,
                unheard_samples=generation.unheard,
                heard_text=heard_text,
                unheard_text=unheard_text,
            ),
            turn=generation.turn,
            gen=generation.number,
        )

    def on_voice(self, now: float, speaking: bool, peak_db: float | None = None) -> list[Effect]:
        """Take a change of the local voice mark; `peak_db` is the voice's peak (dBFS)."""
        state = self._state
        state.emit(ev.VoiceMarked(speaking=speaking))
        change_voice(state, now, speaking, late_s=LOCAL_HANG_OVER_S, peak_db=peak_db)
        if speaking and state.taking_audio:
            state.wake("your voice")
        return state.flush(now)

    def on_echo_warning(self, now: float, leaking: bool) -> list[Effect]:
        """Report that echo is reduced too little while the model plays, or again enough."""
        self._state.emit(ev.EchoLeaking(leaking=leaking))
        return self._state.flush(now)

    def on_playback_started(self, now: float, gen: int) -> list[Effect]:
        """Note that the device consumed the first sample of a generation."""
        state = self._state
        generation = state.ledger.get(gen)
        turn = generation.turn if generation is not None else state.turns.number
        state.emit(ev.PlaybackStarted(), turn=turn, gen=gen)
        return state.flush(now)

    def on_playback_heard(
        self, now: float, gen: int, first: int, count: int, heard_at: float | None = None
    ) -> list[Effect]:
        """Note that `count` samples of a generation were played, from `first` on.

        `heard_at` is the clock time (s) at which the last of them is heard.
        """
        state = self._state
        generation = state.ledger.get(gen)
        if generation is not None:
            generation.heard, generation.heard_at = max(generation.heard, first + count), now
            generation.broken_off = False
        late_ms = 0.0 if heard_at is None else round((now - heard_at) * 1000, 2)
        state.emit(ev.PlaybackHeard(of=gen, first=first, count=count, muted=not state.speaker_on, late_ms=late_ms))
        return state.flush(now)

    def on_playback_drained(self, now: float, gen: int) -> list[Effect]:
        """Note that all of a generation was played."""
        state = self._state
        generation = state.ledger.get(gen)
        if generation is not None and generation.drained and gen < state.ledger.cut_below:
            # It was reported when it was cut.
            return state.flush(now)
        state.end_playback(gen)
        if not state.playing:
            state.facts.speaking = False
            state.watchdog.on_sign(now)
        return state.flush(now)
