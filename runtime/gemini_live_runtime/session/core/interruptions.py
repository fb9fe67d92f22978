"""Decide what becomes of the user's voice over the model's speech.

Our own detector passes on a voice that has lasted long enough. From then on the speech is paused, until it is certain:
words interrupt it, or the server, or another answer; silence without words lets it go on from its next sample.
"""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.barge_in import BargeIn
from gemini_live_runtime.session.core.effects import Effect, Pause
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.turn_rules import FALSE_INTERRUPTION_TIMEOUT_S


class Interruptions:
    """Interruptions' part of one session's core."""

    def __init__(self, state: CoreState) -> None:
        self._state = state

    # -- the voice ---------------------------------------------------------------------------------------------------

    def on_voice_over(self, now: float, voice_s: float) -> list[Effect]:
        """Take a voice over the model that our detector passes on, and that goes on."""
        state, victim = self._state, self._state.ledger.audible()
        if state.barge_in is not None:
            state.barge_in.ended = None
        elif victim is not None and not state.ended:
            state.barge_in = BargeIn(victim.number, victim.turn, voice_s)
            # What has no sound cannot be paused.
            if state.rules.false_interruption_timeout_s is not None and victim.number in state.playing:
                state.barge_in.is_paused = state.facts.paused = True
                state.out.append(Pause(True, victim.number))
        return state.flush(now)

    def on_voice_ended(self, now: float) -> list[Effect]:
        """Note that the user's turn ended: words may come for a while."""
        if self._state.barge_in is not None:
            self._state.barge_in.ended = now
        return self._state.flush(now)

    def on_too_short(self, now: float, voice_s: float, needed_s: float) -> list[Effect]:
        """Report a voice over the model that was too short to be passed on."""
        victim = self._state.ledger.audible()
        if victim is not None:
            self._state.ignore_interruption("duration", victim.number, voice_s=voice_s, needed=needed_s)
        return self._state.flush(now)

    # -- what it turns out to be -------------------------------------------------------------------------------------

    def on_words(self, now: float, text: str) -> None:
        """Take words of the user's; enough of them interrupt the model."""
        state, open_one = self._state, self._state.barge_in
        if open_one is None:
            return
        open_one.text += text
        may_cut = (open_one.is_paused or state.decides_interruptions) and not state.speeches.is_protected
        if may_cut and open_one.words >= self._needed_words:
            self._interrupt(now, "words" if state.rules.min_interruption_words else "duration")

    def on_generation(self, now: float) -> None:
        """Take the first frame of another answer, which ends what is paused."""
        state, open_one = self._state, self._state.barge_in
        if open_one is None or state.ledger.number == open_one.gen:
            return
        if state.turns.is_open and state.turns.number == open_one.turn:
            # It goes on after a tool.
            return
        if open_one.is_paused and self._needed_words == 1 and not state.speeches.is_protected:
            self._interrupt(now, "duration")
        else:
            # It answers fewer words than interrupt, and waits behind what is being said.
            self._let_go()

    def _interrupt(self, now: float, rule: Literal["words", "duration"]) -> None:
        state = self._state
        state.cut("voice", now, rule)
        if state.turns.is_open and state.turns.has_content:
            state.close_turn("interrupted")

    @property
    def _needed_words(self) -> int:
        return max(1, self._state.rules.min_interruption_words)

    # -- time --------------------------------------------------------------------------------------------------------

    def next_check(self, now: float) -> float | None:
        """Return the seconds until what is paused goes on, or None."""
        state, open_one = self._state, self._state.barge_in
        if open_one is not None and open_one.is_paused and state.speeches.is_protected:
            # It was protected in the pause.
            return 0.0
        if open_one is None or open_one.ended is None or state.facts.voice:
            return None
        timeout_s = state.rules.false_interruption_timeout_s
        return max(0.0, open_one.ended + (timeout_s or FALSE_INTERRUPTION_TIMEOUT_S) - now)

    def tick(self, now: float) -> None:
        """Let the speech go on when no words came in time."""
        wait_s = self.next_check(now)
        if wait_s is not None and wait_s <= 0:
            self._let_go()

    def _let_go(self) -> None:
        state, open_one = self._state, self._state.barge_in
        if open_one is None:
            return
        if open_one.is_paused or state.decides_interruptions:
            rule: Literal["protected", "words", "false"] = "words" if open_one.words else "false"
            if state.speeches.is_protected:
                rule = "protected"
            voice_s = state.speech.seconds or open_one.voice_s
            needed = self._needed_words
            state.ignore_interruption(rule, open_one.gen, voice_s=voice_s, words=open_one.words, needed=needed)
        state.end_barge_in(goes_on=True)

    def on_paused(self, now: float, pause: Pause, at: int) -> list[Effect]:
        """Take the samples that were consumed of what was paused, or goes on."""
        state = self._state
        generation = state.ledger.get(pause.gen)
        turn = state.turns.number if generation is None else generation.turn
        payload = ev.PlaybackPaused(of=pause.gen, at=at) if pause.on else ev.PlaybackResumed(of=pause.gen, at=at)
        state.emit(payload, turn=turn, gen=pause.gen)
        return state.flush(now)
