"""Derive the user's state: speaking, listening, or away."""

from __future__ import annotations

from gemini_live_runtime.events import UserState, UserStateChanged
from gemini_live_runtime.records import mutable_record


@mutable_record
class UserPresence:
    """State of the user. Times are clock seconds.

    The time until the user is away runs only while the model listens through an open microphone and the user is silent:
    not during its speech, a tool, an answer that is owed, or without a connection.
    """

    state: UserState = "listening"
    _told: UserState = "listening"
    _silent_since: float | None = None

    def on_sign(self, now: float) -> None:
        """Note words of the user, spoken or typed."""
        if self._silent_since is not None:
            self._silent_since = now
        if self.state == "away":
            self.state = "listening"

    def update(
        self, now: float, *, has_voice: bool, is_awaited: bool, away_after_s: float | None
    ) -> UserStateChanged | None:
        """Return the change of state that follows at `now`, or None.

        `is_awaited`: the model listens, and nothing is going on. `away_after_s` None is never.
        """
        if has_voice:
            self.state = "speaking"
        elif self.state == "speaking":
            self.state = "listening"
        if self.state != "listening" or not is_awaited:
            self._silent_since = None
        elif self._silent_since is None:
            self._silent_since = now
        elif away_after_s is not None and now - self._silent_since >= away_after_s:
            self.state, self._silent_since = "away", None
        if self.state == self._told:
            return None
        before, self._told = self._told, self.state
        return UserStateChanged(old=before, new=self.state)

    def next_check(self, now: float, away_after_s: float | None) -> float | None:
        """Return the seconds until time alone makes the user away, or None."""
        if self._silent_since is None or away_after_s is None:
            return None
        return max(0.0, self._silent_since + away_after_s - now)
