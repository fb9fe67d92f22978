"""Give up a speech that was interrupted before the model began it.

It is cut as soon as it begins. A server that never begins it must not keep those waiting who wait for its end, so after
a few seconds it is over without an answer; one that comes later is cut all the same.
"""

from __future__ import annotations

from gemini_live_runtime.session.core.effects import Effect
from gemini_live_runtime.session.core.speech_queue import Speech
from gemini_live_runtime.session.core.state import CoreState
from gemini_live_runtime.session.core.status import OWED_PATIENCE_S

CANCEL_PATIENCE_S = 5.0
"""Seconds in which a cancelled speech may still begin, and be cut."""


class CancelledSpeeches:
    """Cancelled speeches' part of one session's core."""

    def __init__(self, state: CoreState) -> None:
        self._state = state

    def cancel(self, now: float, speech: Speech) -> list[Effect]:
        """Let nothing be heard of a speech that was asked for."""
        if speech.cancelled_at is None:
            speech.cancelled_at = now
        return self._state.flush(now)

    def next_check(self, now: float) -> float | None:
        """Return seconds until `tick` gives a speech up, or None."""
        state, speech = self._state, self._state.speeches.cancelled
        # The result of a call asks for it anew.
        if speech is None or speech.cancelled_at is None or state.calls.in_foreground:
            return None
        return max(0.0, max(speech.cancelled_at, state.facts.owed_at) + CANCEL_PATIENCE_S - now)

    def tick(self, now: float) -> None:
        """Give up a cancelled speech that has not begun in time."""
        wait = self.next_check(now)
        if wait is not None and wait <= 0:
            asked_at = self._state.facts.owed_at
            give_up(self._state)
            self._state.unwanted_until = asked_at + OWED_PATIENCE_S


def give_up(state: CoreState) -> None:
    """End a cancelled speech, if there is one: no other connection is asked for it."""
    speech = state.speeches.cancelled
    if speech is None:
        return
    count = len(state.unanswered)
    state.unanswered = [item for item in state.unanswered if item.command_id != speech.id]
    has_text = len(state.unanswered) < count
    state.tell_speeches(state.speeches.on_given_up())
    if state.unanswered:
        # The answer that is owed is the user's.
        return
    state.prompted = state.facts.owed = False
    if has_text:
        state.close_turn("interrupted")
