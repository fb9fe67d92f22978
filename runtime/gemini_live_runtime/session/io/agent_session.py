"""Give agents and programs their session: who speaks, and who speaks next.

A facade: it holds nothing of its own, and every question goes to the session.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from gemini_live_runtime.errors import AgentError

if TYPE_CHECKING:
    from gemini_live_runtime.session.definition.plan import SessionPlan
    from gemini_live_runtime.session.io.handle import LiveHandle
    from gemini_live_runtime.session.orchestrator import Orchestrator
    from gemini_live_runtime.state.store import State


class AgentSession:
    """Session of agents that hand a conversation over to each other.

    Use it on the session's event loop.
    """

    def __init__(self, handle: LiveHandle, orchestrator: Orchestrator) -> None:
        self.handle = handle
        """Everything else that a program can do with the session."""
        self._orchestrator = orchestrator

    @property
    def userdata(self) -> State:
        """State of the session, which all agents share."""
        return self.handle.state

    @property
    def current_agent(self) -> Any:
        """Agent that speaks: an `Agent`, or the plan of one that `Live` has built."""
        plan: SessionPlan = self._orchestrator.agent.plan
        return plan.definition.owner or plan

    def update_agent(self, agent: Any, *, chat: Literal["keep", "fresh"] = "keep") -> asyncio.Future[None]:
        """Hand over to `agent` as soon as the model has finished speaking.

        Returns a future of that, which need not be awaited. State is kept; with `chat="fresh"` the new agent's model is
        not told what was said before. Raises `AgentError` for what is no agent, and for the one that speaks already.
        """
        if chat not in ("keep", "fresh"):
            raise AgentError(f"chat cannot be {chat!r:.60}", remedy='Use "keep" or "fresh"', field="chat", value=chat)
        return self._orchestrator.handoff.request(agent, by="program", reason="update_agent", chat=chat)
