"""Name the options of turns that a program can change in a running session."""

from __future__ import annotations

from collections.abc import Mapping
from types import EllipsisType
from typing import Literal, TypedDict

from gemini_live_runtime.choices import nearest
from gemini_live_runtime.errors import AgentError


class TurnChanges(TypedDict, total=False):
    """Options of turns, by name; what is left out stays."""

    turn_detection: Literal["auto", "server", "client", "manual"] | None
    min_endpointing_delay: float | None
    max_endpointing_delay: float | None
    user_away_timeout: float | EllipsisType | None
    min_interruption_duration: float | EllipsisType | None
    min_interruption_words: int | EllipsisType
    false_interruption_timeout: float | EllipsisType | None
    max_tool_steps: int | EllipsisType | None
    max_unrecoverable_errors: int | EllipsisType | None
    allow_interruptions: bool | EllipsisType
    min_consecutive_speech_delay: float | EllipsisType


TURNS = ("turn_detection", "min_endpointing_delay", "max_endpointing_delay")
"""Options that say who finds the user's turns; None leaves them. The others are rules."""


def check_turn_changes(options: Mapping[str, object]) -> None:
    """Raise `AgentError` for an option that there is not."""
    known = tuple(TurnChanges.__annotations__)
    for name in options:
        if name not in known:
            meant = nearest(name, known)
            remedy = f"Did you mean {meant}?" if meant else f"Use {', '.join(known[:-1])} or {known[-1]}"
            raise AgentError(f"There is no option {name:.60}", remedy=remedy, field=name[:60], value=options[name])
