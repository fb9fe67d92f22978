"""The one word that says what a session is doing, from plain facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gemini_live_runtime.events import StateWord

INTERRUPTED_SHOWN_S = 1.5
"""How long `interrupted` stays when nothing else happens."""

WAIT_AFTER_VOICE_S = 3.0
"""How long after the user's voice the model is taken to be thinking; then it was not speech for the server."""

ANSWER_PATIENCE_S = 8.0
"""How long after the user's voice an answer may still come: until then a session is not quiet."""

OWED_PATIENCE_S = 20.0
"""How long an answer that is owed is waited for before the silence is said, or taken as the answer."""


@dataclass(slots=True)
class Facts:
    """What the word depends on. Times are clock seconds; None is "not so"."""

    status: Literal["offline", "connecting", "ready", "error"] = "offline"
    why: str = ""
    speaking: bool = False
    interrupted_at: float | None = None
    owed: bool = False
    """The model owes an answer to something it has certainly received."""
    owed_at: float = 0.0
    calls_open: int = 0
    voice: bool = False
    voice_ended_at: float | None = None
    """When the user's voice ended, until the server reacts to it or `ANSWER_PATIENCE_S` is over."""
    microphone: bool = False
    """Audio is being taken: voice mode, not muted, a device open."""

    def word(self, now: float) -> tuple[StateWord, str]:
        """The word at `now`, with a reason where it helps."""
        if self.status != "ready":
            return self.status, self.why
        if self.speaking:
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
        """Whether the user's voice ended so recently that an answer may be on its way."""
        return self.voice_ended_at is not None and now - self.voice_ended_at < WAIT_AFTER_VOICE_S

    def next_change(self, now: float) -> float | None:
        """Seconds until time alone changes the word; None when it will not."""
        if self.interrupted_at is None and self.voice_ended_at is None and not self.owed:
            return None
        ends = []
        if self.interrupted_at is not None:
            ends.append(self.interrupted_at + INTERRUPTED_SHOWN_S)
        if self.voice_ended_at is not None:
            ends += [self.voice_ended_at + WAIT_AFTER_VOICE_S, self.voice_ended_at + ANSWER_PATIENCE_S]
        if self.owed:
            ends.append(self.owed_at + OWED_PATIENCE_S)
        ahead = [end - now for end in ends if end > now]
        return min(ahead) if ahead else None
