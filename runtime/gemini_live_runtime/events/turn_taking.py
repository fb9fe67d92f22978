"""Events of turn taking: who finds the user's turns."""

from __future__ import annotations

from typing import ClassVar, Literal

from gemini_live_runtime.events.base import Payload
from gemini_live_runtime.records import keyword_record

ClearedBy = Literal["operator", "agent"]
TurnDetector = Literal["server", "client", "manual"]


@keyword_record
class TurnsChanged(Payload):
    """Turn detection in force, at the start and after a change.

    `next` is the detection that holds from the next connection on, "" for no change. `reason` says how it was chosen.
    `min_delay_s` of silence end a turn that our own detector (`client`) found, `max_delay_s` where the end-of-turn
    model expects more. `asked`: true for a change during the session.
    """

    type: ClassVar[str] = "turns.changed"
    detection: TurnDetector
    next: Literal["", "server", "client", "manual"] = ""
    reason: str = ""
    min_delay_s: float = 0.0
    max_delay_s: float = 0.0
    asked: bool = False


@keyword_record
class TurnCleared(Payload):
    """The user's turn was dropped, by a command or by the agent.

    `text` is what had been understood of it, `reason` the agent's.
    """

    type: ClassVar[str] = "turn.cleared"
    by: ClearedBy
    text: str = ""
    reason: str = ""


@keyword_record
class EndOfTurnPredicted(Payload):
    """The end-of-turn model has answered about a silence in the user's turn.

    `decision`: the turn ends after the shorter delay (`ended`), or the longer one (`continues`). `late` came when it
    was decided already. After `failed` and `late` the plain rule decides.
    """

    type: ClassVar[str] = "turn.predicted"
    decision: Literal["ended", "continues", "late", "failed"]
    probability: float = 0.0
    ms: float = 0.0
    error: str = ""
