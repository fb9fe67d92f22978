"""Soft turns: the user spoke, the model stays silent on purpose, and the state must still move on."""

from __future__ import annotations

from gemini_live_runtime.errors import AgentError

SOFT_TURN_TIMEOUT_S = 2.0


class SoftTurnDetector:
    """Due once for each end of the user's voice that the model did not respond to for `timeout_s` seconds (above 0).

    `now` is in seconds of one clock. `deadline` says when to ask again, so one timer can drive it.
    """

    __slots__ = ("_ended_at", "timeout_s")

    def __init__(self, timeout_s: float = SOFT_TURN_TIMEOUT_S) -> None:
        if not 0 < timeout_s < float("inf"):
            raise AgentError(
                f"A soft turn cannot be due after {timeout_s} seconds",
                remedy="Use a number above 0",
                field="timeout_s",
                value=timeout_s,
            )
        self.timeout_s = timeout_s
        self._ended_at: float | None = None

    def voice_started(self) -> None:
        """The user goes on speaking: the wait begins anew at the next end."""
        self._ended_at = None

    def voice_ended(self, now: float) -> None:
        """The user's voice ended."""
        self._ended_at = now

    def model_responded(self) -> None:
        """The model speaks, writes or calls a tool: the turn is an ordinary one."""
        self._ended_at = None

    def reset(self) -> None:
        """Forget the last end: the connection is gone or a turn has completed."""
        self._ended_at = None

    def due(self, now: float) -> bool:
        """Whether a soft turn is to run now; True once for each end of voice."""
        deadline = self.deadline(now)
        if deadline is None or deadline > 0:
            return False
        self._ended_at = None
        return True

    def deadline(self, now: float) -> float | None:
        """Seconds until one is due, 0 when it is; None when none will be."""
        if self._ended_at is None:
            return None
        return max(0.0, self._ended_at + self.timeout_s - now)
