"""Read a tool function's signature, and bind the model's arguments to it.

Parameters annotated `ToolContext` or `State` are injected: the model does not see them. Annotations may be strings with
names that only type checkers import, or names local to the function that declares the tool, so they are evaluated with
the names of every enclosing scope that is still running.
"""

from __future__ import annotations

import functools
import inspect
import re
import sys
import types
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from gemini_live_runtime.errors import AgentError
from gemini_live_runtime.records import record
from gemini_live_runtime.state.store import State
from gemini_live_runtime.tools.argument import REQUIRED, Argument
from gemini_live_runtime.tools.arguments import Arguments
from gemini_live_runtime.tools.context import ToolContext
from gemini_live_runtime.tools.schema import check_arguments, to_live_schema

Injected = Literal["context", "state"]

_ARGUMENT_LINE = re.compile(r"^(\s*)(\w+)(?:\s*\([^)]*\))?\s*:\s+(.+)$")

_SECTION = re.compile(
    r"(?:Args|Arguments|Parameters|Keyword Args|Returns?|Yields?|Raises|Attributes|Examples?|Notes?|Warnings?):\s*$"
    r"|:(?:param|type|returns?|rtype|raises)\b",
    re.IGNORECASE,
)
"""First line of a section, in the styles of Google and Sphinx."""
_INJECTED_NAME = re.compile(r"""['"]?(?:[\w.]+\.)?(State|ToolContext|RunContext)(?:\s*\|\s*None)?['"]?""")
_INJECTED_AS = {"state": "State", "context": "ToolContext", "ctx": "ToolContext"}
_MAX_FAULTS = 5


class BadArguments(ValueError):  # noqa: N818 - public under this name
    """Arguments that do not fit the declaration; the text is for the model."""


