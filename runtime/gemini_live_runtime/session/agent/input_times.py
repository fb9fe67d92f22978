"""Tell when the user began to say or type what arrives later.

The words of a voice come after its sound, even after the turn in which it was heard, and a typed text waits for its
connection; a turn opens only then. What was presented in between is not what the user answered. Moments are sequence
numbers of the state, so that they compare with the mark of a presentation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.records import mutable_record
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S, WAIT_AFTER_VOICE_S
from gemini_live_runtime.state.store import State

if TYPE_CHECKING:
    from gemini_live_runtime.session.ports.event_bus import EventBus


@mutable_record
class _Voice:
    """The user's latest voice, until its words have come and were answered."""

    began: int
    source: str
    turn: int
    """Newest turn when the voice was last marked."""
    marked_at: float
    """Clock time (s) of the latest mark of its beginning or end."""
    is_on: bool = True
    has_words: bool = False
    rests: int = 0
    """Times that it began anew before any words: those that come first may be of its first part only."""
    is_answered: bool = False
    """True when the model completed a later turn, without any words of this voice."""


class InputTimes:
    """Moments at which the user's input began, for input whose words have not come."""

    def __init__(self, state: State, now: Callable[[], float]) -> None:
        self._state = state
        self._now = now
        self._typed: list[tuple[str, int, float]] = []
        """Command id, moment and clock time (s) of each text that was not sent yet, in order."""
        self._voice: _Voice | None = None

    def subscribe(self, bus: EventBus) -> None:
        """Follow a session's events."""
        bus.subscribe(self._on_voice, ev.VoiceMarked)
        bus.subscribe(self._on_turn_completed, ev.TurnCompleted)
        bus.subscribe(self._on_connection_closed, ev.ConnectionClosed)
        bus.subscribe(self._on_refused, ev.CommandRefused)

    # -- typed texts -------------------------------------------------------------------------------------------------

    def on_typed(self, command_id: str) -> None:
        """Note that the user typed a text, which may wait for its connection."""
        self._typed.append((command_id, self._state.sequence, self._now()))

    def on_text_sent(self, command_id: str) -> tuple[int, float]:
        """Return when the text that was sent now was typed: moment and clock time (s)."""
        for at, (typed_id, moment, typed_at) in enumerate(self._typed):
            if typed_id == command_id:
                del self._typed[at]
                return moment, typed_at
        return self._state.sequence, self._now()

    def _on_refused(self, event: ev.Event) -> None:
        refused = event.payload
        if isinstance(refused, ev.CommandRefused):
            self.on_text_sent(refused.command_id)

    # -- the voice ---------------------------------------------------------------------------------------------------

    def on_words(self) -> int:
        """Return the moment at which the user began to say the words that came now.

        That is the beginning of the latest voice. Without one, or long after it, it is now.
        """
        voice = self._voice
        if voice is None or not (voice.is_on or self._now() - voice.marked_at <= ANSWER_PATIENCE_S):
            return self._state.sequence
        voice.has_words = True
        return voice.began

    def on_activity(self, begins: bool, turn: int) -> None:
        """Note that the client began the user's turn, or ended it."""
        if not (begins and self._voice is not None and self._voice.is_on):
            self._mark(begins, "client", turn)

    def _on_voice(self, event: ev.Event) -> None:
        mark = event.payload
        assert isinstance(mark, ev.VoiceMarked)
        self._mark(mark.speaking, mark.source, event.turn)

    def _mark(self, begins: bool, source: str, turn: int) -> None:
        now, voice = self._now(), self._voice
        if not begins:
            if voice is not None:
                voice.is_on, voice.marked_at, voice.turn = False, now, turn
        elif voice is not None and voice.is_on and voice.source != source:
            return  # Two detectors mark the same voice.
        elif voice is None or not self._may_go_on(voice, now):
            self._voice = _Voice(self._state.sequence, source, turn, now)
        else:
            voice.is_on, voice.source, voice.marked_at, voice.turn = True, source, now, turn
            voice.rests += 1

    def _may_go_on(self, voice: _Voice, now: float) -> bool:
        """Return True when a voice that begins now may be the rest of `voice`.

        Its words may still come, too. But a noise must not have every later voice taken for one that began with it.
        """
        return not (voice.has_words or voice.is_answered or now - voice.marked_at > WAIT_AFTER_VOICE_S)

    def _on_turn_completed(self, event: ev.Event) -> None:
        completed, voice = event.payload, self._voice
        assert isinstance(completed, ev.TurnCompleted)
        if voice is None:
            return
        is_complete = completed.outcome == "complete"
        if voice.has_words and (is_complete or not voice.is_on):
            if voice.rests:
                voice.rests, voice.has_words = voice.rests - 1, False
            else:
                self._voice = None
        elif is_complete and event.turn > voice.turn:
            voice.is_answered = True
            self._end_voice()

    def _on_connection_closed(self, event: ev.Event) -> None:
        # The server that would mark its end is gone.
        self._end_voice()

    def _end_voice(self) -> None:
        voice = self._voice
        if voice is not None and voice.is_on:
            voice.is_on, voice.marked_at = False, self._now()
