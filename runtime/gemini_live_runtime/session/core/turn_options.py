"""Name who finds the user's turns, and how long a silence ends one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.json_values import is_number
from gemini_live_runtime.records import keyword_record

if TYPE_CHECKING:
    from gemini_live_runtime.commands import SetOptions

TurnDetection = Literal["server", "client", "manual"]
"""Detector of the user's turns in force: the server, our own, or the microphone switch with its commands."""

MAX_DELAY_S = 60.0
"""Longest endpointing delay in seconds."""


@keyword_record
class TurnOptions:
    """Turn detection that is in force, and its delays.

    `min_delay_s` of silence end a turn that our detector found; `max_delay_s` do where the end-of-turn model expects
    more. `reason` says who has chosen.
    """

    detection: TurnDetection = "server"
    min_delay_s: float = 0.4
    max_delay_s: float = 3.0
    reason: str = ""
    auto: TurnDetection = "server"
    """Detection that "auto" stands for."""
    auto_reason: str = ""
    has_model: bool = False
    """True when the agent has an end-of-turn model."""
    fixed: str = ""
    """Reason why the setup cannot change in the session; "" when it can."""

    def changed(self, order: SetOptions) -> TurnOptions:
        """Return the options after an order; raise `AgentError` for one of no use."""
        if order.turn_detection is None and order.min_endpointing_delay is None and order.max_endpointing_delay is None:
            raise AgentError("No option was given", remedy="Give turn_detection or a delay", field="options")
        detection, reason = self._detection(order.turn_detection)
        shortest = _delay("min_endpointing_delay", order.min_endpointing_delay, self.min_delay_s)
        longest = _delay("max_endpointing_delay", order.max_endpointing_delay, self.max_delay_s)
        for name, value in (
            ("min_endpointing_delay", order.min_endpointing_delay),
            ("max_endpointing_delay", order.max_endpointing_delay),
        ):
            if value is not None and detection != "client":
                raise AgentError(
                    f"{name} has no effect: with {detection} our detector does not decide",
                    remedy="Set turn_detection to client",
                    field=name,
                    value=value,
                )
        if order.max_endpointing_delay is not None and not self.has_model:
            raise AgentError(
                "max_endpointing_delay has no effect: the agent has no end-of-turn model",
                remedy="Give it one, or set min_endpointing_delay",
                field="max_endpointing_delay",
                value=order.max_endpointing_delay,
            )
        if shortest > longest and order.max_endpointing_delay is not None:
            raise AgentError(
                f"min_endpointing_delay {shortest:g} is above max_endpointing_delay {longest:g}",
                remedy="Make it the shorter one",
                field="min_endpointing_delay",
                value=shortest,
            )
        return replace(
            self, detection=detection, reason=reason, min_delay_s=shortest, max_delay_s=max(shortest, longest)
        )

    def _detection(self, asked: Any) -> tuple[TurnDetection, str]:
        if asked is None:
            return self.detection, self.reason
        if asked not in ("auto", *get_args(TurnDetection)):
            raise AgentError(
                f"turn_detection cannot be {asked!r:.60}",
                remedy="Use one of auto, server, client, manual",
                field="turn_detection",
                value=asked,
            )
        detection, reason = (self.auto, self.auto_reason) if asked == "auto" else (asked, "it was asked for")
        if self.fixed and self.needs_setup(detection):
            raise AgentError(
                f"turn_detection cannot become {detection} in this session: {self.fixed}",
                remedy=f"Leave it at {self.detection}",
                field="turn_detection",
                value=asked,
            )
        return detection, reason

    def needs_setup(self, detection: TurnDetection) -> bool:
        """Return True when another detection needs another setup of the connection."""
        return (self.detection == "server") != (detection == "server")


def _delay(name: str, value: Any, now_s: float) -> float:
    if value is None:
        return now_s
    if not (is_number(value) and 0 <= value <= MAX_DELAY_S):
        raise AgentError(
            f"{name} cannot be {value!r:.60}",
            remedy=f"Use seconds from 0 to {MAX_DELAY_S:g}",
            field=name,
            value=value,
        )
    return float(value)
