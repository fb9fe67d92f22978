"""Moves between phases that somebody asks for, and why there are none."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.session.agent.why import why_blocked

if TYPE_CHECKING:
    from gemini_live_runtime.session.orchestrator import Orchestrator


class PhaseNavigator:
    """Where the conversation of one session may be taken."""

    def __init__(self, mind: Orchestrator) -> None:
        self._mind = mind
        self._loop = asyncio.get_running_loop()

    def to(self, name: str, *, source: str, reason: str = "", by_operator: bool = False) -> asyncio.Future[None]:
        """Take the conversation to a phase, as soon as what is being decided is done; done when it is there.

        Raises `AgentError` at once when there is no such phase; what cannot be then becomes an event.
        """
        mind = self._mind
        if mind.director is None:
            raise AgentError(f"Agent {mind.plan.name} has no phases", field="phase", value=name)
        if name not in mind.director.machine.phases:
            known = ", ".join(mind.director.machine.phases)
            raise AgentError(f"There is no phase {name}", remedy=f"Use one of {known}", field="phase", value=name)
        moved: asyncio.Future[None] = self._loop.create_future()

        async def move() -> None:
            try:
                await mind.pipeline.move(name, source, reason, by_operator)
            finally:
                if not moved.done():
                    moved.set_result(None)

        if not mind.lane.put("transition", move):
            moved.cancel()
        return moved

    def explain(self) -> dict[str, Any]:
        """Where the conversation stands and why it goes no further, as JSON; empty for an agent without phases."""
        mind = self._mind
        return {} if mind.director is None else mind.director.machine.explain(mind.state, mind.clock.now())

    def why_blocked(self, phase: str) -> list[str]:
        """What keeps the conversation from going to `phase`, a sentence each; none when nothing does."""
        mind = self._mind
        if mind.director is None:
            return [f"Agent {mind.plan.name} has no phases"]
        return why_blocked(mind.director.machine, mind.state, phase, mind.clock.now())
