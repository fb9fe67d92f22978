"""Tools: functions a model may call, declared from their own signatures."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints, overload

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from gemini_live_runtime.errors import AgentError

Scheduling = Literal["INTERRUPT", "WHEN_IDLE", "SILENT"]

DEFAULT_TIMEOUT_S = 30.0
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_ARGUMENT_LINE = re.compile(r"^\s*(\w+)(?:\s*\([^)]*\))?\s*:\s+(.+)$")


class ToolContext:
    """What a tool may do besides returning: a parameter of this type is passed in and left out of the schema."""

    __slots__ = ("_notify", "call_id")

    def __init__(self, call_id: str, notify: Callable[[str], None]) -> None:
        self.call_id = call_id
        self._notify = notify

    def notify(self, text: str) -> None:
        """Tell the operator something, in one sentence; may be called after the tool has returned."""
        self._notify(text)


class BadArguments(ValueError):  # noqa: N818 - reads as what it is
    """The model's arguments do not fit the declaration; the text is for the model."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A declared tool.

    `parameters` is the JSON Schema of its arguments. `blocking` tools hold the model's turn until they answer;
    others answer with `scheduling`. `timeout_s` bounds one call.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    function: Callable[..., Any]
    arguments: type[BaseModel]
    context_parameter: str = ""
    blocking: bool = True
    scheduling: Scheduling | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S

    def bind(self, args: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """Keyword arguments for `function`; raises `BadArguments` naming every field that does not fit."""
        try:
            model = self.arguments.model_validate(args)
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(str(part) for part in fault['loc']) or 'arguments'}: {fault['msg']}"
                for fault in error.errors(include_url=False, include_input=False)[:5]
            )
            raise BadArguments(f"Bad arguments for {self.name}: {faults}") from None
        bound = {name: getattr(model, name) for name in type(model).model_fields}
        if self.context_parameter:
            bound[self.context_parameter] = context
        return bound


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str = "",
    description: str = "",
    blocking: bool = True,
    scheduling: Scheduling | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> Callable[[Callable[..., Any]], Tool]: ...
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    blocking: bool = True,
    scheduling: Scheduling | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Declare a plain or async function as a tool.

    The schema comes from its annotations, the descriptions from its docstring (the first paragraph, and an `Args:`
    section). Raises `AgentError` naming the function when it cannot be declared.
    """

    def declare(target: Callable[..., Any]) -> Tool:
        return _declare(target, name, description, blocking, scheduling, timeout_s)

    return declare if function is None else declare(function)


def _declare(
    function: Callable[..., Any],
    name: str,
    description: str,
    blocking: bool,
    scheduling: Scheduling | None,
    timeout_s: float,
) -> Tool:
    name = name or function.__name__
    if not _NAME.fullmatch(name):
        raise AgentError(
            f"Tool name {name[:60]!r} is not usable", remedy="Use letters, digits, _ . : -, not starting with a digit"
        )
    if scheduling is not None and blocking:
        raise AgentError(f"Tool {name}: scheduling needs blocking=False", field="scheduling", value=scheduling)
    if timeout_s <= 0:
        raise AgentError(f"Tool {name}: timeout_s must be above 0, not {timeout_s}", field="timeout_s", value=timeout_s)
    summary, documented = _docstring(function)
    try:
        hints = get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        raise AgentError(f"Tool {name}: its annotations cannot be read: {error}", field="annotations") from None
    fields: dict[str, Any] = {}
    context_parameter = ""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise AgentError(
                f"Tool {name}: parameter {parameter} cannot be declared", remedy="Use plain named parameters"
            )
        annotation = hints.get(parameter.name, str)
        if annotation is ToolContext:
            context_parameter = parameter.name
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (annotation, Field(default, description=documented.get(parameter.name)))
    try:
        arguments = create_model(f"{name}_arguments", __config__=ConfigDict(extra="ignore"), **fields)
        schema = arguments.model_json_schema()
    except Exception as error:
        raise AgentError(f"Tool {name}: no schema can be made of its parameters: {error}", field="parameters") from None
    return Tool(
        name=name,
        description=description or summary,
        parameters=_plain(schema),
        function=function,
        arguments=arguments,
        context_parameter=context_parameter,
        blocking=blocking,
        scheduling=scheduling,
        timeout_s=timeout_s,
    )


def _plain(schema: Any) -> Any:
    """The schema without pydantic's titles, which only cost tokens."""
    if isinstance(schema, dict):
        return {
            key: {name: _plain(item) for name, item in value.items()}
            if key in ("properties", "$defs")
            else _plain(value)
            for key, value in schema.items()
            if key != "title"
        }
    return [_plain(item) for item in schema] if isinstance(schema, list) else schema


def _docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """The first paragraph, and the entries of the `Args:` section (Google style)."""
    text = inspect.getdoc(function) or ""
    summary = " ".join(text.split("\n\n", 1)[0].split())
    documented: dict[str, str] = {}
    in_args = False
    for line in text.splitlines():
        if line.strip().lower() in ("args:", "arguments:", "parameters:"):
            in_args = True
        elif in_args and line and not line.startswith((" ", "\t")):
            in_args = False
        elif in_args and (match := _ARGUMENT_LINE.match(line)):
            documented[match.group(1)] = match.group(2).strip()
    return summary, documented
