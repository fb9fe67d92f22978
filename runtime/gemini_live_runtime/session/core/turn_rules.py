"""Hold the rules of turns that a session keeps, as data."""

from __future__ import annotations

from gemini_live_runtime.records import record

USER_AWAY_TIMEOUT_S = 15.0
"""Seconds of silence on both sides after which the user counts as away."""


@record
class TurnRules:
    """Rules of turns. Times are in seconds; None turns a rule off."""

    user_away_timeout_s: float | None = USER_AWAY_TIMEOUT_S