@record
class Parameters:
    """Parameters of a tool's function.

    `schema` is the JSON schema of the model's arguments, `injected` has the other parameters by name.
    """

    schema: dict[str, Any]
    injected: Mapping[str, Injected]
    arguments: Arguments | None = None
    """Reader of the arguments; None when `dict_parameter` takes them as one dict."""
    dict_parameter: str = ""
    """Name of the parameter that takes all arguments as one dict."""
    is_method: bool = False
    """True for a method as its class has it: its first parameter is the object."""

    def check(self, tool: str, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model's arguments as keyword arguments.

        Raises `BadArguments` naming the faulty fields.
        """
        if self.arguments is None:
            value, faults = check_arguments(self.schema, args)
            bound: dict[str, Any] = {self.dict_parameter: value}
        else:
            bound, faults = self.arguments.read(args)
        if faults:
            raise BadArguments(f"Bad arguments for {tool}: {'; '.join(faults[:_MAX_FAULTS])}")
        return bound

    def bind(self, tool: str, checked: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        """Return checked arguments with those that are not the model's."""
        bound = dict(checked)
        for name, kind in self.injected.items():
            bound[name] = context if kind == "context" else _state(tool, context)
        return bound


def from_function(function: Callable[..., Any], tool: str, documented: Mapping[str, str]) -> Parameters:
    """Return the parameters of a function whose annotations are the schema.

    `documented` has descriptions by parameter name. Raises `AgentError`.
    """
    injected: dict[str, Injected] = {}
    given: dict[str, Argument] = {}
    for parameter, annotation in _annotated_parameters(function, tool):
        kind = _injection(annotation)
        if kind is None:
            default = parameter.default
            if default is parameter.empty:
                # The Live subset has no null: the model leaves the argument out instead.
                default = None if _unwrap_optional(annotation)[1] else REQUIRED
            given[parameter.name] = Argument(annotation, default, documented.get(parameter.name, ""))
        else:
            injected[parameter.name] = kind
    arguments = Arguments(tool, given)
    return Parameters(to_live_schema(arguments.schema, tool), injected, arguments, is_method=_is_method(function))


def from_schema(function: Callable[..., Any], tool: str, schema: Mapping[str, Any]) -> Parameters:
    """Return the parameters of a function that takes all arguments as one dict.

    Raises `AgentError`.
    """
    injected: dict[str, Injected] = {}
    taking: list[str] = []
    for parameter, annotation in _annotated_parameters(function, tool):
        kind = _injection(annotation)
        if kind is not None:
            injected[parameter.name] = kind
        elif parameter.default is parameter.empty or not taking:
            taking.append(parameter.name)
    if len(taking) != 1:
        raise AgentError(
            f"Tool {tool}: a function with an explicit schema takes its arguments as one dict, not "
            f"{len(taking)} parameters",
            field="function",
        )
    return Parameters(to_live_schema(schema, tool), injected, dict_parameter=taking[0])


def parse_docstring(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return a docstring's first paragraph, and its `Args:` section (Google style).

    The paragraph ends at a section without a blank line before it, too, and is "" where the docstring begins with one.
    """
    text = inspect.getdoc(function) or ""
    first = takewhile(lambda line: line.strip() and not _SECTION.match(line), text.splitlines())
    summary = " ".join(" ".join(first).split())
    documented: dict[str, str] = {}
    name, depth = "", -1
    for line in text.splitlines():
        if line.strip().lower() in ("args:", "arguments:", "parameters:"):
            name, depth = "", 0
        elif depth < 0 or not line.strip():
            continue
        elif not line.startswith((" ", "\t")):
            depth = -1
        elif (match := _ARGUMENT_LINE.match(line)) and (depth == 0 or len(match.group(1)) <= depth):
            depth, name = len(match.group(1)), match.group(2)
            documented[name] = match.group(3).strip()
        elif name:
            documented[name] += f" {line.strip()}"
    return summary, documented


def _state(tool: str, context: ToolContext) -> State:
    if context.state is None:
        raise AgentError(f"Tool {tool} wants the session's State, and there is none", field="state")
    return context.state


# -- annotations -------------------------------------------------------------------------------------------------------


def _is_method(function: Callable[..., Any]) -> bool:
    """Return True for a function that takes its object, as its class is made."""
    if not inspect.isfunction(function) or next(iter(inspect.signature(function).parameters), "") != "self":
        return False
    holder, _, _ = function.__qualname__.rpartition(".")
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_locals.get("__qualname__") == holder and frame.f_globals is function.__globals__:
            return True
        frame = frame.f_back
    return False


def _annotated_parameters(function: Callable[..., Any], tool: str) -> list[tuple[inspect.Parameter, Any]]:
    """Return each parameter with its evaluated annotation; `str` without one.

    Raises `AgentError` for a parameter that cannot be declared.
    """
    try:
        parameters = list(_signature(function).parameters.values())
    except (TypeError, ValueError) as error:
        raise AgentError(f"Tool {tool}: its signature cannot be read: {error}", field="function") from None
    found = []
    for index, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise AgentError(
                f"Tool {tool}: parameter {parameter} cannot be declared",
                remedy="Use plain named parameters",
                field=parameter.name,
            )
        if parameter.annotation is not parameter.empty:
            found.append((parameter, _evaluate(parameter.annotation, function, tool, parameter.name)))
        elif index == 0 and parameter.name == "self" and _is_method(function):
            continue
        elif index == 0 and parameter.name in ("self", "cls"):
            raise AgentError(
                f"Tool {tool} is a method without its object",
                remedy=f"Declare the bound method: tool(thing.{tool})",
                field=parameter.name,
            )
        elif parameter.name in _INJECTED_AS:
            kind = _INJECTED_AS[parameter.name]
            raise AgentError(
                f"Tool {tool}: parameter {parameter.name} has no annotation, so the model would be asked for it",
                remedy=f"Write {parameter.name}: {kind} for the session's own, or {parameter.name}: str",
                field=parameter.name,
            )
        else:
            found.append((parameter, str))
    return found


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    if sys.version_info >= (3, 14):
        import annotationlib

        # The default format raises for names that only type checkers import.
        return inspect.signature(function, annotation_format=annotationlib.Format.FORWARDREF)
    return inspect.signature(function)


def _evaluate(raw: Any, function: Callable[..., Any], tool: str, parameter: str) -> Any:
    holder = _plain_function(function)

    def carrier() -> None: ...

    carrier.__annotations__ = {parameter: raw}
    try:
        local_names = _enclosing_names(holder) | _closure(holder)
        return get_type_hints(carrier, getattr(holder, "__globals__", {}), local_names, include_extras=True)[parameter]
    except Exception as error:
        failure = error  # `error` is unbound at the end of this block.
    # State and ToolContext are often imported for type checkers only: accept their spelling.
    spelled = _INJECTED_NAME.fullmatch(raw if isinstance(raw, str) else getattr(raw, "__forward_arg__", ""))
    if spelled is not None:
        return State if spelled.group(1) == "State" else ToolContext
    raise AgentError(
        f"Tool {tool}: the annotation of parameter {parameter} cannot be read: {failure}", field=parameter, value=raw
    )


def _plain_function(function: Any) -> Any:
    """Return the function with the annotations: inside partials, objects, methods."""
    while isinstance(function, functools.partial):
        function = function.func
    if not inspect.isroutine(function) and not isinstance(function, type):
        function = type(function).__call__
    function = inspect.unwrap(function)
    return getattr(function, "__func__", function)


def _closure(function: Any) -> dict[str, Any]:
    code, cells = getattr(function, "__code__", None), getattr(function, "__closure__", None)
    found = {}
    for name, cell in zip(code.co_freevars if code else (), cells or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            continue
    return found


def _enclosing_names(function: Any) -> dict[str, Any]:
    """Return the local names of the enclosing functions and classes on the stack."""
    qualified, module = getattr(function, "__qualname__", ""), getattr(function, "__globals__", None)
    found: dict[str, Any] = {}
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_globals is module and qualified.startswith(f"{frame.f_code.co_qualname}."):
            found = {**frame.f_locals, **found}
        frame = frame.f_back
    return found


def _unwrap_optional(annotation: Any) -> tuple[Any, bool]:
    """Return an annotation without `Annotated` and None, and True if it had None."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _unwrap_optional(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        rest = [item for item in get_args(annotation) if item is not types.NoneType]
        if len(rest) < len(get_args(annotation)):
            return (_unwrap_optional(rest[0])[0] if len(rest) == 1 else annotation), True
    return annotation, False


def _injection(annotation: Any) -> Injected | None:
    bare, _ = _unwrap_optional(annotation)
    if isinstance(bare, type) and issubclass(bare, ToolContext):
        return "context"
    return "state" if bare is State else None
