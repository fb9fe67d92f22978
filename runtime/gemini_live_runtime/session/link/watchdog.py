"""Decide when a server's silence is a fault.

Pure: the session's core knows whether an answer is owed, and asks what is due.
"""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime.session.link.policy import LinkPolicy

Due = Literal["late", "stalled"]


class AnswerWatchdog:
    """Watchdog of an answer that the server owes. Times are clock seconds."""

    def __init__(self, policy: LinkPolicy) -> None:
        self._policy = policy
        self._sign_at = 0.0
        self._told_of: float | None = None

    def on_sign(self, now: float) -> None:
        """Note a sign that the wait was no silence until now.

        The model thinks, or the user spoke, or the answer before was still being played.
        """
        self._sign_at = now

    def next_check(self, asked_at: float, now: float) -> float:
        """Return the seconds until `check` may have something due; 0 when it has."""
        since = max(asked_at, self._sign_at)
        wait_s = self._policy.no_answer_s if self._told_of == since else self._policy.late_answer_s
        return max(0.0, since + wait_s - now)

    def check(self, asked_at: float, now: float) -> Due | None:
        """Return what is due for a question of `asked_at`: "late" once, then "stalled"."""
        since = max(asked_at, self._sign_at)
        if now - since >= self._policy.no_answer_s:
            return "stalled"
        if now - since >= self._policy.late_answer_s and self._told_of != since:
            self._told_of = since
            return "late"
        return None
