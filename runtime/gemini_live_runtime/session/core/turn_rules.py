"""Hold the rules of turns that a session keeps, as data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_finite
from gemini_live_runtime.records import record

USER_AWAY_TIMEOUT_S = 15.0
"""Seconds of silence on both sides after which the user counts as away."""


FALSE_INTERRUPTION_TIMEOUT_S = 2.0
"""Seconds after the user's voice in which words may still come."""

MAX_TOOL_STEPS = 3
"""Rounds of calls in an answer to the user, or to a prompt."""

MAX_COUNT = 1_000_000
"""Highest count in a rule."""

MAX_UNRECOVERABLE_ERRORS = 3
"""Failures of the server in a row that are made good by another connection."""

OPTIONS = {
    "user_away_timeout": "user_away_timeout_s",
    "min_interruption_duration": "min_interruption_s",
    "min_interruption_words": "min_interruption_words",
    "false_interruption_timeout": "false_interruption_timeout_s",
    "max_tool_steps": "max_tool_steps",
    "max_unrecoverable_errors": "max_unrecoverable_errors",
    "allow_interruptions": "allow_interruptions",
    "min_consecutive_speech_delay": "min_speech_gap_s",
}
"""Rules that may change in a session, by the names of its options."""

OF_OUR_DETECTOR = ("min_interruption_duration", "min_interruption_words", "false_interruption_timeout")
"""Options that have no effect where another detector decides."""

OF_AN_AGENT = ("allow_interruptions", "min_speech_gap_s")
"""Rules that are the present agent's; the others are the session's."""

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

    max_unrecoverable_errors: int | None = MAX_UNRECOVERABLE_ERRORS
    """Failures of the server in a row, without a word of the model, after which it is asked no more; None is any."""

    allow_interruptions: bool = True
    """False when the answers of the model may not be interrupted, unless one is asked for otherwise."""

    min_speech_gap_s: float = 0.0
    """Least time between two speeches that are asked for."""

    @property
    def are_ours(self) -> bool:
        """True when our rules decide what interrupts the model, and its server never does."""
        return self.interruptions_by == "client"

    def problems(self) -> Iterator[tuple[str, str, str]]:
        """Yield the field, a sentence and a remedy for each value that cannot be."""
        for name, value, least in (
            ("user_away_timeout", self.user_away_timeout_s, "above 0"),
            ("false_interruption_timeout", self.false_interruption_timeout_s, "above 0"),
            ("min_interruption_duration", self.min_interruption_s, "of at least 0"),
        ):
            if value is not None and not (is_finite(value) and (value > 0 or (value == 0 and least != "above 0"))):
                yield name, f"{name} cannot be {value!r:.60}", f"Use a number of seconds {least}, or None"
        for name, count in (
            ("max_tool_steps", self.max_tool_steps),
            ("max_unrecoverable_errors", self.max_unrecoverable_errors),
        ):
            if count is not None and not (type(count) is int and 1 <= count <= MAX_COUNT):
                yield name, f"{name} cannot be {count!r:.60}", f"Use 1 to {MAX_COUNT:,}, or None for any number"
        gap_s: Any = self.min_speech_gap_s
        allowed: Any = self.allow_interruptions
        if not (is_finite(gap_s) and gap_s >= 0):
            name = "min_consecutive_speech_delay"
            yield name, f"{name} cannot be {gap_s!r:.60}", "Use a number of seconds of at least 0"
        if type(allowed) is not bool:
            yield "allow_interruptions", f"allow_interruptions cannot be {allowed!r:.60}", "Use True or False"
        words: Any = self.min_interruption_words
        if type(words) is not int or not 0 <= words <= MAX_COUNT:
            yield (
                "min_interruption_words",
                f"min_interruption_words cannot be {words!r:.60}",
                f"Use a whole number up to {MAX_COUNT:,}, 0 for any",
            )

    def changed(self, changes: Mapping[str, Any], *, client: bool) -> TurnRules:
        """Return the rules with other values, by their names in `OPTIONS`.

        `client`: our own detector finds the turns. Raises `AgentError` for what cannot be.
        """
        if not changes:
            raise AgentError("No option was given", remedy=f"Give one of {', '.join(OPTIONS)}", field="options")
        for name, value in changes.items():
            if name not in OPTIONS:
                raise AgentError(
                    f"There is no option {name!r:.60}",
                    remedy=f"Use one of {', '.join(OPTIONS)}",
                    field="options",
                    value=name,
                )
            if name in OF_OUR_DETECTOR and not client:
                raise AgentError(
                    f"{name} has no effect: our detector does not decide",
                    remedy="Set turn_detection to client",
                    field=name,
                    value=value,
                )
        rules = replace(self, **{OPTIONS[name]: value for name, value in changes.items()})
        for field, text, remedy in rules.problems():
            raise AgentError(text, remedy=remedy, field=field, value=changes.get(field))
        if rules.min_interruption_words and not rules.are_ours:
            raise AgentError(
                f"min_interruption_words cannot be {rules.min_interruption_words}: the server stops the model before",
                remedy='Give the agent .interruptions("client")',
                field="min_interruption_words",
                value=rules.min_interruption_words,
            )
        return rules

    def with_own(self, agents: TurnRules) -> TurnRules:
        """Return the rules with those of another agent that are its own."""
        return replace(self, **{name: getattr(agents, name) for name in OF_AN_AGENT})

    def options(self) -> dict[str, Any]:
        """Return the values by their names in `OPTIONS`."""
        return {name: getattr(self, field) for name, field in OPTIONS.items()}
