"""Detect soft turns: the user spoke and the model stays silent on purpose.

The state has to advance all the same: extraction, phases and patterns count such an exchange as a turn.
"""

from __future__ import annotations

from gemini_live_runtime.errors import AgentError

SOFT_TURN_TIMEOUT_S = 2.0
"""Default seconds of the model's silence after which a soft turn is due."""


class SoftTurnDetector:
    """Detector that is due once for each end of the user's voice without an answer.

    The answer has to begin within `timeout_s` seconds (above 0, else `AgentError`). `now` is in seconds of one clock.
    `deadline` returns the time until the next check, so that one timer can drive it.
    """

    __slots__ = ("_ended_at", "timeout_s")

    def __init__(self, timeout_s: float = SOFT_TURN_TIMEOUT_S) -> None:
        if not 0 < timeout_s < float("inf"):
            raise AgentError(
                f"A soft turn's timeout cannot be {timeout_s} seconds",
                remedy="Use a number above 0",
                field="timeout_s",
                value=timeout_s,
            )
        self.timeout_s = timeout_s
        self._ended_at: float | None = None

    def voice_started(self) -> None:
        """Stop waiting: the user speaks again, and the next end starts a new wait."""
        self._ended_at = None

    def voice_ended(self, now: float) -> None:
        """Start to wait for an answer from `now`."""
        self._ended_at = now

    def model_responded(self) -> None:
        """Stop waiting: the model speaks, writes or calls a tool."""
        self._ended_at = None

    def reset(self) -> None:
        """Stop waiting: the connection ended or a turn has completed."""
        self._ended_at = None

    def due(self, now: float) -> bool:
        """Return True when a soft turn is due at `now`, once for each end of voice."""
        deadline = self.deadline(now)
        if deadline is None or deadline > 0:
            return False
        self._ended_at = None
        return True

    def deadline(self, now: float) -> float | None:
        """Return the seconds until a soft turn is due (0: now), or None without a wait."""
        if self._ended_at is None:
            return None
        return max(0.0, self._ended_at + self.timeout_s - now)
