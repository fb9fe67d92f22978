"""Name the functions that authors give, and check that they can be called."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, Signature, iscoroutinefunction, signature
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

from gemini_live_runtime.errors import AgentError


def function_name(function: Callable[..., Any]) -> str:
    """Return a function's name, or `lambda (file.py:12)` for one without."""
    name = getattr(function, "__name__", type(function).__name__)
    if name != "<lambda>":
        return str(name)
    code = getattr(function, "__code__", None)
    if code is None:
        return "lambda"
    file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"lambda ({file}:{code.co_firstlineno})"


def check_name(what: str, name: object, *, field: str = "name") -> None:
    """Raise `AgentError` unless `name` is a text that is not empty."""
    if not isinstance(name, str) or not name:
        raise AgentError(f"{what} cannot be named {name!r:.60}", remedy="Give a text", field=field, value=name)


def check_words(what: str, text: object, *, field: str) -> None:
    """Raise `AgentError` unless `text` is a text, which may be empty."""
    if not isinstance(text, str):
        raise AgentError(f"{what} cannot be {text!r:.60}", remedy="Give a text", field=field, value=text)


def check_flag(what: str, flag: object, *, field: str) -> None:
    """Raise `AgentError` unless `flag` is True or False."""
    if not isinstance(flag, bool):
        raise AgentError(f"{what} cannot be {flag!r:.60}", remedy="Use True or False", field=field, value=flag)


_ONE_ARGUMENT = Signature([Parameter("value", Parameter.POSITIONAL_ONLY)])
_TYPES = (bool, bytes, dict, frozenset, int, list, set, str, tuple)


def parameters_of(function: Callable[..., Any]) -> Signature | None:
    """Return how a function is called, or None where Python does not know it."""
    if isinstance(function, attrgetter | itemgetter | methodcaller) or any(function is kind for kind in _TYPES):
        return _ONE_ARGUMENT
    try:
        return signature(function)
    except (TypeError, ValueError):
        return None


def unknown_parameters(function: Callable[..., Any], arguments: str) -> tuple[str, str]:
    """Return problem and remedy of a function whose parameters Python does not know."""
    name, names = function_name(function), arguments.strip("()")
    return (
        f"Python does not know the parameters of {name}, which is called with {arguments}",
        f"Wrap it in a function of your own, such as lambda {names}: {name}({names})",
    )


def is_async(function: Callable[..., Any]) -> bool:
    """Return True for an async function, and for an object that is called like one."""
    return iscoroutinefunction(function) or iscoroutinefunction(type(function).__call__)


def check_decides(owner: str, function: Callable[..., Any], arguments: str) -> None:
    """Raise `AgentError` unless a plain call with `arguments` is known to be possible.

    They are words, such as `(state)`.
    """
    if is_async(function):
        raise AgentError(
            f"{owner}: {function_name(function)} is an async function, but has to decide at once",
            remedy=f"Give a plain function of {arguments}; put what takes time in on_enter or a preparation",
            field="function",
            value=function,
        )
    check_takes(owner, function, arguments)


def check_takes(owner: str, function: Callable[..., Any], arguments: str) -> None:
    """Raise `AgentError` unless a call with `arguments` is known to be possible.

    They are words, such as `(state)`.
    """
    takes = parameters_of(function)
    if takes is None:
        problem, remedy = unknown_parameters(function, arguments)
        raise AgentError(f"{owner}: {problem}", remedy=remedy, field="function", value=function)
    try:
        takes.bind(*arguments.split(","))
    except TypeError:
        raise AgentError(
            f"{owner}: {function_name(function)}{takes} cannot be called with {arguments}",
            remedy=f"Let it take {arguments}",
            field="function",
            value=function,
        ) from None


def check_action(owner: str, then: Any, arguments: str, field: str = "then") -> None:
    """Raise `AgentError` unless `then` takes the first of `arguments`, or none.

    `arguments` is for example `(state, change)`. Of a callable whose parameters Python does not know the plan warns.
    """
    names = arguments.strip("()").split(", ")
    choices = " or ".join(f"({', '.join(names[:count])})" for count in range(len(names) + 1))
    if not callable(then):
        raise AgentError(
            f"{owner} has no action: {then!r:.60} is not a function",
            remedy=f"Give a plain or async function taking {choices}",
            field=field,
            value=then,
        )
    takes = parameters_of(then)
    if takes is None:
        return
    required = [p for p in takes.parameters.values() if p.default is p.empty]
    positional = sum(p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) for p in required)
    if positional > len(names) or any(p.kind is Parameter.KEYWORD_ONLY for p in required):
        raise AgentError(
            f"{owner}: {function_name(then)}{takes} requires more arguments than it gets",
            remedy=f"Let it take {choices}",
            field=field,
            value=then,
        )
