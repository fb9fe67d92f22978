"""Warn of parts of an agent that may not do what their author wants."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import Any

from gemini_live_runtime.session.definition.callbacks import CALLBACKS
from gemini_live_runtime.session.definition.definition import Definition
from gemini_live_runtime.state.functions import parameters_of, unknown_parameters
from gemini_live_runtime.tools.declaration import Tool


def tool_warnings(declared: Tool) -> Iterator[str]:
    """Yield a sentence for each thing that a tool does not tell the model."""
    place = place_of(declared.function) or declared.name
    if not declared.description:
        yield f"{place}: the tool {declared.name} has no docstring, so the model cannot know when to call it."
    if declared.signature.dict_parameter:
        return  # its types are those of an explicit schema
    try:
        parameters = signature(declared.function).parameters
    except (TypeError, ValueError):
        return
    for name, parameter in parameters.items():
        if name in declared.parameters.get("properties", ()) and parameter.annotation is parameter.empty:
            yield f"{place}: {name} of the tool {declared.name} has no annotation, so the model sends it as a text."


def unchecked_calls(definition: Definition) -> Iterator[str]:
    """Yield a sentence for each action whose parameters Python does not know.

    Functions that decide are refused then, as they are made.
    """
    for place, owner, function, arguments in _actions(definition):
        if callable(function) and parameters_of(function) is None:
            problem, remedy = unknown_parameters(function, arguments)
            yield f"{place}: {owner}: {problem}. {remedy}."


def _actions(definition: Definition) -> Iterator[tuple[str, str, Any, str]]:
    """Yield place, owner, function and arguments of everything that acts."""
    for watcher in definition.watchers:
        yield watcher.defined_at, f"the watcher {watcher.name}", watcher.then, "(state, change)"
    for pattern in definition.patterns:
        yield pattern.defined_at, f"the pattern {pattern.name}", pattern.then, "(state, firing)"
    for name, spec in CALLBACKS.items():
        for listener in definition.callbacks.of(name):
            yield listener.defined_at, name, listener.function, f"({', '.join(spec.arguments)})"
    for phase in definition.phases:
        yield phase.defined_at, f"on_enter of {phase.name}", phase.on_enter, "(state)"
        yield phase.defined_at, f"on_exit of {phase.name}", phase.on_exit, "(state)"
        yield phase.defined_at, f"on_enter_context of {phase.name}", phase.on_enter_context, "(state, window)"
        for preparation in phase.preparations:
            yield preparation.defined_at, f"the preparation {preparation.name}", preparation.run, "(state)"
    for name in ("on_enter", "on_exit"):
        yield definition.built_at, name, getattr(definition, name), "(session)"
    yield definition.built_at, "on_user_turn_completed", definition.on_user_turn_completed, "(turn, session)"


def place_of(function: Any) -> str:
    """Return file and line of a function, "" where it has none."""
    code = getattr(function, "__code__", None)
    if code is None:
        return ""
    file = code.co_filename.replace("\\", "/").rsplit("/", 1)[-1]
    return f"{file}:{code.co_firstlineno}"
