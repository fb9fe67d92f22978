"""Turns: their numbers, whether one is open, and how long the answer took."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gemini_live_runtime.events import TurnCompleted, TurnStarted

OpenedBy = Literal["voice", "typed", "model"]
Outcome = Literal["complete", "interrupted", "empty"]


@dataclass(slots=True)
class TurnLedger:
    """At most one turn is open. Times are clock seconds."""

    number: int = 0
    is_open: bool = False
    opened_by: OpenedBy = "voice"
    has_content: bool = False
    """The model has said or played something in the open turn."""
    input_ended_at: float | None = None
    """When the user's last input ended, until an answer to it is heard."""
    latency_ms: float | None = None

    def open(self, by: OpenedBy) -> TurnStarted:
        """Begin the next turn."""
        self.number += 1
        self.is_open, self.has_content, self.latency_ms, self.opened_by = True, False, None, by
        return TurnStarted(by=by)

    def close(self, outcome: Outcome, reason: str = "") -> TurnCompleted | None:
        """End the open turn; None when none is open."""
        if not self.is_open:
            return None
        self.is_open = False
        return TurnCompleted(outcome=outcome, latency_ms=self.latency_ms, reason=reason)

    def cut_short(self) -> Outcome:
        """The outcome of a turn that ends before the server says so."""
        return "interrupted" if self.has_content else "empty"

    def heard(self, turn: int, now: float) -> None:
        """The first sample of an answer in `turn` was played."""
        if self.input_ended_at is not None and turn == self.number:
            self.latency_ms = round((now - self.input_ended_at) * 1000, 1)
            self.input_ended_at = None
