"""Derive the session's status word, such as "listening" or "thinking", from facts."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime.events import StateWord
from gemini_live_runtime.records import mutable_record

INTERRUPTED_SHOWN_S = 1.5
"""Seconds that the word stays "interrupted" without further events."""

WAIT_AFTER_VOICE_S = 3.0
"""Seconds after the user's voice for which the word is "thinking"; then it was not speech for the server."""

ANSWER_PATIENCE_S = 8.0
"""Seconds after the user's voice in which an answer may still begin; until then a session is not idle."""

RESULT_CROSSING_S = 1.0
"""Seconds after a tool's result in which the end of a turn may have crossed it on the wire."""

OWED_PATIENCE_S = 20.0
"""Seconds to wait for an answer that is owed, before the silence is reported or counts as the answer."""


@mutable_record
class StatusInputs:
    """Inputs of the state word; times are clock seconds, None when not the case."""

    status: Literal["offline", "connecting", "ready", "dormant", "error"] = "offline"
    why: str = ""
    speaking: bool = False
    paused: bool = False
    """True while the model's speech is paused, because the user seems to speak."""
    interrupted_at: float | None = None
    owed: bool = False
    """True when the model owes an answer to input that it has certainly received."""
    owed_at: float = 0.0
    calls_open: int = 0
    voice: bool = False
    answer_possible_since: float | None = None
    """Time of what the model may answer, until it does or `ANSWER_PATIENCE_S` is over.

    That is the end of the user's voice, or a tool's result that it may have got after the end of its turn.
    """
    microphone: bool = False
    """True when audio is being recorded: voice mode, not muted, a device open."""

    def word(self, now: float) -> tuple[StateWord, str]:
        """Return the word at `now` and a reason, which may be ""."""
        if self.status != "ready":
            return self.status, self.why
        if self.speaking and not self.paused:
            return "speaking", ""
        if self.interrupted_at is not None and now - self.interrupted_at < INTERRUPTED_SHOWN_S and not self.owed:
            return "interrupted", ""
        if self.voice and self.microphone:
            return "hearing", ""
        if self.calls_open:
            return "thinking", "running a tool"
        if self.owed or self.waiting(now):
            return "thinking", ""
        return ("listening", "") if self.microphone else ("text", self.why)

    def waiting(self, now: float) -> bool:
        """Return True so soon after what the model may answer that the word is "thinking"."""
        return self.answer_possible_since is not None and now - self.answer_possible_since < WAIT_AFTER_VOICE_S

    def next_change(self, now: float) -> float | None:
        """Return the seconds until time alone changes the word, or None if it does not."""
        if self.interrupted_at is None and self.answer_possible_since is None and not self.owed:
            return None
        ends = []
        if self.interrupted_at is not None:
            ends.append(self.interrupted_at + INTERRUPTED_SHOWN_S)
        if self.answer_possible_since is not None:
            ends += [self.answer_possible_since + WAIT_AFTER_VOICE_S, self.answer_possible_since + ANSWER_PATIENCE_S]
        if self.owed:
            ends.append(self.owed_at + OWED_PATIENCE_S)
        ahead = [end - now for end in ends if end > now]
        return min(ahead) if ahead else None
