"""Number the turns of a conversation."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from gemini_live_runtime.events import TurnCompleted, TurnStarted
from gemini_live_runtime.records import mutable_record

OpenedBy = Literal["voice", "typed", "model"]
Outcome = Literal["complete", "interrupted", "empty"]


@mutable_record
class TurnLedger:
    """Ledger of turns, of which at most one is open. Times are clock seconds."""

    number: int = 0
    is_open: bool = False
    opened_by: OpenedBy = "voice"
    has_content: bool = False
    """True when the open turn has text or audio of the model."""
    calls: set[str] = field(default_factory=set)
    """Ids of the calls that the model made in the open turn."""
    call_cancelled: bool = False
    """True when the server cancelled one of `calls`."""

    @property
    def source(self) -> Literal["user", "model"]:
        """Side that began the turn."""
        return "model" if self.opened_by == "model" else "user"

    def open(self, by: OpenedBy) -> TurnStarted:
        """Begin the next turn and return its event."""
        self.number += 1
        self.is_open, self.has_content, self.opened_by = True, False, by
        self.calls, self.call_cancelled = set(), False
        return TurnStarted(by=by)

    def close(
        self, outcome: Outcome, reason: str = "", *, broke_off: bool = False, unspoken: str = ""
    ) -> TurnCompleted | None:
        """End the open turn and return its event, or None when no turn is open.

        The event has no latency yet.
        """
        if not self.is_open:
            return None
        self.is_open = False
        return TurnCompleted(outcome=outcome, reason=reason, broke_off=broke_off, unspoken=unspoken)

    def cut_short(self) -> Outcome:
        """Return the outcome of a turn that ends without the server's `turnComplete`."""
        return "interrupted" if self.has_content else "empty"
