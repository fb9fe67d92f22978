"""The session's decisions: what happened goes in, effects come out. No I/O, no clock of its own.

Every public method takes the time (`now`, clock seconds) and returns the effects to perform, in order. The runner
performs them and reports back.
"""

from __future__ import annotations

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.audio_events import SoundSide
from gemini_live_runtime.session.core.commands import OperatorSide
from gemini_live_runtime.session.core.effects import (
    Effect,
)
from gemini_live_runtime.session.core.server_events import ServerSide
from gemini_live_runtime.session.core.status import ANSWER_PATIENCE_S, OWED_PATIENCE_S


class SessionCore(ServerSide, SoundSide, OperatorSide):
    """The core of one session, whole."""

    @property
    def quiet(self) -> bool:
        """Nothing is going on and nothing is owed: the moment to stop, or to send the next scripted text."""
        facts = self._facts
        return (
            facts.status in ("ready", "error")
            and not self.turns.is_open
            and not self._playing
            and not len(self._calls)
            and not self._queued_texts
            and not facts.voice
            and not facts.owed
            and facts.voice_ended_at is None
        )

    def deadline(self, now: float) -> float | None:
        """Seconds until `tick` has something to do; None when nothing depends on time."""
        change = self._facts.next_change(now)
        check = self._limits.next_check((now - self._started_at) / 60)
        if change is None or check is None:
            return check if change is None else change
        return min(change, check)

    def tick(self, now: float) -> list[Effect]:
        """Time passed."""
        facts = self._facts
        if facts.voice_ended_at is not None and now - facts.voice_ended_at >= ANSWER_PATIENCE_S:
            facts.voice_ended_at = None
            if not self.turns.is_open:
                self.turns.input_ended_at = None
        if facts.owed and now - facts.owed_at >= OWED_PATIENCE_S and not len(self._calls):
            self._answer_missing()
        self._check_limits(now)
        return self._flush(now)

    def _answer_missing(self) -> None:
        """Nothing came: to speech that may be an answer, typed text was asked."""
        self._facts.owed = False
        if self.turns.opened_by == "voice":
            self._close_turn("empty", reason="no answer")
            return
        text = f"The model has not answered for {OWED_PATIENCE_S:.0f} s"
        self._emit(ev.Notice(level="warning", code="no-answer", text=text, remedy="Wait, or send it again"))
