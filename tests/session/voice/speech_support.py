"""Read speeches of a talk in tests."""

from __future__ import annotations

from tests.session.talking import Talk

from gemini_live_runtime import AgentSession
from gemini_live_runtime import events as ev


def session_of(t: Talk) -> AgentSession:
    """Return the session of a talk."""
    return t.stage.session.agent_session


def told(t: Talk, speech: str) -> list[str]:
    """Return the statuses of a speech, in order."""
    return [event.status for event in t.all(ev.SpeechChanged) if event.id == speech]
