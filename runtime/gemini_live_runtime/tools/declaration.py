"""Tools: functions a model may call, declared from their own signatures or with a schema."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, overload

from gemini_live_runtime.errors import AgentError, caller_place
from gemini_live_runtime.tools.background import STANDARD, ResultFormatter, Scheduling, ToolExecutionMode
from gemini_live_runtime.tools.context import ToolContext
from gemini_live_runtime.tools.parameters import BadArguments, Parameters, docstring, of_function, of_schema

__all__ = ["BadArguments", "Scheduling", "Tool", "ToolContext", "tool"]

DEFAULT_TIMEOUT_S = 30.0
BACKGROUND_TIMEOUT_S = 600.0
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A declared tool: make one with `@tool` or `Tool.from_schema`.

    `mode` says how its calls are answered; `timeout_s` (seconds, above 0) bounds one call.
    """

    name: str
    description: str
    function: Callable[..., Any]
    takes: Parameters = field(repr=False)
    mode: ToolExecutionMode = STANDARD
    timeout_s: float = DEFAULT_TIMEOUT_S
    defined_at: str = field(default_factory=caller_place, compare=False, repr=False)
    """Where it was declared, as `file.py:12`."""

    @classmethod
    def from_schema(
        cls,
        name: str,
        description: str,
        parameters: Mapping[str, Any],
        function: Callable[..., Any],
        *,
        blocking: bool | None = None,
        background: bool = False,
        scheduling: Scheduling | None = None,
        formatter: ResultFormatter | None = None,
        timeout_s: float | None = None,
    ) -> Tool:
        """A tool with an explicit JSON schema; `function` takes the arguments as one dict. Options as for `tool`.

        Arguments are checked for required properties, types, choices and bounds. A further parameter annotated
        `ToolContext` or `State` is passed in.
        """
        mode = _mode(name, blocking, background, scheduling, formatter)
        return _tool(name, description, function, lambda: of_schema(function, name, parameters), mode, timeout_s)

    @property
    def parameters(self) -> dict[str, Any]:
        """The JSON schema of the arguments, as a Live session takes it."""
        return self.takes.schema

    @property
    def blocking(self) -> bool:
        """Whether the model waits for the answer."""
        return self.mode.blocking

    @property
    def scheduling(self) -> Scheduling | None:
        """How the answer is scheduled; None when the model waits for it."""
        return self.mode.scheduling

    @property
    def wants_state(self) -> bool:
        """Whether the function has a parameter of type `State`."""
        return "state" in self.takes.injected.values()

    def with_mode(self, mode: ToolExecutionMode) -> Tool:
        """This tool answered in another way; a default timeout follows."""
        default = self.timeout_s == _default_timeout(self.mode)
        return replace(self, mode=mode, timeout_s=_default_timeout(mode) if default else self.timeout_s)

    def bind(self, args: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        """Keyword arguments for `function`; raises `BadArguments` naming every field that does not fit."""
        return self.takes.bind(self.name, args, context)


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    blocking: bool | None = None,
    background: bool = False,
    scheduling: Scheduling | None = None,
    formatter: ResultFormatter | None = None,
    timeout_s: float | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    blocking: bool | None = None,
    background: bool = False,
    scheduling: Scheduling | None = None,
    formatter: ResultFormatter | None = None,
    timeout_s: float | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Declare a plain or async function as a tool.

    The schema comes from its annotations, the descriptions from its docstring (the first paragraph, and an `Args:`
    section). Parameters annotated `ToolContext` or `State` are passed in and not in the schema.

    The model waits for the answer, unless `blocking=False` (it goes on talking and gets the answer when the call
    ends) or `background=True` (it is told at once that the call is running, and of the result with `scheduling`,
    "WHEN_IDLE" unless given, in the words of `formatter`). `timeout_s` is 30, or 600 in the background.

    Raises `AgentError` naming the function, and the parameter where there is one, when it cannot be declared.
    """

    def declare(target: Callable[..., Any]) -> Tool:
        if not callable(target):
            raise AgentError(f"{target!r:.80} is not a function", field="function", value=target)
        called = name or getattr(target, "__name__", "")
        if inspect.isgeneratorfunction(target) or inspect.isasyncgenfunction(target):
            raise AgentError(f"Tool {called} is a generator", remedy="Return the result", field="function")
        summary, documented = docstring(target)
        mode = _mode(called, blocking, background, scheduling, formatter)
        takes = lambda: of_function(target, called, documented)  # noqa: E731
        return _tool(called, description or summary, target, takes, mode, timeout_s)

    return declare if function is None else declare(function)


def _tool(
    name: str,
    description: str,
    function: Callable[..., Any],
    takes: Callable[[], Parameters],
    mode: ToolExecutionMode,
    timeout_s: float | None,
) -> Tool:
    if not _NAME.fullmatch(name):
        raise AgentError(
            f"Tool name {name[:60]!r} is not usable",
            remedy="Use letters, digits, _ . : -, not starting with a digit",
            field="name",
            value=name,
        )
    if timeout_s is not None and not 0 < timeout_s < float("inf"):
        raise AgentError(f"Tool {name}: timeout_s must be above 0, not {timeout_s}", field="timeout_s", value=timeout_s)
    return Tool(
        name=name,
        description=description,
        function=function,
        takes=takes(),
        mode=mode,
        timeout_s=_default_timeout(mode) if timeout_s is None else float(timeout_s),
    )


def _mode(
    name: str,
    blocking: bool | None,
    background: bool,
    scheduling: Scheduling | None,
    formatter: ResultFormatter | None,
) -> ToolExecutionMode:
    if background and blocking:
        raise AgentError(f"Tool {name}: a background tool cannot be blocking", field="blocking", value=blocking)
    if formatter is not None and not background:
        raise AgentError(f"Tool {name}: formatter needs background=True", field="formatter", value=formatter)
    if scheduling is not None and not background and blocking in (None, True):
        raise AgentError(
            f"Tool {name}: scheduling needs blocking=False or background=True", field="scheduling", value=scheduling
        )
    try:
        if background:
            return ToolExecutionMode.background(formatter, scheduling or "WHEN_IDLE")
        return ToolExecutionMode.standard((scheduling or "WHEN_IDLE") if blocking is False else None)
    except AgentError as error:
        message = f"Tool {name}: {error.message}"
        raise AgentError(message, remedy=error.remedy, field=error.field, value=error.value) from None


def _default_timeout(mode: ToolExecutionMode) -> float:
    return BACKGROUND_TIMEOUT_S if mode.is_background else DEFAULT_TIMEOUT_S
