"""Repair a conversation whose phase does not get what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemini_live_runtime import events as ev
from gemini_live_runtime.conversation.needs import NO_REPAIR, RepairAction
from gemini_live_runtime.state.mutations import Origin, writing_as

if TYPE_CHECKING:
    from gemini_live_runtime.session.agent.context import AgentContext

ESCALATION = "session:repair:escalation"
UNFULFILLED = "session:repair:unfulfilled"


class NeedsRepair:
    """Repair of one session's agent."""

    def __init__(self, agent: AgentContext) -> None:
        self._agent = agent

    def on_entered(self, phase: str) -> None:
        """Count the needs of a phase anew."""
        needs = self._agent.needs
        if needs is not None:
            needs.reset(phase)
            # UNFULFILLED stays: the phase that takes over may want to know what was given up.
            self._remove(ESCALATION)

    def act(self) -> RepairAction:
        """Return what is to be done about needs that stay unfulfilled, and publish it."""
        agent, phases = self._agent, self._agent.phases
        if agent.needs is None or phases is None:
            return NO_REPAIR
        phase = phases.machine.current_phase
        action = agent.needs.evaluate(phase.name, phase.needs, agent.state)
        if action.kind == "none":
            if not agent.needs.escalated:
                self._remove(ESCALATION, UNFULFILLED)
            return NO_REPAIR
        agent.emit(
            ev.RepairActed(phase=phase.name, action=action.kind, unfulfilled=tuple(action.keys), attempt=action.attempt)
        )
        if action.kind == "escalate":
            with writing_as(Origin("phase", phase.name, "its needs stay unfulfilled")):
                agent.state.set(ESCALATION, True)
                agent.state.set(UNFULFILLED, action.keys)
        return action

    def _remove(self, *keys: str) -> None:
        with writing_as(Origin("phase", "", "progress")):
            for key in keys:
                self._agent.state.remove(key)
