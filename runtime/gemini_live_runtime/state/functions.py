"""Name the functions that authors give, and check that they can be called."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
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


def check_takes(owner: str, function: Callable[..., Any], arguments: str) -> None:
    """Raise `AgentError` unless a call with `arguments` is possible.

    They are words, such as `(state)`. A callable without a readable signature passes.
    """
    try:
        takes = signature(function)
    except (TypeError, ValueError):
        return
    try:
        takes.bind(*arguments.split(","))
    except TypeError:
        raise AgentError(
            f"{owner}: {function_name(function)}{takes} cannot be called with {arguments}",
            remedy=f"Let it take {arguments}",
            field="function",
            value=function,
        ) from None


def check_action(owner: str, then: Any, arguments: str) -> None:
    """Raise `AgentError` unless `then` takes nothing, `(state)` or `arguments`.

    `arguments` is for example `(state, change)`. A callable without a readable signature passes.
    """
    if not callable(then):
        raise AgentError(
            f"{owner} has no action: {then!r} is not a function",
            remedy=f"Give a plain or async function taking (), (state) or {arguments}",
            field="then",
            value=then,
        )
    try:
        parameters = signature(then).parameters.values()
    except (TypeError, ValueError):
        return
    required = [p for p in parameters if p.default is p.empty]
    positional = sum(p.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD) for p in required)
    if positional > 2 or any(p.kind is Parameter.KEYWORD_ONLY for p in required):
        raise AgentError(
            f"{owner}: {function_name(then)}{signature(then)} requires more arguments than it gets",
            remedy=f"Let it take (), (state) or {arguments}",
            field="then",
            value=then,
        )
