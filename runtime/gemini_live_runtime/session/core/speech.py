"""Keep the user's voice until its words have come, or an answer without them."""

from __future__ import annotations

from gemini_live_runtime.records import mutable_record

LATE_WORDS_S = 3.0
"""Seconds after the end of an answer in which words without a mark of a voice may be of what it answered."""

LOCAL_HANG_OVER_S = 0.3
"""Seconds that the local voice mark waits before it marks the end of a voice (`audio.voice`)."""

CONTINUES_S = 1.0
"""Seconds of silence within one utterance: a server waits at least that long for more in most settings."""


@mutable_record
class SpokenInput:
    """Voice of the user without words so far. Times are clock seconds."""

    began: float | None = None
    ended: float | None = None
    turn: int = 0
    """Newest turn when it ended; what the model says in a later one may answer it."""
    peak_db: float | None = None
    """Highest level in dBFS, when known."""
    is_marked: bool = False
    """True when voices are marked in this session."""
    began_since_answer: bool = False
    """True when a voice began after the newest answer did."""

    def begin(self, now: float) -> None:
        """Note that the user begins to speak, or goes on after a pause."""
        self.is_marked = self.began_since_answer = True
        if self.began is None or self.ended is None or now - self.ended > CONTINUES_S:
            self.began, self.peak_db = now, None
        self.ended = None

    def end(self, until: float, turn: int, peak_db: float | None = None) -> None:
        """Note that the user was heard until `until`; no-op after words or another end."""
        if self.began is None or self.ended is not None:
            return
        self.ended, self.turn = max(self.began, until), turn
        if peak_db is not None:
            self.peak_db = peak_db if self.peak_db is None else max(self.peak_db, peak_db)

    def clear(self) -> None:
        """Forget it: its words came, something else is answered, or nothing was."""
        self.began = self.ended = self.peak_db = None

    def may_be_answered(self, since_turn_s: float | None) -> bool:
        """Return True for words that may be of speech that was answered before they came.

        `since_turn_s` is the time since the server ended an answer, None for never.
        """
        if self.is_marked:
            return not self.began_since_answer
        return since_turn_s is not None and since_turn_s < LATE_WORDS_S

    @property
    def seconds(self) -> float | None:
        """Length of the voice; None while it lasts, and without one."""
        return None if self.began is None or self.ended is None else self.ended - self.began
