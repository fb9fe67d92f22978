"""Know when calls of the model follow from a notification, and not from the user."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext
    from gemini_live_runtime.session.core.speech_queue import Speech


class NotifiedCalls:
    """Cause of one session's calls.

    The model may act on a notification in a later turn, such as one that tells the result of a harmless tool. So calls
    follow from it until the user says something, or the program asks for a reply.
    """

    def __init__(self, agent: AgentContext) -> None:
        self._is_last_asked = False
        """True when nothing was said by the user, nor asked for by the program, since a notification."""
        subscribe = agent.bus.subscribe
        subscribe(self._on_speech, ev.SpeechChanged)
        subscribe(self._on_words, ev.TranscriptDelta, ev.TextSent)

    def on_recorded(self, recorded: Iterable[ev.Event]) -> None:
        """Follow the events of the engine before, with whose session this one goes on."""
        for event in recorded:
            if isinstance(event.payload, ev.SpeechChanged):
                self._on_speech(event)
            elif isinstance(event.payload, ev.TranscriptDelta | ev.TextSent):
                self._on_words(event)

    def includes(self, speech: Speech | None) -> bool:
        """Return True when calls in `speech`, the present one, follow from a notification."""
        return self._is_last_asked or (speech is not None and speech.source == "notification")

    def _on_speech(self, event: ev.Event) -> None:
        changed = event.payload
        assert isinstance(changed, ev.SpeechChanged)
        if changed.status == "asked" and changed.source in ("notification", "reply"):
            self._is_last_asked = changed.source == "notification"

    def _on_words(self, event: ev.Event) -> None:
        said = event.payload
        if isinstance(said, ev.TextSent) or (
            isinstance(said, ev.TranscriptDelta) and said.side == "user" and said.text.strip()
        ):
            self._is_last_asked = False
