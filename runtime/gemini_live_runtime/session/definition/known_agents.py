"""Find the agents that a conversation may be handed over to."""

from __future__ import annotations

from collections import deque
from typing import Any

from gemini_live_runtime.author_code import USER_ERRORS, error_text
from gemini_live_runtime.errors import AgentError, GeminiLiveError
from gemini_live_runtime.session.definition.plan import SessionPlan
from gemini_live_runtime.tools.results import is_agent

MAX_KNOWN = 100
"""Agents of one conversation that are looked for."""


def known_agents(first: SessionPlan) -> dict[str, SessionPlan]:
    """Return the plans of an agent and of those it may hand over to, by name.

    Others hand over in their turn. Those that cannot be used are left out, and those beyond `MAX_KNOWN`: functions may
    make agents without end.
    """
    found = {first.name: first}
    open_plans = deque((first,))
    while open_plans:
        for target in open_plans.popleft().definition.hands_over_to:
            if len(found) >= MAX_KNOWN:
                return found
            try:
                plan = plan_of(target)
            except GeminiLiveError:
                continue
            if plan.name not in found:
                found[plan.name] = plan
                open_plans.append(plan)
    return found


def plan_of(target: Any) -> SessionPlan:
    """Return the plan of an agent, however it was defined.

    Raises `AgentError` for an agent that cannot be used, and for what is none.
    """
    if callable(target) and not is_agent(target):
        try:
            target = target()
        except GeminiLiveError:
            raise
        except USER_ERRORS as error:
            raise AgentError(
                f"The function that makes the agent failed: {error_text(error)}", remedy="Mend it", field="agent"
            ) from error
    if isinstance(target, SessionPlan):
        return target
    if not is_agent(target):
        raise AgentError(
            f"{target!r:.60} is no agent",
            remedy="Give an Agent or a Live.builder(...)",
            field="agent",
            value=type(target).__name__,
        )
    plan = target.plan()
    assert isinstance(plan, SessionPlan)
    return plan
