"""Hand over to the agent that a tool returned, or tell why it cannot take over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.redactor import redactor

if TYPE_CHECKING:
    from collections.abc import Callable

    from gemini_live_runtime.session.agent.handover.handoff import HandoffRunner
    from gemini_live_runtime.tools.dispatch import Outcome


class ReturnedAgents:
    """Agents that the tools of one session return as their results."""

    def __init__(self, handoff: HandoffRunner, emit: Callable[[ev.Payload], None]) -> None:
        self._handoff = handoff
        self._emit = emit

    def check(self, outcome: Outcome) -> Outcome:
        """Return the outcome, as an error when its agent cannot take over.

        So the model does not announce it.
        """
        try:
            self._handoff.check(outcome.agent, reason=outcome.name)
        except AgentError as error:
            text = self._tell_refused(error)
            return replace(outcome, status="error", result={"error": text}, cause=text, agent=None)
        return outcome

    def hand_over(self, outcome: Outcome) -> None:
        """Ask for the hand-off to the outcome's agent."""
        try:
            self._handoff.request(outcome.agent, by="tool", reason=outcome.name)
        except AgentError as error:
            self._tell_refused(error)

    def _tell_refused(self, error: AgentError) -> str:
        text = redactor.text(error.message)
        self._emit(ev.Notice(level="warning", code="handoff", text=text, remedy=error.remedy))
        return text
