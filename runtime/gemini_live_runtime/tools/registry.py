"""Keep the tools of a session by name, and describe them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from gemini_live_runtime.choices import as_member
from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import record
from gemini_live_runtime.text import clip
from gemini_live_runtime.tools.background import ToolExecutionMode
from gemini_live_runtime.tools.consent import ConsentPolicy
from gemini_live_runtime.tools.declaration import Tool, tool
from gemini_live_runtime.tools.kinds import ToolKind

MAX_SUMMARY = 200
"""Characters of a tool's summary."""


@runtime_checkable
class ToolProvider(Protocol):
    """Source of tools that belong together.

    `Live.tools` takes one as it takes a tool; it is asked when a session is planned. `kind` is that of its tools.
    """

    kind: ToolKind

    def tools(self) -> Iterable[Any]:
        """Return the tools: functions, or functions decorated with `@tool`."""
        ...


@record
class ToolDescriptor:
    """Tool of a session as a program sees it.

    `summary` is the first sentence of its description.
    """

    name: str
    summary: str
    kind: ToolKind
    mode: ToolExecutionMode
    consent: ConsentPolicy
    side_effects: bool


class HarnessToolRegistry(Mapping[str, Tool]):
    """Tools by name, in the order of their declaration; no two have the same one."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        """Raise `AgentError` when two tools have the same name."""
        self._tools: dict[str, Tool] = {}
        for declared in tools:
            earlier = self._tools.get(declared.name)
            if earlier is not None:
                raise AgentError(
                    f"Two tools are named {declared.name} ({earlier.defined_at} and {declared.defined_at})",
                    remedy="Give one another name",
                    field="tools",
                    value=declared.name,
                )
            self._tools[declared.name] = declared

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def route(self, name: str) -> ToolExecutionMode | None:
        """Return the way to answer calls of a tool, or None without the tool."""
        declared = self._tools.get(name)
        return None if declared is None else declared.mode

    def descriptors(self) -> tuple[ToolDescriptor, ...]:
        """Return what there is to know of each tool, in order."""
        return tuple(
            ToolDescriptor(
                name=one.name,
                summary=_first_sentence(one.description),
                kind=one.kind,
                mode=one.mode,
                consent=one.consent,
                side_effects=one.side_effects,
            )
            for one in self._tools.values()
        )


def provided(provider: ToolProvider) -> list[Tool]:
    """Return the tools of a provider, with its kind.

    Raises `AgentError` for a kind that is none, and for what is no tool.
    """
    kind = as_member(ToolKind, provider.kind)
    if not isinstance(kind, ToolKind):
        raise AgentError(
            f"{type(provider).__name__}.kind cannot be {provider.kind!r:.60}",
            remedy=f"Use one of {', '.join(f'ToolKind.{kind.name}' for kind in ToolKind)}",
            field="kind",
            value=str(provider.kind)[:60],
        )
    return [replace(one if isinstance(one, Tool) else tool(one), kind=kind) for one in provider.tools()]


def _first_sentence(text: str) -> str:
    line = " ".join(text.split())
    end = line.find(". ")
    return clip(line if end < 0 else line[: end + 1], MAX_SUMMARY)
