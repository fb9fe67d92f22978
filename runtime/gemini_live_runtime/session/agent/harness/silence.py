"""Find the silence in which the model may begin to speak by itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.core.status import OWED_PATIENCE_S

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext

LULL_S = 1.5
"""Least silence, in seconds: the user may want to answer what was said."""

_LULL = "a short silence is awaited"
_ANSWER = "the user may still be answered"


class Silence:
    """Signs of speech by user and model, and how long each is waited for."""

    def __init__(self, agent: AgentContext) -> None:
        self._agent = agent
        self._last_sign = agent.clock.now()
        """Time of the newest sign of speech, by either side."""
        self._voice_ended: float | None = None
        """Time at which the user's voice ended; None once the model has spoken since."""
        self._is_playing = self._is_over_model = False
        """True while the model is heard; and when the voice began while it was, which may be its echo."""

    def subscribe(self) -> None:
        """Follow the session's events."""
        subscribe = self._agent.bus.subscribe
        subscribe(self._on_words, ev.TranscriptDelta, ev.TextSent)
        subscribe(
            self._on_sign, ev.PlaybackDrained, ev.TurnCompleted, ev.TurnInterrupted, ev.VoiceMarked, ev.ConnectionReady
        )
        subscribe(self._on_playback, ev.PlaybackStarted, ev.PlaybackDrained, ev.TurnInterrupted)

    def awaited(self, now: float) -> str:
        """Return what is waited for at `now`, "" for nothing."""
        return next((reason for reason, end in self.ends() if now < end), "")

    def ends(self) -> Iterator[tuple[str, float]]:
        """Yield what is waited for, and until when."""
        yield _LULL, self._last_sign + max(LULL_S, self._agent.host.rules.min_speech_gap_s)
        if self._voice_ended is not None:
            # The answer of a slow server would be taken for what the model says by itself.
            yield _ANSWER, self._voice_ended + OWED_PATIENCE_S

    def _on_words(self, event: ev.Event) -> None:
        said = event.payload
        if isinstance(said, ev.TranscriptDelta) and said.side == "model":
            self._voice_ended = None
        if is_of_user(said):
            self._last_sign = self._agent.clock.now()

    def _on_playback(self, event: ev.Event) -> None:
        self._is_playing = isinstance(event.payload, ev.PlaybackStarted)

    def _on_sign(self, event: ev.Event) -> None:
        self._last_sign = self._agent.clock.now()
        if isinstance(event.payload, ev.VoiceMarked):
            is_answerable = not (event.payload.speaking or self._is_over_model)
            self._is_over_model = event.payload.speaking and self._is_playing
            self._voice_ended = self._last_sign if is_answerable else None


def is_of_user(said: ev.Payload) -> bool:
    """Return True for words of the user, typed or spoken."""
    return isinstance(said, ev.TextSent) or (
        isinstance(said, ev.TranscriptDelta) and said.side == "user" and said.text.strip() != ""
    )
