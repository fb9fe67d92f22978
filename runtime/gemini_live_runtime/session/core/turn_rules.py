"""Hold the rules of turns that a session keeps, as data."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime.records import record

USER_AWAY_TIMEOUT_S = 15.0
"""Seconds of silence on both sides after which the user counts as away."""


FALSE_INTERRUPTION_TIMEOUT_S = 2.0
"""Seconds after the user's voice in which words may still come."""

MAX_TOOL_STEPS = 3
"""Rounds of calls in an answer to the user, or to a prompt."""

InterruptionsBy = Literal["server", "client"]


@record
class TurnRules:
    """Rules of turns. Times are in seconds; None turns a rule off."""

    user_away_timeout_s: float | None = USER_AWAY_TIMEOUT_S
    interruptions_by: InterruptionsBy = "server"
    """Side that decides whether a voice that our detector passes on interrupts the model."""
    min_interruption_s: float | None = None
    """Least voice over the model that our detector passes on; None is that of its preset."""
    min_interruption_words: int = 0
    """Least words that interrupt the model."""
    false_interruption_timeout_s: float | None = FALSE_INTERRUPTION_TIMEOUT_S
    """Time after the user's voice without words after which paused speech goes on; None pauses nothing."""

    max_tool_steps: int | None = MAX_TOOL_STEPS
    """Rounds of calls after which the model has to answer without tools; None is any number."""

    @property
    def are_ours(self) -> bool:
        """True when our rules decide what interrupts the model, and its server never does."""
        return self.interruptions_by == "client"
