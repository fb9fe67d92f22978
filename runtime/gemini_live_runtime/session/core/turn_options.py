"""Name who finds the user's turns, and how long a silence ends one."""

from __future__ import annotations

from typing import Literal

from gemini_live_runtime.records import keyword_record

TurnDetection = Literal["server", "client", "manual"]
"""Detector of the user's turns in force: the server, our own, or the microphone switch with its commands."""


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
