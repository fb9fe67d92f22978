"""Bound the answers that an agent's code asks for without a word of the user.

A listener that asks for the next answer at the end of each, or phases that lead to each other and prompt the model each
time, would go on for ever, and each answer costs.
"""

from __future__ import annotations

from collections.abc import Callable

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.ports.event_bus import EventBus
from gemini_live_runtime.state.mutations import current_writer

MAX_IN_A_ROW = 50
"""Answers that an agent's code and its phases may ask for in a row."""

PAUSE_S = 60.0
"""Seconds without a request that end a row."""


class AnswersInARow:
    """Count of the answers that were asked for since the user's last words.

    Words of the user, a command of the operator, a request of the program outside of the agent's code, and a pause of
    `PAUSE_S` end a row.
    """

    def __init__(self, now: Callable[[], float], bus: EventBus) -> None:
        self._now = now
        self._count = 0
        self._asked_at = float("-inf")
        bus.subscribe(self._on_turn, ev.TurnStarted)

    def _on_turn(self, event: ev.Event) -> None:
        # A typed turn may be of the code that is counted.
        if isinstance(event.payload, ev.TurnStarted) and event.payload.by == "voice":
            self.end()

    def end(self) -> None:
        """End the row, at a request from outside of the agent's code."""
        self._count = 0

    def check(self) -> None:
        """Count an answer, or end the row outside of the agent's code.

        Raises `AgentError` for one too many.
        """
        if current_writer.get().kind == "program":
            self.end()
        elif not self.take():
            raise AgentError(
                f"The agent's code asked for {MAX_IN_A_ROW} answers in a row without a word of the user: no further "
                "one is asked for",
                remedy="Let a listener ask for one only when the user has said something",
                field="speeches",
                value=MAX_IN_A_ROW,
            )

    def take(self) -> bool:
        """Count an answer; return False for one too many."""
        now = self._now()
        if now - self._asked_at > PAUSE_S:
            self._count = 0
        self._asked_at = now
        if self._count >= MAX_IN_A_ROW:
            return False
        self._count += 1
        return True
