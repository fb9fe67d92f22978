"""Choose the harness tools of a model, by the agent and the profile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from gemini_live_runtime.errors import ConfigError
from gemini_live_runtime.harness.profile import ProfileTools
from gemini_live_runtime.paths import is_safe_name
from gemini_live_runtime.session.definition.definition import Definition
from gemini_live_runtime.session.definition.memory_tools import memory_tools
from gemini_live_runtime.session.definition.notification_tools import notify_tool, timer_tools
from gemini_live_runtime.session.definition.task_tools import task_tools
from gemini_live_runtime.tools.declaration import Tool
from gemini_live_runtime.tools.kinds import ToolKind

DEFAULT_SCOPE = "user"
"""Scope of the memory that a profile gives an agent without any."""


def harness_tools(definition: Definition) -> Iterator[Tool]:
    """Yield the tools that an agent asks for, besides its own."""
    return (replace(tool, kind=ToolKind.BUILT_IN) for tool in _asked_for(definition))


def _asked_for(definition: Definition) -> Iterator[Tool]:
    scopes = tuple(scope for scope in definition.memory_scopes if isinstance(scope, str) and is_safe_name(scope))
    if scopes:
        yield from memory_tools(scopes)
    if definition.task_tools:
        yield from task_tools()
    if definition.timer_tools:
        yield from timer_tools()
    if definition.notify_tool:
        yield notify_tool()
    if definition.workspace.folders:
        # Imported here, for few agents have a workspace.
        from gemini_live_runtime.session.definition.workspace_tools import workspace_tools

        yield from workspace_tools(definition.workspace.usable)


def with_profile(
    definition: Definition, own: Iterable[Tool], tools: ProfileTools
) -> tuple[Definition, tuple[Tool, ...], tuple[str, ...]]:
    """Return definition and tools with what a profile enables, and what is left out.

    `own` are the agent's tools without those of the harness. A set of tools is left out where the agent has one of its
    own by such a name. Raises `ConfigError` for programs and folders that cannot be used.
    """
    own = tuple(own)
    names = {tool.name for tool in own}
    left_out = []
    for enabled in tools.enabled:
        wanted = _ENABLE[enabled](definition, tools)
        clashes = sorted(names & {tool.name for tool in harness_tools(wanted)})
        if clashes:
            left_out.append(
                f"The profile's tools {enabled!r} are left out: the agent has its own {', '.join(clashes)}."
            )
        elif wanted is definition and enabled == "workspace":
            left_out.append("The profile's tools 'workspace' are left out: its table tools.folders is empty.")
        else:
            definition = wanted
    return definition, (*own, *harness_tools(definition)), tuple(left_out)


def _with_memory(definition: Definition, tools: ProfileTools) -> Definition:
    return definition if definition.memory_scopes else replace(definition, memory_scopes=(DEFAULT_SCOPE,))


def _with_workspace(definition: Definition, tools: ProfileTools) -> Definition:
    if not (tools.folders or (tools.programs and definition.workspace.folders)):
        return definition
    workspace = definition.workspace.with_more(tools.folders, tools.programs)
    for problem, remedy in workspace.problems():
        text = problem.replace(" of .workspace(...)", "")
        raise ConfigError(f"tools of the profile: {text}", remedy=remedy, field="tools")
    return replace(definition, workspace=workspace)


_ENABLE: dict[str, Callable[[Definition, ProfileTools], Definition]] = {
    "tasks": lambda definition, tools: replace(definition, task_tools=True),
    "memory": _with_memory,
    "timer": lambda definition, tools: replace(definition, timer_tools=True),
    "notify": lambda definition, tools: replace(definition, notify_tool=True),
    "workspace": _with_workspace,
}
