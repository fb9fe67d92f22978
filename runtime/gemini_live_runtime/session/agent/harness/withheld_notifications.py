"""Withhold what a session's own model has queued until the user is back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.session.agent.harness.silence import is_of_user

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext


class Withheld:
    """Ids of notifications that wait until the user was away and is back."""

    def __init__(self, agent: AgentContext, on_free: Callable[[], None]) -> None:
        """`on_free` is called when what was withheld may be announced."""
        self._agent = agent
        self._on_free = on_free
        self._ids: set[str] = set()
        self._is_user_gone = False

    def __contains__(self, notification_id: str) -> bool:
        return notification_id in self._ids

    def add(self, notification_id: str) -> None:
        """Withhold a notification."""
        self._ids.add(notification_id)

    def subscribe(self) -> None:
        """Follow the session's events."""
        subscribe = self._agent.bus.subscribe
        subscribe(self._on_presence, ev.UserStateChanged, ev.SessionState)
        subscribe(self._on_words, ev.TranscriptDelta, ev.TextSent)

    def _on_presence(self, event: ev.Event) -> None:
        changed = event.payload
        if isinstance(changed, ev.SessionState):
            self._is_user_gone = self._is_user_gone or changed.word == "dormant"
        elif isinstance(changed, ev.UserStateChanged) and changed.new == "away":
            self._is_user_gone = True
        else:
            self._on_back()

    def _on_words(self, event: ev.Event) -> None:
        if is_of_user(event.payload):
            self._on_back()

    def _on_back(self) -> None:
        if self._is_user_gone:
            self._is_user_gone = False
            if self._ids:
                self._ids.clear()
                self._on_free()
