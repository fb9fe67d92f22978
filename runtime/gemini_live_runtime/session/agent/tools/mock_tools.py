"""Let functions of a test stand in for the tools of an agent."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import record
from gemini_live_runtime.session.definition.known_agents import plan_of

if TYPE_CHECKING:
    from gemini_live_runtime.session.definition.plan import SessionPlan


@record
class _Mocks:
    """Functions that stand in for tools of one agent, or of all of a class."""

    target: Any
    functions: Mapping[str, Callable[..., Any]]

    def is_for(self, plan: SessionPlan) -> bool:
        if isinstance(self.target, type):
            return isinstance(plan.definition.owner, self.target)
        return bool(plan.name == self.target)


_active: list[_Mocks] = []


@contextmanager
def mock_tools(agent: Any, mocks: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """Call `mocks` in place of an agent's tools of these names, during a `with` block.

    `agent` is an agent, or a class: then of all its agents. A function gets those of the tool's arguments that it
    names, after they were checked as always; it may be async and may raise. Raises `AgentError` for a tool that the
    agent does not have, and for what is no function.
    """
    for name, function in mocks.items():
        if not callable(function):
            raise AgentError(
                f"{name} cannot be mocked by {function!r:.60}",
                remedy="Give a function",
                field=name,
                value=type(function).__name__,
            )
    if isinstance(agent, type):
        target: Any = agent
    else:
        plan = plan_of(agent)
        target = plan.name
        for name in mocks:
            known = [tool.name for tool in plan.declared]
            if name not in known:
                raise AgentError(
                    f"Agent {plan.name} has no tool {name}",
                    remedy=f"Mock one of {', '.join(known)}" if known else "Give the agent tools",
                    field="mocks",
                    value=name,
                )
    mine = _Mocks(target, dict(mocks))
    _active.append(mine)
    try:
        yield
    finally:
        _active[:] = [item for item in _active if item is not mine]


def stand_in(plan: SessionPlan, name: str) -> Callable[..., Any] | None:
    """Return the function that stands in for a tool of an agent, or None."""
    for item in reversed(_active):
        if name in item.functions and item.is_for(plan):
            return _taking_what_it_names(item.functions[name])
    return None


def _taking_what_it_names(function: Callable[..., Any]) -> Callable[..., Any]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return function
    if any(item.kind is item.VAR_KEYWORD for item in parameters):
        return function
    names = {item.name for item in parameters}

    def call(**arguments: Any) -> Any:
        return function(**{name: value for name, value in arguments.items() if name in names})

    return call
